/* SPDX-License-Identifier: BSD-3-Clause */
/* All counters of a program at one moment. */
#ifndef APP_SAMPLE_H
#define APP_SAMPLE_H

#include "engine.h"

struct app_carrier_sample {
	struct haul_io_stats io; /* all ports */
	struct haul_io_stats queues[APP_PORTS_MAX]; /* its queue of each */
	struct haul_carrier_stats sched;
	struct haul_io_wait_stats wait;
};

struct app_sample {
	uint64_t at; /* haul_now() */
	struct haul_io_stats ports[APP_PORTS_MAX];
	struct app_carrier_sample carriers[]; /* [plan->carriers] */
};

/* The caller frees it. */
struct app_sample *app_sample_take(const struct app_engine *e);

/* What came between base (NULL: the start) and now; in_flight is what it is now. The caller frees
 * it. */
struct app_sample *app_sample_since(
	const struct app_engine *e, const struct app_sample *now, const struct app_sample *base);

#endif
