/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Joins. The target's home ends a join, when the target has ended; or, if it has a deadline, the
 * waiter's home does (a plain thread for itself).
 *
 * Promise: one of them does, and the other one learns it. A join that its deadline has ended
 * changes nothing at the target.
 *
 *	target's home: the target has ended    waiter's home: the deadline has passed
 *	take its claim: taken? free j          take its claim: taken? go on waiting
 *	write the result, wake the waiter      the waiter is ready
 *	waiter: free j
 *
 *	Who takes the claim first ends the join (word.E5).
 *	If the target's home does, its wake-up is under way or will be, and the waiter's home waits
 *	    for it. So nobody uses the waiter, or j, once the waiter has freed j.
 *	If the waiter's home does, j stays with the target's home: in the message by which it came,
 *	    or as target->joiner. It is freed there when the message comes, when the target ends, or
 *	    when the next join or detach finds it. Before it looks at anything else of a message's
 *	    j, the target's home looks whether it is taken: if so, the target may be gone.
 *
 * Such a j is on the heap: the waiter may be gone before it.
 *
 * A join that finds its target without a home adds j to target->asked, and a request. The target
 * may get its home in between, run, end, and be joined by another after the deadline of j, all
 * before the request is handled. So a request to a target that was joined is no misuse by itself:
 * its message keeps the target's memory, and each j of target->asked is looked at as that of a
 * message.
 *
 * A target that has ended and whose home is elsewhere is joined by its home as well, which may
 * compute for long. So such a join keeps its deadline too, but waits at least PATIENCE: callers
 * that ask again and again with deadlines shorter than a message takes would never get an answer.
 *
 * Model: tests/model/join_until.c, join_thread.c, homeless_until.c. Stress: tests/stress/join.c.
 */
#include "sched/wait/join.h"

#include <errno.h>
#include <stdlib.h>

#include "base/assert.h"
#include "base/clock.h"
#include "sched/mail/mail.h"
#include "sched/state/runtime.h"
#include "sched/state/self.h"
#include "sched/wait/frame.h"
#include "sched/wait/request.h"
#include "sched/wait/suspend.h"
#include "sched/wait/thread_joins.h"

/* At the target's home: ends j. False: its deadline has, and j is freed. */
static bool end(struct hauli_timed_join *j)
{
	if (hauli_claim_take(&j->ended))
		return true;
	free(j);
	return false;
}

/* Of a target that has ended. */
static inline void take_result(struct haul_carrier *c, struct hauli_join *j)
{
	j->result = j->target->arg;
	hauli_coro_free(c, j->target);
}

/* Slow paths of the next two are tail calls, so that the fast ones save no register. */
static __attribute__((noinline)) bool take_result_in_time(
	struct haul_carrier *c, struct hauli_join *j)
{
	if (!end(hauli_timed_join_of(j)))
		return false;
	take_result(c, j);
	return true;
}

static __attribute__((noinline)) bool join_again(struct haul_carrier *c, struct hauli_join *j)
{
	if (j->target->detached || hauli_join_waits(j->target))
		hauli_handle_is_used_up(j->target, "haul_join");
	return hauli_join_here(c, j);
}

bool hauli_join_here(struct haul_carrier *c, struct hauli_join *j)
{
	struct haul_coro *target = j->target;

	if (hauli_unlikely(target->joiner || target->detached))
		return join_again(c, j);
	if (hauli_coro_state(target) != HAULI_CORO_ENDED) {
		target->joiner = j;
		return false;
	}
	if (hauli_unlikely(j->timed))
		return take_result_in_time(c, j);
	take_result(c, j);
	return true;
}

/* The thread is about to run, so it waits no more; a timed one was never counted. */
static __attribute__((noinline)) void set_event(struct hauli_join *j)
{
	if (!j->timed)
		hauli_thread_joins_end();
	hauli_event_set(j->event);
}

