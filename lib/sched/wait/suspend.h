/* SPDX-License-Identifier: BSD-3-Clause */
/* Suspending the running coroutine: the switch to the next one, and the way home of a stolen
 * one. */
#ifndef HAULI_SCHED_WAIT_SUSPEND_H
#define HAULI_SCHED_WAIT_SUSPEND_H

#include "sched/state/carrier.h"
#include "sched/state/exceptions.h"
#include "sched/state/group.h"
#include "sched/state/traced.h"
#include "sched/wait/record.h"

/* The operation with which a stolen coroutine ends its slice on a thief, for its home
 * (stolen.c). */
enum hauli_back {
	HAULI_BACK_YIELD,
	HAULI_BACK_SAME, /* the slice has not ended: it continues at home */
	HAULI_BACK_LATER, /* the same, behind those that are ready */
	HAULI_BACK_LONG, /* the same, as a long one (runq.h) */
	HAULI_BACK_OVER, /* as YIELD, as a long one */
	/* it continues at home, where it sends in order, with the rank of this slice */
	HAULI_BACK_SEND,
	HAULI_BACK_END,
	/* It waits until timer.at. Combined with the kind of wait, an enum hauli_coro_state. */
	HAULI_BACK_WAIT = 1 << 4,
};

/* On slow paths: ends the program with an error line if me may not suspend. call: the function that
 * me is in. */
void hauli_may_suspend(const struct haul_coro *me, const char *call);

/* Called on carrier c, where a stolen co has ended its slice and its context is saved. Sends co
 * home. */
void hauli_stolen_send_home(struct haul_carrier *c, struct haul_coro *co);

/* Owner. co has ended its slice. If it is ready, and a poller, stolen or kept: publishes it. Else
 * it has ended, is detached, and still has its stack: frees it. */
void hauli_coro_left_slow(struct haul_carrier *c, struct haul_coro *co);

/* Owner. The ring is full or shut: queues co, which yields, in the backlog. */
void hauli_coro_left_behind(struct haul_carrier *c, struct haul_coro *co);

/*
 * Switch, then publish: other threads may see a coroutine that yields or ends, and reuse its stack,
 * only after its context is saved. So the context that runs next publishes it. c->left becomes NULL
 * only after that, so that thieves always find it (steal.c).
 */
static inline void hauli_arrive(struct haul_carrier *c)
{
	struct haul_coro *left = hauli_ptr_published_get(&c->left);

	if (!left)
		return;
	if (hauli_unlikely(!hauli_coro_is_ready_and_queues(left)))
		hauli_coro_left_slow(c, left);
	else if (hauli_unlikely(!hauli_ring_push(&c->runq.ring, hauli_entry_of_begun(left))))
		hauli_coro_left_behind(c, left);
	hauli_ptr_published_set(&c->left, NULL);
}

/* The context to run after the current coroutine. */
static inline struct hauli_co *hauli_next(struct haul_carrier *c)
{
	return hauli_next_is(c, hauli_runq_pop(&c->runq));
}

/* Suspends a coroutine that handles exceptions, or whose carrier has a timeline; on a thread that
 * is no carrier, ends the program with an error line. Out of line, so that the fast path has one
 * test for all three. */
void hauli_suspend_slow(struct haul_carrier *c, struct haul_coro *me, bool publish);

/* Suspends me, which runs on c and whose state is set. publish: me is ready. */
static inline void hauli_suspend(struct haul_carrier *c, struct haul_coro *me, bool publish)
{
	if (hauli_unlikely(c->careful) && (c->timeline || hauli_exceptions_any(c->exceptions))) {
		hauli_suspend_slow(c, me, publish);
		return;
	}
	if (publish) /* else it is NULL, since hauli_arrive() */
		hauli_ptr_published_set(&c->left, me);
	hauli_arrive(hauli_co_switch(&me->co, hauli_next(c), c));
}

/* Suspends me, which stays ready, and ends the batch: the loop looks whether the round is over. */
void hauli_end_batch(struct haul_carrier *c, struct haul_coro *me);

/* The same where the batch has lasted too long: me becomes a long one if that is its own time. */
void hauli_end_long_batch(struct haul_carrier *c, struct haul_coro *me);

/* Owner. True if the coroutine that runs has used most of the time up itself, as far as c knows. */
bool hauli_is_long_slice(const struct haul_carrier *c);

/* Called by a coroutine that goes on after the end of a long batch. */
void hauli_slice_goes_on(void);

/* Called by a stolen coroutine on c. Ends its slice; the coroutine continues at home if it is
 * pinned, and else may be stolen again before this returns. */
void hauli_stolen_go_home(struct haul_carrier *c, struct haul_coro *me, enum hauli_back how);

/* The same, to wait until timer.at at home. */
static inline void hauli_stolen_wait(
	struct haul_carrier *c, struct haul_coro *me, enum hauli_coro_state kind)
{
	hauli_stolen_go_home(c, me, HAULI_BACK_WAIT | kind);
}

/* The running coroutine, on c, needs its home's thread: goes there if it is stolen, and continues
 * the same slice. Returns its home, where it is afterwards until it suspends. */
struct haul_carrier *hauli_go_on_at_home(struct haul_carrier *c, struct haul_coro *me);

/* The carrier c, on which the caller runs; if that is a stand-in (run/stray.c), the caller goes
 * home first. For what is about the carrier itself. */
static inline struct haul_carrier *hauli_real_carrier(struct haul_carrier *c)
{
	return hauli_unlikely(c->steal.stray) ? hauli_go_on_at_home(c, c->current) : c;
}

#endif
