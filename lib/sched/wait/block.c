/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Promise: a wait ends once, with the first of: served, deadline, cancel; except that a coroutine
 * that is served before it has seen another end returns as served.
 *
 * A server that takes a waiter out of a list, under the list's lock, calls serve() once for it,
 * after it has released the lock. That is a request to the home (request.h), or on the home's
 * thread a direct call. So the home decides, as for park and sleep (design 0001), and `served` has
 * one writer at a time: the coroutine, before it is in the list, then its home.
 *
 *	home: the timer expires             server, with the list's lock
 *	the coroutine is ready              takes the waiter out of the list; marks it served
 *	                                    releases the lock
 *	coroutine: takes the list's lock
 *	not in the list? waits until the    serve(): a request to the home
 *	request has come
 *
 *	A coroutine whose wait has expired or was cancelled looks under the lock whether it is still
 *	    in the list. If so, it leaves, and no server will find it. If not, a server has made, or
 *	    is about to make, its one call: the coroutine waits for that, so the server never uses a
 *	    coroutine that has ended, and no call is left for a later wait.
 *	A wake-up may be a system call: no lock is held over it. And serve() is the server's only
 *	    step after the lock: the coroutine that it wakes may free the object.
 *	The coroutine may be stolen between its wake-up and that look: `served` is published by the
 *	    home and read by the thief. The second wait brings it home.
 *
 * Model: tests/model/sync_sem.c. Stress: tests/stress/sync.c.
 */
#include "sched/wait/block.h"

#include <errno.h>

#include "base/clock.h"
#include "sched/state/self.h"
#include "sched/wait/extent.h"
#include "sched/wait/suspend.h"
#include "sched/wait/wake.h"

const char hauli_block_mutex[] = "mutex";
const char hauli_block_children[] = "the children of scope";

static inline bool is_served(const struct hauli_block *b)
{
	return hauli_u32_published_get(&b->served);
}

static inline struct hauli_block *block_of(const struct haul_coro *co)
{
	return co->arg;
}

int hauli_block_check_slow(
	struct haul_carrier *c, struct haul_coro *me, const char *call, bool cancellable)
{
	hauli_may_suspend(me, call);
	if (!cancellable)
		return 0;
	hauli_extent_deadline(me, HAUL_FOREVER); /* the deadline of a shield may have passed */
	if (!hauli_coro_is_cancelled(me))
		return 0;
	/* As refuse_to_wait() in park.c: a loop that ignores the result must not keep its
	 * carrier. */
	hauli_suspend(c, me, true);
	return -ECANCELED;
}

void hauli_block_init(
	struct hauli_block *b, struct haul_coro *me, uint64_t deadline, bool cancellable)
{
	b->co = me;
	if (cancellable)
		deadline = hauli_extent_deadline(me, deadline);
	b->kind = HAULI_CORO_BLOCKED | (cancellable ? HAULI_CORO_CANCELLABLE : 0);
	hauli_u32_published_set(&b->served, false);
	me->arg = b;
	me->timer.at = hauli_ticks_at(deadline);
}

static inline bool is_cancelled(const struct hauli_block *b)
{
	return (b->kind & HAULI_CORO_CANCELLABLE) && hauli_coro_is_cancelled(b->co);
}

static inline __attribute__((always_inline)) bool begin_here(
	struct haul_carrier *c, struct haul_coro *co)
{
	struct hauli_block *b = block_of(co);

	if (is_served(b) || is_cancelled(b))
		return false;
	hauli_coro_waits_until(c, co, b->kind);
	return true;
}

bool hauli_block_begin_here(struct haul_carrier *c, struct haul_coro *co)
{
	return begin_here(c, co);
}

/* The wait has begun, on a carrier with a timeline. */
static __attribute__((noinline)) void suspend_traced(
	struct haul_carrier *c, const struct hauli_block *b)
{
	hauli_traced_block(c, b->what, b->object);
	hauli_suspend(c, b->co, false);
}

static void wait(struct hauli_block *b)
{
	struct haul_carrier *c = hauli_here();
	struct haul_coro *me = b->co;

	if (hauli_unlikely(hauli_coro_is_stolen(me))) {
		hauli_stolen_wait(c, me, HAULI_CORO_BLOCKED);
	} else if (hauli_likely(begin_here(c, me))) {
		if (hauli_unlikely(c->timeline != NULL))
			suspend_traced(c, b);
		else
			hauli_suspend(c, me, false);
	} else if (!is_served(b)) {
		hauli_suspend(c, me, true); /* as refuse_to_wait() in park.c */
	}
}

int hauli_block_wait(struct hauli_block *b)
{
	wait(b);
	if (hauli_likely(is_served(b)))
		return 0;
	return is_cancelled(b) ? -ECANCELED : -ETIMEDOUT;
}

void hauli_block_wait_served(struct hauli_block *b)
{
	b->co->timer.at = HAULI_NEVER;
	b->kind = HAULI_CORO_BLOCKED;
	while (!is_served(b))
		wait(b);
}

static inline __attribute__((always_inline)) void serve(
	struct haul_carrier *c, struct haul_coro *co, bool last)
{
	hauli_u32_published_set(&block_of(co)->served, true);
	if (last)
		hauli_wake_last_here(c, co);
	else
		hauli_wake_here(c, co);
}

static __attribute__((noinline)) void serve_armed(
	struct haul_carrier *c, struct haul_coro *co, bool last)
{
	hauli_timer_disarm(&c->timers, &co->timer);
	serve(c, co, last);
}

void hauli_block_serve_here(struct haul_carrier *c, struct haul_coro *co, bool last)
{
	enum hauli_coro_state state = hauli_coro_state(co);

	if (hauli_unlikely(state & HAULI_CORO_ARMED))
		serve_armed(c, co, last);
	else if (hauli_likely(state != HAULI_CORO_READY))
		serve(c, co, last);
	/* co has not begun to wait, or was woken by another end: it may run now, even elsewhere */
	else
		hauli_u32_published_set(&block_of(co)->served, true);
}
