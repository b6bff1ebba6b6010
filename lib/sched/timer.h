/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Timers of one carrier: a pairing heap on ticks (Fredman, Sedgewick, Sleator, Tarjan, "The pairing
 * heap: a new form of self-adjusting heap", Algorithmica 1, 1986). Intrusive: arming allocates
 * nothing. Owner only.
 */
#ifndef HAULI_SCHED_TIMER_H
#define HAULI_SCHED_TIMER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"

struct hauli_timer {
	uint64_t at; /* ticks; the heap's order */
	struct hauli_timer *child, *sibling;
	struct hauli_timer *prev; /* the elder sibling, or the parent of a first child */
};

struct hauli_timers {
	struct hauli_timer *first; /* the earliest, or NULL */
	uint64_t next_at; /* its time, or HAULI_NEVER */
};

static inline void hauli_timers_init(struct hauli_timers *ts)
{
	ts->first = NULL;
	ts->next_at = HAULI_NEVER;
}

/* Inserts t, whose time t->at is set. Timers of equal times expire in no particular order. */
void hauli_timer_arm(struct hauli_timers *ts, struct hauli_timer *t);

/* Removes an armed timer. */
void hauli_timer_disarm(struct hauli_timers *ts, struct hauli_timer *t);

/* Removes and returns the earliest timer if it is due at now; else NULL. */
static inline struct hauli_timer *hauli_timer_expire(struct hauli_timers *ts, uint64_t now)
{
	struct hauli_timer *t = ts->first;

	if (now < ts->next_at || !t)
		return NULL;
	hauli_timer_disarm(ts, t);
	return t;
}

#endif
