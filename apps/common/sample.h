/* SPDX-License-Identifier: BSD-3-Clause */
/* Samples: all counters of a program, read at about the same time. */
#ifndef APP_SAMPLE_H
#define APP_SAMPLE_H

#include "engine.h"

struct app_carrier_sample {
	struct haul_io_stats io; /* sum over the ports */
	struct haul_io_stats queues[APP_PORTS_MAX]; /* by port */
	struct haul_carrier_stats sched;
	struct haul_io_wait_stats wait;
};

struct app_sample {
	uint64_t at; /* haul_now() */
	struct haul_io_stats ports[APP_PORTS_MAX];
	struct app_carrier_sample carriers[]; /* [plan->carriers] */
};

/* Takes a sample. The caller frees it. */
struct app_sample *app_sample_take(const struct app_engine *e);

/* The difference from base (NULL: the start) to now, except in_flight, which is that of now. The
 * caller frees it. */
struct app_sample *app_sample_since(
	const struct app_engine *e, const struct app_sample *now, const struct app_sample *base);

#endif
