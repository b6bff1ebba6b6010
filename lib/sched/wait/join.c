/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Joins. The target has one word for its joiner, target->joiner. The target's home ends the join
 * when the target has ended; or the waiter's home ends it at its deadline (a plain thread does so
 * itself). The join, j, lies on the waiter's stack.
 *
 * Promise: one of them ends it, and the other one learns that. A join that ends at its deadline
 * changes nothing at the target.
 *
 *	target's home: the target has ended     waiter's home: the deadline has passed
 *	swap j for 0: done?                     swap j for GONE: done?
 *	    write the result, wake the waiter       the waiter is ready
 *	else it is GONE: nobody joins           else wait: the target's home wakes the waiter
 *
 *	Only one of the two swaps finds j in the word (word.E5), so nobody uses a j whose waiter has
 *	    continued. A join without a deadline is never GONE, and needs no swap.
 *	A join that begins on the target's home just sets the word. One that begins elsewhere sets
 *	    it with the tag ASKED, and sends a request. The target's home leaves a word with ASKED
 *	    alone until the request has come: otherwise it could end the join, and free the target,
 *	    before the request is sent. So the tag means that the home will look.
 *	A joiner from elsewhere that finds GONE, from the join before it, swaps it for its own j,
 *	    keeps both tags, and sends no request: with ASKED a request is under way; without it the
 *	    home will look when the target ends. It has not looked yet, since it replaces GONE by 0
 *	    when it does. So j without a tag is of a coroutine of this home, and has no deadline.
 *	At its deadline a waiter reads the word of a target that may have been joined and freed: its
 *	    memory stays in the slab, and its word cannot be j again while the waiter waits. A join
 *	    of another runtime's coroutine ends before that runtime is stopped (haul/coro.h), or is
 *	    inside a gate (below).
 *
 * A target that was homeless when it was asked may get a home, run and end before the request is
 * handled; and, once the deadline of that join has passed, another join may free it. The message
 * that is under way keeps the target's memory until then.
 *
 * If the target's home is elsewhere, only that home can answer, even if the target has ended, and
 * it may compute for long. So such a join has its deadline too, but waits at least PATIENCE:
 * otherwise a caller that repeats joins with deadlines shorter than a message takes would never get
 * an answer.
 *
 * Model: tests/model/join_until.c, join_thread.c, homeless_until.c. Stress: tests/stress/join.c.
 */
#include "sched/wait/join.h"

#include <errno.h>

#include "base/clock.h"
#include "sched/state/runtime.h"
#include "sched/state/self.h"
#include "sched/wait/extent.h"
#include "sched/wait/request.h"
#include "sched/wait/suspend.h"
#include "sched/wait/thread_joins.h"

/* The target has ended. */
static inline void take_result(struct haul_carrier *c, struct hauli_join *j)
{
	j->result = j->target->arg;
	hauli_coro_free(c, j->target);
}

/* The slow path of join_here(). */
static __attribute__((noinline)) bool join_again(
	struct haul_carrier *c, struct hauli_join *j, uintptr_t tag)
{
	struct haul_coro *target = j->target;
	uintptr_t word = hauli_tagged_get(&target->joiner);

	if (target->detached || hauli_join_waits(target))
		hauli_handle_is_used_up(target, "haul_join");
	if (hauli_coro_state(target) == HAULI_CORO_ENDED) {
		take_result(c, j);
		return true;
	}
	j->done = NULL; /* with a tag, it is read */
	hauli_tagged_set(&target->joiner, (uintptr_t)j | tag | (word & HAULI_JOIN_ASKED));
	return false;
}

static inline bool join_here(struct haul_carrier *c, struct hauli_join *j, uintptr_t tag)
{
	struct haul_coro *target = j->target;

	if (hauli_unlikely(hauli_tagged_get(&target->joiner)))
		return join_again(c, j, tag);
	/* The first compare is enough for one that is ready. */
	if (hauli_likely(hauli_coro_word(target) == HAULI_CORO_FRESH(false)) ||
		(!target->detached && hauli_coro_state(target) != HAULI_CORO_ENDED)) {
		hauli_tagged_set(&target->joiner, (uintptr_t)j | tag);
		return false;
	}
	if (hauli_unlikely(target->detached))
		return join_again(c, j, tag);
	take_result(c, j);
	return true;
}

bool hauli_join_here(struct haul_carrier *c, struct hauli_join *j, uintptr_t tag)
{
	return join_here(c, j, tag);
}

/* From elsewhere: the target's home, or its future home, will look. */
static void ask(struct hauli_join *j, uintptr_t tag)
{
	struct haul_coro *target = j->target;
	uintptr_t word = hauli_tagged_get(&target->joiner);

	while (word != 0) {
		if (word & ~HAULI_JOIN_ASKED & ~HAULI_JOIN_GONE)
			hauli_handle_is_used_up(target, "haul_join");
		/* word has ASKED, GONE or both */
		if (hauli_tagged_swap(&target->joiner, &word, (uintptr_t)j | tag | word))
			return;
	}
	hauli_tagged_set(&target->joiner, (uintptr_t)j | tag | HAULI_JOIN_ASKED);
	hauli_request(target, HAULI_REQ_JOIN);
}

