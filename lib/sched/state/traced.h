/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the scheduler tells its carrier's timeline (haul/trace_file.h), a function for each event.
 * Each is one test while the timeline is off. Called on the carrier's thread.
 *
 * A coroutine that begins and ends on the stack of another one, without a wait, gets no event of
 * its own: the next HAUL_TRACE_RUN counts those that have ended. So a packet whose handler does not
 * wait costs nothing here.
 */
#ifndef HAULI_SCHED_STATE_TRACED_H
#define HAULI_SCHED_STATE_TRACED_H

#include "sched/state/carrier.h"
#include "trace/timeline.h"

void hauli_traced_run_slow(struct haul_carrier *c, enum haul_trace_how how, uint64_t more);
void hauli_traced_suspend_slow(struct haul_carrier *c, const struct haul_coro *me);
void hauli_traced_ready_slow(struct haul_carrier *c, const struct haul_coro *co);
void hauli_traced_request_slow(struct haul_carrier *c, const struct haul_coro *co, uint32_t bits);
void hauli_traced_spawn_slow(
	struct haul_carrier *c, const struct haul_coro *co, const struct haul_carrier *home);
void hauli_traced_steal_slow(
	struct haul_carrier *c, const struct haul_coro *co, const struct haul_carrier *victim);
void hauli_traced_mail_slow(struct haul_carrier *c);
void hauli_traced_timers_slow(struct haul_carrier *c, uint64_t n);
void hauli_traced_sleep_slow(struct haul_carrier *c, enum haul_trace_sleep how);
void hauli_traced_awake_slow(struct haul_carrier *c);
void hauli_traced_block_slow(struct haul_carrier *c, const char *what, const void *object);
void hauli_traced_poll_slow(struct haul_carrier *c, uint64_t began, uint64_t now, uint64_t packets);
void hauli_traced_call_slow(
	struct haul_carrier *c, enum haul_trace_call call, int fd, uint64_t began);

/* The carrier's thread begins. */
static inline void hauli_traced_thread(struct haul_carrier *c, uint32_t tid)
{
	if (!c->timeline)
		return;
	hauli_unseen_begin();
	hauli_u32_published_set(&c->timeline->tid, tid);
	hauli_unseen_end();
}

/* c->current runs from now on, after one that has ended or after the loop. */
static inline void hauli_traced_run(struct haul_carrier *c, enum haul_trace_how how)
{
	if (hauli_unlikely(c->timeline != NULL))
		hauli_traced_run_slow(c, how, 0);
}

/* The same, if `more` coroutines have ended that the carrier has not counted yet. */
static inline void hauli_traced_ran(struct haul_carrier *c, enum haul_trace_how how, uint64_t more)
{
	if (hauli_unlikely(c->timeline != NULL))
		hauli_traced_run_slow(c, how, more);
}

/* The loop runs again, after a coroutine that may have told so itself. */
static inline void hauli_traced_loop(struct haul_carrier *c)
{
	if (hauli_unlikely(c->timeline != NULL) && c->timeline->on)
		hauli_traced_run_slow(c, HAUL_TRACE_ENDED, 0);
}

/* me suspends, its state is set, and c->current runs from now on. */
static inline void hauli_traced_suspend(struct haul_carrier *c, const struct haul_coro *me)
{
	if (hauli_unlikely(c->timeline != NULL))
		hauli_traced_suspend_slow(c, me);
}

/* The wait of co, whose home is c, ends by what runs here. c has a timeline. */
void hauli_traced_end(struct haul_carrier *c, const struct haul_coro *co, enum haul_trace_end end);

/* co, whose home is c, was woken by what runs here. */
static inline void hauli_traced_ready(struct haul_carrier *c, const struct haul_coro *co)
{
	if (hauli_unlikely(c->timeline != NULL))
		hauli_traced_ready_slow(c, co);
}

/* co's home will do what bits say. c: of the caller, or hauli_nowhere. */
static inline void hauli_traced_request(
	struct haul_carrier *c, const struct haul_coro *co, uint32_t bits)
{
	if (hauli_unlikely(c->timeline != NULL))
		hauli_traced_request_slow(c, co, bits);
}

/* co was spawned, and its home is another carrier. c: as above. */
static inline void hauli_traced_spawn(
	struct haul_carrier *c, const struct haul_coro *co, const struct haul_carrier *home)
{
	if (hauli_unlikely(c->timeline != NULL))
		hauli_traced_spawn_slow(c, co, home);
}

static inline void hauli_traced_steal(
	struct haul_carrier *c, const struct haul_coro *co, const struct haul_carrier *victim)
{
	if (hauli_unlikely(c->timeline != NULL))
		hauli_traced_steal_slow(c, co, victim);
}

/* Handles messages, if `any`. */
static inline void hauli_traced_mail(struct haul_carrier *c, bool any)
{
	if (hauli_unlikely(c->timeline != NULL) && any)
		hauli_traced_mail_slow(c);
}

static inline void hauli_traced_timers(struct haul_carrier *c, uint64_t n)
{
	if (hauli_unlikely(c->timeline != NULL))
		hauli_traced_timers_slow(c, n);
}

static inline void hauli_traced_sleep(struct haul_carrier *c, enum haul_trace_sleep how)
{
	if (hauli_unlikely(c->timeline != NULL))
		hauli_traced_sleep_slow(c, how);
}

static inline void hauli_traced_awake(struct haul_carrier *c)
{
	if (hauli_unlikely(c->timeline != NULL))
		hauli_traced_awake_slow(c);
}

/* The next turn of a poller is the first one of another. */
static inline void hauli_traced_poller_ended(struct haul_carrier *c)
{
	if (hauli_unlikely(c->timeline != NULL))
		c->timeline->polled = 0;
}

/* The running coroutine is about to wait for an object, as hauli_block says. */
static inline void hauli_traced_block(struct haul_carrier *c, const char *what, const void *object)
{
	if (hauli_unlikely(c->timeline != NULL))
		hauli_traced_block_slow(c, what, object);
}

/* Before a system call, and behind it, on the same carrier: the time, or 0. */
static inline uint64_t hauli_traced_call_begins(const struct haul_carrier *c)
{
	return hauli_unlikely(c->timeline != NULL) ? hauli_timeline_now() : 0;
}
static inline void hauli_traced_call(
	struct haul_carrier *c, enum haul_trace_call call, int fd, uint64_t began)
{
	if (hauli_unlikely(began != 0))
		hauli_traced_call_slow(c, call, fd, began);
}

#endif