/* Wakes the waiter of j; j may be gone afterwards. */
static inline void wake(struct haul_carrier *c, struct hauli_join *j)
{
	if (j->event)
		set_event(j);
	else if (hauli_coro_home(j->waiter) != c)
		hauli_request(j->waiter, HAULI_REQ_JOINED);
	else if (c->current)
		hauli_ready_soon(c, j->waiter);
	else
		hauli_ready(c, j->waiter);
}

/* The same, if j may have a deadline. */
static void wake_timed(struct haul_carrier *c, struct hauli_join *j)
{
	if (!j->event && hauli_coro_home(j->waiter) == c)
		hauli_coro_disarm(c, j->waiter);
	wake(c, j);
}

static inline void hand_over(struct haul_coro *target, struct hauli_join *j)
{
	target->detached = true; /* joined */
	j->result = target->arg;
}

static __attribute__((noinline)) void serve_timed(struct haul_carrier *c, struct haul_coro *target)
{
	struct hauli_join *j = target->joiner;

	if (!end(hauli_timed_join_of(j))) {
		target->joiner = NULL;
		return;
	}
	hand_over(target, j);
	wake_timed(c, j);
}

void hauli_join_serve(struct haul_carrier *c, struct haul_coro *target)
{
	struct hauli_join *j = target->joiner;

	if (hauli_unlikely(j->timed)) {
		serve_timed(c, target);
		return;
	}
	hand_over(target, j);
	wake(c, j);
}

bool hauli_join_expire_here(struct haul_coro *waiter)
{
	struct hauli_join *j = waiter->arg;

	/* Before the claim, after which j may be gone: a dump may interrupt this thread. */
	waiter->arg = NULL;
	if (hauli_claim_take(&hauli_timed_join_of(j)->ended))
		return true;
	waiter->arg = j;
	hauli_coro_set_state(waiter, HAULI_CORO_JOINING);
	return false;
}

/* A join from elsewhere, with a deadline or without. */
static void answer(struct haul_carrier *c, struct hauli_join *j)
{
	if (!hauli_join_is_over(j) && hauli_join_here(c, j))
		wake_timed(c, j);
}

static void handle(struct haul_carrier *c, struct hauli_msg *msg)
{
	answer(c, HAULI_CONTAINER(msg, struct hauli_join, msg));
}

const struct hauli_msg_kind hauli_join_msg = {.handle = handle};

/* Sends j to the target's home, another carrier; NULL: the target is homeless, and its future home
 * gets j. */
static void send_to(struct haul_carrier *home, struct hauli_join *j)
{
	struct haul_coro *target = j->target;

	if (hauli_likely(home != NULL)) {
		hauli_mail_send(home, &j->msg);
		return;
	}
	hauli_pile_add(&target->asked, &j->msg.node);
	hauli_request(target, HAULI_REQ_JOIN);
}

/* The waiter, at home on c, waits from now on. timed: that of j. */
static inline void set_waiting(
	struct haul_carrier *c, struct haul_coro *waiter, struct hauli_join *j, bool timed)
{
	waiter->arg = j;
	if (!timed) {
		hauli_coro_waits(c, waiter, HAULI_CORO_JOINING);
		return;
	}
	waiter->timer.at = hauli_timed_join_of(j)->at;
	hauli_coro_waits_until(c, waiter, HAULI_CORO_JOINING);
}

bool hauli_join_begin_here(struct haul_carrier *c, struct haul_coro *waiter)
{
	struct hauli_join *j = waiter->arg;
	struct haul_carrier *home = hauli_coro_home(j->target);

	set_waiting(c, waiter, j, j->timed);
	if (home != c)
		send_to(home, j);
	else
		answer(c, j);
	return true;
}

#define JOINS_PER_SLICE 64

/* A coroutine that joins many that have ended does not suspend for any of them. */
static inline void count_join(struct haul_carrier *c, struct haul_coro *me)
{
	c->joins = (uint8_t)(c->joins + 256 / JOINS_PER_SLICE);
	if (hauli_unlikely(c->joins == 0))
		hauli_end_batch(c, me);
}

