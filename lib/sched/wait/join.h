/* SPDX-License-Identifier: BSD-3-Clause */
/* Joins. All functions but those of struct hauli_ending are for the owner, the thread of carrier
 * c. */
#ifndef HAULI_SCHED_WAIT_JOIN_H
#define HAULI_SCHED_WAIT_JOIN_H

#include "sched/state/carrier.h"
#include "sched/wait/joined.h"
#include "sched/wait/request.h"

/* At the target's home. True: the target has ended, j->result is set, and the target is freed.
 * False: j is served when the target ends. tag: HAULI_JOIN_TIMED or 0. */
bool hauli_join_here(struct haul_carrier *c, struct hauli_join *j, uintptr_t tag);

/* For a waiter that has come home to join, until timer.at: begins the wait, by a request if the
 * target's home is another carrier. False: the target has ended, and the result is there. */
bool hauli_join_begin_here(struct haul_carrier *c, struct haul_coro *waiter);

/* At the home of a waiter whose timer has expired. True: that has ended its join; the caller makes
 * it ready. False: the target has ended, and the target's home wakes the waiter. */
bool hauli_join_expire_here(struct haul_coro *waiter);

/* As haul_join() without a deadline, even inside a scope that has one. co is another coroutine. */
void hauli_join_to_the_end(struct haul_coro *co);

/* Ends co, whose home is c, and wakes its joiner. The caller frees co if it is detached. */
static inline void hauli_coro_finish(struct haul_carrier *c, struct haul_coro *co)
{
	uintptr_t joiner = hauli_tagged_get(&co->joiner);

	hauli_coro_set_state(co, HAULI_CORO_ENDED);
	hauli_counter_add(&c->counts.ended, 1);
	if (joiner)
		hauli_join_serve(c, co, joiner);
}

/* The same for a co that has run on c until now, and has returned this result. Returns its joiner
 * if that runs next: the caller switches to it. */
static inline struct haul_coro *hauli_coro_finish_running(
	struct haul_carrier *c, struct haul_coro *co, void *result)
{
	uintptr_t word = hauli_tagged_get(&co->joiner);
	struct hauli_join *j = (struct hauli_join *)word;
	struct haul_coro *waiter;

	if (!word || hauli_unlikely(!hauli_join_is_plain(word)) ||
		hauli_unlikely(c->wait.path != HAULI_PATH_FAST) ||
		hauli_unlikely(!hauli_runq_pass_lifo(&c->runq))) {
		co->arg = result;
		hauli_coro_finish(c, co);
		return NULL;
	}
	hauli_counter_add(&c->counts.ended, 1);
	hauli_coro_set_word(co, HAULI_CORO_FRESH(true)); /* as new */
	hauli_tagged_set(&co->joiner, 0);
	waiter = j->waiter;
	j->result = result;
	hauli_coro_set_state(waiter, HAULI_CORO_READY);
	if (!waiter)
		__builtin_unreachable();
	return waiter;
}

/*
 * A join by a plain thread in two steps, so that it can have a time limit: begin, then wait, once
 * or repeatedly. e is in use until a wait has returned true; if none does, forever.
 */
struct hauli_ending {
	struct hauli_join join;
	struct hauli_completion done;
};
void hauli_ending_begin(struct hauli_ending *e, struct haul_coro *co);
bool hauli_ending_wait(struct hauli_ending *e, const struct timespec *until);

#endif
