/* SPDX-License-Identifier: BSD-3-Clause */
/* Joins. */
#include "sched/join.h"

#include <errno.h>

#include "conc/ring.h"
#include "sched/mail.h"
#include "sched/request.h"
#include "sched/runtime.h"
#include "sched/self.h"
#include "sched/suspend.h"

static void handle(struct haul_carrier *c, struct hauli_msg *msg)
{
	hauli_join_answer(c, HAULI_CONTAINER(msg, struct hauli_join, msg));
}

const struct hauli_msg_kind hauli_join_msg = {.handle = handle};

bool hauli_join_here(struct haul_carrier *c, struct hauli_join *j)
{
	struct haul_coro *target = j->target;

	if (hauli_unlikely(target->joiner || target->detached))
		hauli_handle_is_used_up(target, "haul_join");
	if (hauli_coro_state(target) != HAULI_CORO_ENDED) {
		target->joiner = j;
		return false;
	}
	j->result = target->arg;
	hauli_coro_free(c, target);
	return true;
}

void hauli_join_wake(struct haul_carrier *c, struct hauli_join *j)
{
	if (j->event)
		hauli_event_set(j->event);
	else if (hauli_coro_home(j->waiter) != c)
		hauli_request(j->waiter, HAULI_REQ_JOINED);
	else if (c->current)
		hauli_ready_soon(c, j->waiter);
	else
		hauli_ready(c, j->waiter);
}

/* Sends j to the target's home, another carrier; NULL: the target is homeless, and its future home
 * gets j. */
static void send_to(struct haul_carrier *home, struct hauli_join *j)
{
	if (hauli_likely(home != NULL)) {
		hauli_mail_send(home, &j->msg);
		return;
	}
	j->target->asked = &j->msg;
	hauli_request(j->target, HAULI_REQ_JOIN);
}

void hauli_join_answer(struct haul_carrier *c, struct hauli_join *j)
{
	if (hauli_join_here(c, j))
		hauli_join_wake(c, j);
}

void hauli_join_send(struct haul_carrier *c, struct hauli_join *j)
{
	struct haul_carrier *home = hauli_coro_home(j->target);

	if (home != c)
		send_to(home, j);
	else
		hauli_join_answer(c, j);
}

/* Ends the slice of me, which stays ready, and the batch: the loop looks whether the round is
 * over. */
static __attribute__((noinline)) void end_slice(struct haul_carrier *c, struct haul_coro *me)
{
	hauli_ring_close(&c->runq.ring);
	hauli_suspend(c, me, true);
}

#define JOINS_PER_SLICE 64

/* A coroutine that joins many that have ended does not suspend for any of them. */
static inline void count_join(struct haul_carrier *c, struct haul_coro *me)
{
	c->joins = (uint8_t)(c->joins + 256 / JOINS_PER_SLICE);
	if (hauli_unlikely(c->joins == 0))
		end_slice(c, me);
}

/* The join of a coroutine on c, its home. If the target's home is another carrier, that wakes the
 * waiter. */
static inline void wait_as_coroutine(struct haul_carrier *c, struct hauli_join *j)
{
	struct haul_coro *me = j->waiter;
	struct haul_carrier *home = hauli_coro_home(j->target);

	if (home == c && hauli_join_here(c, j)) {
		count_join(c, me);
		return;
	}
	hauli_coro_set_state(me, HAULI_CORO_JOINING);
	if (home != c)
		send_to(home, j);
	hauli_suspend(c, me, false);
}

void hauli_ending_begin(struct hauli_ending *e, struct haul_coro *co)
{
	e->join =
		(struct hauli_join){.msg.kind = &hauli_join_msg, .target = co, .event = &e->event};
	hauli_event_init(&e->event);
	send_to(hauli_coro_home(co), &e->join);
}

bool hauli_ending_wait(struct hauli_ending *e, const struct timespec *until)
{
	return hauli_event_wait_until(&e->event, until);
}

static void wait_as_thread(struct hauli_join *j)
{
	struct hauli_ending e;

	if (!hauli_runtimes_have(j->target))
		hauli_misuse("haul_join",
			"%p is no coroutine of a runtime that runs; join before haul_stop()",
			(void *)j->target);
	hauli_ending_begin(&e, j->target);
	(void)hauli_ending_wait(&e, NULL);
	j->result = e.join.result;
}

/* For a caller on a thread that is no carrier, and for a poller, a cancelled or a stolen
 * coroutine. */
static __attribute__((noinline)) void wait_slow(struct haul_carrier *c, struct hauli_join *j)
{
	struct haul_coro *me = j->waiter;

	if (c == &hauli_nowhere) {
		wait_as_thread(j);
		return;
	}
	hauli_may_suspend(me, "haul_join");
	if (hauli_coro_is_stolen(me)) {
		me->arg = j;
		hauli_stolen_go_home(c, me, HAULI_BACK_JOIN);
		return;
	}
	wait_as_coroutine(c, j);
}

int haul_join(struct haul_coro *co, void **result, uint64_t deadline)
{
	struct haul_carrier *c = hauli_here();
	struct hauli_join j = {.msg.kind = &hauli_join_msg, .target = co, .waiter = c->current};

	if (hauli_unlikely(!co))
		return -EINVAL;
	if (j.waiter == co)
		return -EDEADLK;
	if (c == &hauli_nowhere && hauli_runtimes_are_copies())
		return -EPERM;
	if (hauli_unlikely(hauli_coro_needs_slow_path(j.waiter)))
		wait_slow(c, &j);
	else
		wait_as_coroutine(c, &j);
	if (result)
		*result = j.result;
	return 0;
}
