/* SPDX-License-Identifier: BSD-3-Clause */
/* Samples: all counters of a program, read at about the same time. */
#ifndef HAULI_APP_REPORT_SAMPLE_H
#define HAULI_APP_REPORT_SAMPLE_H

#include "process/state.h"

struct hauli_app_carrier_sample {
	struct haul_io_stats io; /* sum over the ports */
	struct haul_io_stats queues[HAUL_APP_PORTS_MAX]; /* by port */
	struct haul_carrier_stats sched;
	struct haul_io_wait_stats wait;
	struct haul_io_share share;
	struct haul_io_waits waits; /* present values */
	uint64_t counters[HAUL_APP_COUNTERS_MAX]; /* of the program */
};

struct hauli_app_sample {
	uint64_t at; /* haul_now() */
	struct haul_io_stats ports[HAUL_APP_PORTS_MAX];
	struct hauli_app_carrier_sample carriers[]; /* [plan->carriers]; then histograms */
};

/* Takes a sample. The caller frees it. */
struct hauli_app_sample *hauli_app_sample_take(const struct hauli_app *a);
/* The same without `waits`: no carrier pauses for it. */
struct hauli_app_sample *hauli_app_sample_counters(const struct hauli_app *a);

/* The time of packets in a stage, of all carriers; NULL without --times. */
const struct haul_hist *hauli_app_sample_times(const struct hauli_app *a,
	const struct hauli_app_sample *s, unsigned port, enum haul_stage stage);

/* The program's own counter, of all carriers. */
uint64_t hauli_app_sample_counter(
	const struct hauli_app *a, const struct hauli_app_sample *s, unsigned counter);

/* The difference from base (NULL: the start) to now, except present values (in_flight, waits,
 * gauges), which are those of now. The caller frees it. */
struct hauli_app_sample *hauli_app_sample_since(const struct hauli_app *a,
	const struct hauli_app_sample *now, const struct hauli_app_sample *base);

#endif