/* The join of me on c, its home. If the target's home is another carrier, that wakes the waiter.
 * timed: that of j, a constant. */
static inline __attribute__((always_inline)) void wait_as_coroutine(
	struct haul_carrier *c, struct haul_coro *me, struct hauli_join *j, bool timed)
{
	struct haul_carrier *home = hauli_coro_home(j->target);

	if (home == c && hauli_join_here(c, j)) {
		count_join(c, me);
		return;
	}
	set_waiting(c, me, j, timed);
	if (home != c)
		send_to(home, j);
	hauli_suspend(c, me, false);
}

void hauli_ending_begin(struct hauli_ending *e, struct haul_coro *co)
{
	e->join =
		(struct hauli_join){.msg.kind = &hauli_join_msg, .target = co, .event = &e->event};
	hauli_event_init(&e->event);
	hauli_thread_joins_begin();
	send_to(hauli_coro_home(co), &e->join);
}

bool hauli_ending_wait(struct hauli_ending *e, const struct timespec *until)
{
	return hauli_event_wait_until(&e->event, until);
}

static void wait_as_thread(struct hauli_join *j)
{
	struct hauli_ending e;

	hauli_ending_begin(&e, j->target);
	(void)hauli_ending_wait(&e, NULL);
	j->result = e.join.result;
}

/* For a coroutine that may be stolen, or may not suspend. timed: as above. */
static inline __attribute__((always_inline)) void wait_checked(
	struct haul_carrier *c, struct haul_coro *me, struct hauli_join *j, bool timed)
{
	hauli_may_suspend(me, "haul_join");
	if (hauli_coro_is_stolen(me)) {
		me->arg = j;
		hauli_stolen_wait(c, me, HAULI_CORO_JOINING);
		return;
	}
	wait_as_coroutine(c, me, j, timed);
}

/* For a caller on a thread that is no carrier, and for a poller, a cancelled or a stolen
 * coroutine. */
static __attribute__((noinline)) void wait_slow(
	struct haul_carrier *c, struct haul_coro *me, struct hauli_join *j)
{
	if (c == &hauli_nowhere)
		wait_as_thread(j);
	else
		wait_checked(c, me, j, false);
}

#define LONGEST HAUL_S /* one wait of a plain thread */

/* Waits for the event of a plain thread. False: the deadline has passed first, and the target's
 * home frees t. */
static bool wait_for_event(struct hauli_timed_join *t)
{
	for (;;) {
		uint64_t now = hauli_timer_ticks(), at = t->at;
		uint64_t rest = at > now ? hauli_ns_from_ticks(at - now) : 0;
		uint64_t most = hauli_counter_read(&hauli_virtual_now) ? HAUL_MS : LONGEST;
		struct timespec until = hauli_monotonic_in(rest < most ? rest : most);

		if (hauli_event_wait_until(&t->event, &until))
			return true;
		if (hauli_timer_ticks() < at)
			continue;
		if (hauli_claim_take(&t->ended))
			return false;
		hauli_event_wait(&t->event);
		return true;
	}
}

static bool wait_timed_as_thread(struct hauli_timed_join *t)
{
	t->join.event = &t->event;
	hauli_event_init(&t->event);
	send_to(hauli_coro_home(t->join.target), &t->join);
	return wait_for_event(t);
}

static bool wait_timed(struct haul_carrier *c, struct haul_coro *me, struct hauli_timed_join *t)
{
	me->arg = t;
	wait_checked(c, me, &t->join, true);
	return me->arg; /* the deadline clears it */
}

#define PATIENCE HAUL_MS

