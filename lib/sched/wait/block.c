/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Promise: a wait ends once, with the first of: served, deadline, cancel; except that a coroutine
 * that was served returns as served if it has not seen another end yet.
 *
 * A server that takes a waiter out of a list, under the list's lock, calls serve() once for it,
 * after it has released the lock. That is a request to the home (request.h), or on the home's
 * thread a direct call. So the home decides, as for park and sleep (design 0001), and `end` has one
 * writer at a time: the coroutine, before it is in the list, then its home.
 *
 *	home: the timer expires             server, with the list's lock
 *	end = EXPIRED, the coroutine ready  takes the waiter out of the list; marks it served
 *	                                    releases the lock
 *	coroutine: takes the list's lock
 *	not in the list? waits until the    serve(): a request to the home
 *	request has come
 *
 *	A coroutine whose wait has expired or was cancelled looks under the lock whether it is
 *	    still in the list. If so, it leaves, and no server will know it. If not, a server has
 *	    made, or is about to make, its one call: the coroutine waits for that, so the server
 *	    never uses a coroutine that has ended, and no call is left for a later wait.
 *	A wake-up may be a system call: no lock is held over it. And serve() is the server's only
 *	    step after the lock: the coroutine that it wakes may free the object.
 *	The coroutine may be stolen between its wake-up and that look: `end` is published by the
 *	    home and read by the thief. The second wait brings it home.
 *
 * Model: tests/model/sync_sem.c. Stress: tests/stress/sync.c.
 */
#include "sched/wait/block.h"

#include <errno.h>

#include "base/clock.h"
#include "sched/state/self.h"
#include "sched/wait/frame.h"
#include "sched/wait/suspend.h"
#include "sched/wait/wake.h"

const char hauli_block_mutex[] = "mutex";
const char hauli_block_children[] = "the children of scope";

static inline enum hauli_block_end end_of(const struct hauli_block *b)
{
	return (enum hauli_block_end)hauli_u32_published_get(&b->end);
}

static inline void set_end(struct hauli_block *b, enum hauli_block_end end)
{
	hauli_u32_published_set(&b->end, end);
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
	hauli_frame_bound(me, HAUL_FOREVER); /* the time of a shield may be over */
	if (!hauli_coro_is_cancelled(me))
		return 0;
	/* As refuse_to_wait() in wait.c: a loop that ignores the result keeps no carrier. */
	hauli_suspend(c, me, true);
	return -ECANCELED;
}

void hauli_block_init(
	struct hauli_block *b, struct haul_coro *me, uint64_t deadline, bool cancellable)
{
	b->co = me;
	if (cancellable)
		deadline = hauli_frame_bound(me, deadline);
	b->at = hauli_ticks_at(deadline);
	b->cancellable = cancellable;
	set_end(b, HAULI_BLOCK_WAITS);
	me->arg = b;
}

static inline __attribute__((always_inline)) bool begin_here(
	struct haul_carrier *c, struct haul_coro *co)
{
	struct hauli_block *b = block_of(co);

	if (end_of(b) == HAULI_BLOCK_SERVED)
		return false;
	if (b->cancellable && hauli_coro_is_cancelled(co)) {
		set_end(b, HAULI_BLOCK_CANCELLED);
		return false;
	}
	if (b->at != HAULI_NEVER) {
		co->timer.at = b->at;
		hauli_timer_arm(&c->timers, &co->timer);
	}
	hauli_coro_waits(c, co, HAULI_CORO_BLOCKED);
	return true;
}

bool hauli_block_begin_here(struct haul_carrier *c, struct haul_coro *co)
{
	return begin_here(c, co);
}

static void wait(struct hauli_block *b)
{
	struct haul_carrier *c = hauli_here();
	struct haul_coro *me = b->co;

	if (hauli_unlikely(hauli_coro_is_stolen(me)))
		hauli_stolen_go_home(c, me, HAULI_BACK_BLOCK);
	else if (hauli_likely(begin_here(c, me)))
		hauli_suspend(c, me, false);
	else if (end_of(b) == HAULI_BLOCK_CANCELLED)
		hauli_suspend(c, me, true); /* as refuse_to_wait() in wait.c */
}

enum hauli_block_end hauli_block_wait(struct hauli_block *b)
{
	wait(b);
	return end_of(b);
}

void hauli_block_wait_served(struct hauli_block *b)
{
	b->at = HAULI_NEVER;
	b->cancellable = false;
	while (end_of(b) != HAULI_BLOCK_SERVED)
		wait(b);
}

static void disarm(struct haul_carrier *c, struct haul_coro *co)
{
	if (block_of(co)->at != HAULI_NEVER)
		hauli_timer_disarm(&c->timers, &co->timer);
}

void hauli_block_serve_here(struct haul_carrier *c, struct haul_coro *co, bool last)
{
	bool blocked = hauli_coro_state(co) == HAULI_CORO_BLOCKED;

	if (blocked)
		disarm(c, co);
	/* A coroutine that is not blocked may return from its wait, on another carrier, now. */
	set_end(block_of(co), HAULI_BLOCK_SERVED);
	if (blocked && last)
		hauli_wake_last_here(c, co);
	else if (blocked)
		hauli_wake_here(c, co);
}

void hauli_block_expire_here(struct haul_coro *co)
{
	set_end(block_of(co), HAULI_BLOCK_EXPIRED);
}

bool hauli_block_cancel_here(struct haul_carrier *c, struct haul_coro *co)
{
	if (!block_of(co)->cancellable)
		return false;
	disarm(c, co);
	set_end(block_of(co), HAULI_BLOCK_CANCELLED);
	return true;
}
