/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Time without a CPU. On a busy machine a carrier may be ready to run for seconds before it gets a
 * CPU, so a stop does not count that time: a deadline that has passed is extended by the longest
 * time for which one of the carriers waited for a CPU meanwhile. What does not end although it
 * could run is found as soon as its carrier has run for the time that the deadline gave it.
 */
#ifndef HAULI_SCHED_STARVED_H
#define HAULI_SCHED_STARVED_H

#include "sched/carrier.h"

/* Called when a stop begins, by its thread: the times below count from now on. */
void hauli_starved_begin(struct haul_runtime *rt);

/* Any thread. The ns by which a deadline that has passed is extended; 0: by none, or the kernel
 * does not tell. *granted: the sum of its extensions so far, first 0. */
uint64_t hauli_starved_grant(const struct haul_runtime *rt, uint64_t *granted);

#endif