/* At the deadline of j. False: its target's home has ended it, or is about to. */
static bool withdraw(const struct hauli_join *j)
{
	struct hauli_tagged *joiner = &j->target->joiner;
	uintptr_t word = hauli_tagged_get(joiner);

	while (hauli_join_of(word) == j)
		if (hauli_tagged_swap(joiner, &word, HAULI_JOIN_GONE | (word & HAULI_JOIN_ASKED)))
			return true;
	return false;
}

bool hauli_join_expire_here(struct haul_coro *waiter)
{
	if (withdraw(waiter->arg)) {
		waiter->arg = NULL;
		return true;
	}
	hauli_coro_set_state(waiter, HAULI_CORO_JOINING);
	return false;
}

/* The waiter, at home on c, waits from now on; until timer.at, if it is timed. */
static inline void set_waiting(
	struct haul_carrier *c, struct haul_coro *waiter, struct hauli_join *j, bool timed)
{
	waiter->arg = j;
	if (timed)
		hauli_coro_waits_until(c, waiter, HAULI_CORO_JOINING);
	else
		hauli_coro_waits(c, waiter, HAULI_CORO_JOINING);
}

bool hauli_join_begin_here(struct haul_carrier *c, struct haul_coro *waiter)
{
	struct hauli_join *j = waiter->arg;
	struct haul_carrier *home = hauli_coro_home(j->target);
	uintptr_t tag = waiter->timer.at == HAULI_NEVER ? 0 : HAULI_JOIN_TIMED;

	if (home == c && hauli_join_here(c, j, tag))
		return false;
	hauli_coro_waits_until(c, waiter, HAULI_CORO_JOINING);
	if (home != c)
		ask(j, tag);
	return true;
}

#define JOINS_PER_SLICE 64

/* Joins of targets that have ended do not suspend; so after JOINS_PER_SLICE of them this ends the
 * batch. */
static inline void count_join(struct haul_carrier *c, struct haul_coro *me)
{
	c->wait.joins = (uint8_t)(c->wait.joins + 256 / JOINS_PER_SLICE);
	if (hauli_unlikely(c->wait.joins == 0))
		hauli_end_batch(c, me);
}

/* The join of me on c, its home. If the target's home is another carrier, that wakes the waiter.
 * timed: j has a deadline; a compile-time constant. tag: HAULI_JOIN_TIMED if so. */
static inline __attribute__((always_inline)) void wait_as_coroutine(struct haul_carrier *c,
	struct haul_coro *me, struct hauli_join *j, bool timed, uintptr_t tag)
{
	struct haul_carrier *home = hauli_coro_home(j->target);

	if (hauli_likely(home == c) && hauli_unlikely(join_here(c, j, tag))) {
		count_join(c, me);
		return;
	}
	set_waiting(c, me, j, timed);
	if (hauli_unlikely(home != c)) {
		j->done = NULL;
		ask(j, tag);
	}
	hauli_suspend(c, me, false);
}

void hauli_ending_begin(struct hauli_ending *e, struct haul_coro *co)
{
	e->join = (struct hauli_join){.target = co, .done = &e->done};
	hauli_completion_init(&e->done);
	hauli_thread_joins_begin();
	ask(&e->join, 0);
}

bool hauli_ending_wait(struct hauli_ending *e, const struct timespec *until)
{
	return hauli_completion_wait_until(&e->done, until);
}

/* For a coroutine that may be stolen, or may not suspend. timed: as above. */
static inline __attribute__((always_inline)) void wait_checked(
	struct haul_carrier *c, struct haul_coro *me, struct hauli_join *j, bool timed)
{
	hauli_may_suspend(me, "haul_join");
	if (hauli_coro_is_stolen(me)) {
		me->arg = j;
		if (!timed)
			me->timer.at = HAULI_NEVER;
		hauli_stolen_wait(c, me, HAULI_CORO_JOINING);
		return;
	}
	/* The end of a target switches directly to the waiter of a plain join: not to a poller. */
	wait_as_coroutine(c, me, j, timed, timed || !hauli_coro_queues(me) ? HAULI_JOIN_TIMED : 0);
}

#define LONGEST HAUL_S /* one wait of a plain thread */

/* Waits for the completion of a plain thread, until at, in ticks. False: the deadline has passed
 * first. */
static bool wait_for_completion(struct hauli_join *j, uint64_t at)
{
	for (;;) {
		uint64_t now = hauli_timer_ticks();
		uint64_t rest = at > now ? hauli_ns_from_ticks(at - now) : 0;
		uint64_t most = hauli_counter_read(&hauli_virtual_now) ? HAUL_MS : LONGEST;
		struct timespec until = hauli_monotonic_in(rest < most ? rest : most);

		if (hauli_completion_wait_until(j->done, &until))
			return true;
		if (hauli_timer_ticks() < at)
			continue;
		if (withdraw(j))
			return false;
		hauli_completion_wait(j->done);
		return true;
	}
}

#define PATIENCE HAUL_MS

