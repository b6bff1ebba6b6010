/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The run delay of a carrier: the time for which its thread was ready and no CPU ran it. Limits on
 * the time that handlers and coroutines get to end leave it out, so that a busy machine does not
 * make them look stuck.
 */
#ifndef HAULI_SCHED_DELAY_H
#define HAULI_SCHED_DELAY_H

#include <stdbool.h>
#include <stdint.h>

struct haul_carrier;

/* Any thread. The run delay of c since the call that set *seen, in ns; *seen is 0 before the first.
 * Always 0 where the kernel does not tell. The kernel counts a delay when it is over. */
uint64_t hauli_delay_since(const struct haul_carrier *c, uint64_t *seen);

/* A time limit for one or more carriers. */
struct hauli_limit {
	uint64_t left; /* ns; HAUL_FOREVER */
	uint64_t most; /* initial value of left */
};

static inline struct hauli_limit hauli_limit(uint64_t ns)
{
	return (struct hauli_limit){ns, ns};
}

/* The next part of the time to wait, in ns; 0: the time is over; HAUL_FOREVER: no limit. */
uint64_t hauli_limit_slice(const struct hauli_limit *l);

/* After a wait of slice ns, in which the carrier that was delayed most was so for `delay` ns. */
void hauli_limit_spend(struct hauli_limit *l, uint64_t slice, uint64_t delay);

#endif
