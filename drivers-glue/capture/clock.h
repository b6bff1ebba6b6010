/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Converts ticks to the time of day. The rate is measured again and again, so that stamps follow
 * the system's clock during a long capture, also where EAL and the kernel know the rate of ticks
 * only roughly. For the capture's thread.
 */
#ifndef HAULI_CAPTURE_CLOCK_H
#define HAULI_CAPTURE_CLOCK_H

#include <stdint.h>

/* A straight line: time of day, in ns since 1970, over ticks. */
struct hauli_capture_line {
	uint64_t ticks, ns; /* where it begins */
	double ns_per_tick;
};

struct hauli_capture_clock {
	struct hauli_capture_line now, before;
	uint64_t measured_ticks, measured_ns; /* the last time */
};

void hauli_capture_clock_init(struct hauli_capture_clock *clock);

/* Measures again if it is time to. */
void hauli_capture_clock_update(struct hauli_capture_clock *clock);

uint64_t hauli_capture_clock_ns(const struct hauli_capture_clock *clock, uint64_t ticks);

#endif