/* ticks: when a join gives up. ended: its target has ended, as far as the caller can see. */
static uint64_t end_of_join(uint64_t deadline, bool ended)
{
	uint64_t at = hauli_ticks_at(deadline);
	uint64_t least = ended ? hauli_timer_ticks() + hauli_ticks_from_ns(PATIENCE) : 0;

	return at > least ? at : least;
}

static int join_until(
	struct haul_carrier *c, struct haul_coro *co, void **result, uint64_t deadline)
{
	bool ended = hauli_coro_is_unjoined(co), joined;
	struct hauli_timed_join *t;

	if (deadline == 0 && !ended)
		return -EAGAIN;
	t = malloc(sizeof(*t));
	if (!t)
		return -ENOMEM;
	*t = (struct hauli_timed_join){
		.join = {.msg.kind = &hauli_join_msg,
			.target = co,
			.waiter = c->current,
			.timed = true},
		.at = end_of_join(deadline, ended),
	};
	joined = c == &hauli_nowhere ? wait_timed_as_thread(t) : wait_timed(c, t->join.waiter, t);
	if (!joined)
		return deadline == 0 ? -EAGAIN : -ETIMEDOUT;
	if (result)
		*result = t->join.result;
	free(t);
	return 0;
}

/* Waits until co has ended. */
static inline __attribute__((always_inline)) void join(struct haul_carrier *c, struct haul_coro *me,
	struct haul_coro *co, struct hauli_join *j, bool slow)
{
	j->msg.kind = &hauli_join_msg;
	j->target = co;
	j->waiter = me;
	j->event = NULL;
	j->timed = false;
	if (hauli_unlikely(slow))
		wait_slow(c, me, j);
	else
		wait_as_coroutine(c, me, j, false);
}

/* A join is inside a gate of the target's runtime, which ends only when the join has been answered:
 * all coroutines have ended then, and the carriers still read their mail. */
static int join_as_thread(struct haul_coro *co, void **result, uint64_t deadline)
{
	struct hauli_join j = {.target = co};
	struct haul_runtime *rt;
	int err;

	if (hauli_runtimes_are_copies())
		return -EPERM;
	err = hauli_runtimes_join(co, &rt);
	if (err == -ENOENT)
		hauli_misuse("haul_join",
			"%p is no coroutine of a runtime that runs; join before haul_stop()",
			(const void *)co);
	if (err)
		return err;
	if (deadline != HAUL_FOREVER) {
		err = join_until(&hauli_nowhere, co, result, deadline);
	} else {
		wait_as_thread(&j);
		if (result)
			*result = j.result;
	}
	hauli_runtime_has_joined(rt);
	return err;
}

/* True: a join of me on c, where it is at home, ends at once. */
static bool has_ended_here(
	const struct haul_carrier *c, const struct haul_coro *me, const struct haul_coro *co)
{
	return hauli_coro_home(co) == c && hauli_coro_is_unjoined(co) && !hauli_coro_is_stolen(me);
}

int haul_join(struct haul_coro *co, void **result, uint64_t deadline)
{
	struct haul_carrier *c = hauli_here();
	struct haul_coro *me = c->current;
	bool slow = hauli_coro_needs_slow_path(me);
	struct hauli_join j;

	HAUL_MISUSE_IF(!co, "the coroutine is NULL; give what a spawn has given");
	if (me == co)
		return -EDEADLK;
	if (hauli_unlikely(slow) && c == &hauli_nowhere)
		return join_as_thread(co, result, deadline);
	if (hauli_unlikely(slow))
		deadline = hauli_frame_bound(me, deadline);
	if (hauli_unlikely(deadline != HAUL_FOREVER) && !has_ended_here(c, me, co))
		return join_until(c, co, result, deadline);
	join(c, me, co, &j, slow);
	if (result)
		*result = j.result;
	return 0;
}

void hauli_join_to_the_end(struct haul_coro *co)
{
	struct haul_carrier *c = hauli_here();
	struct hauli_join j;

	join(c, c->current, co, &j, hauli_coro_needs_slow_path(c->current));
}
