/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Timers of one carrier: a wheel of levels of slots. Owner only.
 *
 * Arming and disarming take constant time, a call that expires timers a bounded time, and a timer
 * expires at its tick. Arming never fails: the memory of the wheel is reserved by init. timer.c
 * says how.
 */
#ifndef HAULI_SCHED_STATE_TIMER_H
#define HAULI_SCHED_STATE_TIMER_H

#include <stdint.h>

#include "base/clock.h"

struct hauli_timer_entry;

struct hauli_timer {
	uint64_t at; /* ticks; an armed timer may only become later */
	struct hauli_timer_entry *entry; /* its entry in the wheel, or NULL */
	uint32_t slot; /* the slot of the wheel with that entry */
	uint32_t since; /* its coroutine's: when its wait began (hauli_coro_waits()) */
};

#define HAULI_TIMERS_DUE 64 /* the most timers that one call expires */

struct hauli_wheel;

struct hauli_timers {
	/* ticks: no timer is due earlier, and the wheel needs no call before; HAULI_NEVER: empty.
	 * May be too early after a disarm: hauli_timers_next(). */
	uint64_t next_at;
	struct hauli_wheel *wheel;
};

/* For at most max timers at a time. 0 or -ENOMEM. */
int hauli_timers_init(struct hauli_timers *ts, uint32_t max);
void hauli_timers_fini(struct hauli_timers *ts);

/* Arms t, whose time t->at is set. Later, the owner may set t->at to a later time: t expires then.
 */
void hauli_timer_arm(struct hauli_timers *ts, struct hauli_timer *t);

/* Disarms an armed timer. */
void hauli_timer_disarm(struct hauli_timers *ts, struct hauli_timer *t);

/*
 * Disarms timers that are due at now and puts them into due; returns their number. While next_at is
 * not later than now, more may be due: call again, at once or after other work. The timers of one
 * call are in the order of their times. If more are due than one call expires, earlier ones may
 * come with a later call.
 */
unsigned hauli_timers_expire(
	struct hauli_timers *ts, uint64_t now, struct hauli_timer *due[HAULI_TIMERS_DUE]);

/* Sets next_at to the latest time that keeps its promise, and returns it. */
uint64_t hauli_timers_recompute(struct hauli_timers *ts);

/* The same, for a carrier that is about to sleep. */
static inline uint64_t hauli_timers_next(struct hauli_timers *ts)
{
	return ts->next_at == HAULI_NEVER ? HAULI_NEVER : hauli_timers_recompute(ts);
}

#endif
