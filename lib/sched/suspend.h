/* SPDX-License-Identifier: BSD-3-Clause */
/* Suspending the running coroutine: the switch to the next one, and a stolen one's way home. */
#ifndef HAULI_SCHED_SUSPEND_H
#define HAULI_SCHED_SUSPEND_H

#include "sched/carrier.h"
#include "sched/exceptions.h"

/* What a stolen coroutine asks its home for when its slice ends. The home's side is stolen.c. */
enum hauli_back {
	HAULI_BACK_YIELD,
	HAULI_BACK_HERE, /* it goes on as it would have elsewhere, with its place in its order */
	HAULI_BACK_PARK,
	HAULI_BACK_SLEEP, /* until timer.at */
	HAULI_BACK_JOIN, /* arg is the struct hauli_join */
	HAULI_BACK_END,
};

/* Off the fast path: ends the program with a line if me, which is in call, may not suspend. */
void hauli_may_suspend(const struct haul_coro *me, const char *call);

/* The carrier on which co's slice has ended. co was stolen, and its context is saved. */
void hauli_stolen_send_home(struct haul_carrier *c, struct haul_coro *co);

/* Owner. co has left its slice ready, and is a poller, stolen or kept. */
void hauli_coro_left_slow(struct haul_carrier *c, struct haul_coro *co);

/*
 * Switch, then publish: a coroutine that yields or ends may be seen by others, or its stack used
 * again, only when its context is saved. So the one that runs next publishes it.
 */
static inline void hauli_arrive(struct haul_carrier *c)
{
	struct haul_coro *left = c->left;

	if (!left)
		return;
	c->left = NULL;
	if (hauli_unlikely(hauli_coro_state(left) != HAULI_CORO_READY)) {
		if (left->detached)
			hauli_coro_free(c, left);
	} else if (hauli_likely(hauli_coro_queues(left))) {
		hauli_runq_push(&c->runq, left);
	} else {
		hauli_coro_left_slow(c, left);
	}
}

/* The context that runs after the current coroutine: the next one of the batch, then the loop. */
static inline struct hauli_co *hauli_next(struct haul_carrier *c)
{
	struct haul_coro *next = hauli_runq_pop(&c->runq);

	c->current = next;
	return next ? &next->co : &c->loop;
}

/* Suspends a coroutine that handles exceptions, and refuses to suspend a thread that runs none.
 * Out of line: without C++ the fast path has one test for it. */
void hauli_suspend_slow(struct haul_carrier *c, struct haul_coro *me, bool publish);

/* Suspends me, which is running on c. Its state is set already. publish: it is ready. */
static inline void hauli_suspend(struct haul_carrier *c, struct haul_coro *me, bool publish)
{
	if (hauli_unlikely(c->cxx) && hauli_exceptions_any(c->exceptions)) {
		hauli_suspend_slow(c, me, publish);
		return;
	}
	c->left = publish ? me : NULL;
	hauli_arrive(hauli_co_switch(&me->co, hauli_next(c), c));
}

/* The stolen coroutine itself, on c. Ends its slice; it is at home when this returns. */
void hauli_stolen_go_home(struct haul_carrier *c, struct haul_coro *me, enum hauli_back how);

#endif
