/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether it pays to spin before a sleep. To fall asleep and be woken takes some 10 us, most of it
 * in the kernel, and costs the waker a system call. A carrier that spins for up to twice that long
 * before it sleeps saves both if a message comes in time, and loses at most the same if not. After
 * n failures in a row the next 2^n sleeps begin at once, so a carrier whose messages are rare spins
 * for less than 20 ns a sleep in the end.
 */
#ifndef HAULI_SCHED_STATE_SPIN_H
#define HAULI_SCHED_STATE_SPIN_H

#include <stdbool.h>
#include <stdint.h>

#define HAULI_SPIN_FAILURES_MAX 10
#define HAULI_SPIN_NONE 16 /* ticks: less is no time to spin in */

struct hauli_spin {
	uint64_t ticks; /* how long to spin: haul_runtime_opts.spin_ns. Constant */
	uint16_t skip; /* so many sleeps begin at once */
	uint16_t failures; /* in a row, at most HAULI_SPIN_FAILURES_MAX */
};

/* Once before each sleep. */
static inline bool hauli_spin_may_pay(struct hauli_spin *s)
{
	if (s->skip == 0)
		return s->ticks > HAULI_SPIN_NONE;
	s->skip--;
	return false;
}

static inline void hauli_spin_learn(struct hauli_spin *s, bool has_paid)
{
	if (has_paid) {
		s->failures = 0;
		return;
	}
	if (s->failures < HAULI_SPIN_FAILURES_MAX)
		s->failures++;
	s->skip = (uint16_t)(1 << s->failures);
}

#endif