/* When a join gives up, in ticks. ended: its target has ended, as far as the caller can see. */
static uint64_t end_of_join(uint64_t deadline, bool ended)
{
	uint64_t at = hauli_ticks_at(deadline);
	uint64_t least = ended ? hauli_timer_ticks() + hauli_ticks_from_ns(PATIENCE) : 0;

	return at > least ? at : least;
}

/* The join of a plain thread, inside a gate of the target's runtime. False: the deadline has passed
 * first. */
static bool wait_as_thread(struct hauli_join *j, uint64_t deadline, bool ended)
{
	struct hauli_ending e;

	if (deadline == HAUL_FOREVER) {
		hauli_ending_begin(&e, j->target);
		(void)hauli_ending_wait(&e, NULL);
		j->result = e.join.result;
		return true;
	}
	j->done = &e.done;
	hauli_completion_init(&e.done);
	ask(j, HAULI_JOIN_TIMED);
	return wait_for_completion(j, end_of_join(deadline, ended));
}

/* For a caller on a thread that is no carrier, and for a poller, a cancelled or a stolen
 * coroutine. */
static __attribute__((noinline)) void wait_slow(
	struct haul_carrier *c, struct haul_coro *me, struct hauli_join *j)
{
	if (c == &hauli_nowhere)
		(void)wait_as_thread(j, HAUL_FOREVER, false);
	else
		wait_checked(c, me, j, false);
}

/* The join of a coroutine. False: the deadline has passed first. */
static bool wait_timed(
	struct haul_carrier *c, struct haul_coro *me, struct hauli_join *j, uint64_t at)
{
	me->arg = j;
	me->timer.at = at;
	wait_checked(c, me, j, true);
	return me->arg; /* the deadline clears it */
}

static int join_until(
	struct haul_carrier *c, struct haul_coro *co, void **result, uint64_t deadline)
{
	bool ended = hauli_coro_is_unjoined(co), joined;
	struct hauli_join j = {.target = co, .waiter = c->current};

	if (deadline == 0 && !ended)
		return -EAGAIN;
	joined = c == &hauli_nowhere ? wait_as_thread(&j, deadline, ended)
				     : wait_timed(c, j.waiter, &j, end_of_join(deadline, ended));
	if (!joined)
		return deadline == 0 ? -EAGAIN : -ETIMEDOUT;
	if (result)
		*result = j.result;
	return 0;
}

/* Waits until co has ended. */
static inline __attribute__((always_inline)) void join(struct haul_carrier *c, struct haul_coro *me,
	struct haul_coro *co, struct hauli_join *j, bool slow)
{
	j->target = co;
	j->waiter = me;
	if (hauli_unlikely(slow)) {
		j->done = NULL;
		wait_slow(c, me, j);
	} else {
		wait_as_coroutine(c, me, j, false, 0);
	}
}

/* A join is inside a gate of the target's runtime, so that the runtime ends only after the join has
 * been answered: the stop waits for the gate when all coroutines have ended and the carriers still
 * read their mail. */
static int join_as_thread(struct haul_coro *co, void **result, uint64_t deadline)
{
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
	err = join_until(&hauli_nowhere, co, result, deadline);
	hauli_runtime_has_joined(rt);
	return err;
}

/* True: me is at home on c, and its join of co ends at once. */
static bool has_ended_here(
	const struct haul_carrier *c, const struct haul_coro *me, const struct haul_coro *co)
{
	return hauli_coro_home(co) == c && hauli_coro_is_unjoined(co) && !hauli_coro_is_stolen(me);
}

/* slow: a compile-time constant. */
static inline __attribute__((always_inline)) int join_coro(struct haul_carrier *c,
	struct haul_coro *me, struct haul_coro *co, void **result, uint64_t deadline, bool slow)
{
	struct hauli_join j;

	if (hauli_unlikely(deadline != HAUL_FOREVER) && !has_ended_here(c, me, co))
		return join_until(c, co, result, deadline);
	join(c, me, co, &j, slow);
	if (result)
		*result = j.result;
	return 0;
}

static __attribute__((noinline)) int join_slow(
	struct haul_carrier *c, struct haul_coro *co, void **result, uint64_t deadline)
{
	struct haul_coro *me = c->current;

	if (c == &hauli_nowhere)
		return join_as_thread(co, result, deadline);
	return join_coro(c, me, co, result, hauli_extent_deadline(me, deadline), true);
}

int haul_join(struct haul_coro *co, void **result, uint64_t deadline)
{
	struct haul_carrier *c = hauli_here();
	struct haul_coro *me = c->current;

	HAUL_MISUSE_IF(!co, "the coroutine is NULL; give what a spawn has given");
	if (me == co)
		return -EDEADLK;
	if (hauli_unlikely(hauli_coro_needs_slow_path(me)))
		return join_slow(c, co, result, deadline);
	return join_coro(c, me, co, result, deadline, false);
}

void hauli_join_to_the_end(struct haul_coro *co)
{
	struct haul_carrier *c = hauli_here();
	struct hauli_join j;

	join(c, c->current, co, &j, hauli_coro_needs_slow_path(c->current));
}
