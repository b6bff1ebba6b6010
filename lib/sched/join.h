/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting for the end of a coroutine. Owner, the home's thread, except for struct hauli_ending. */
#ifndef HAULI_SCHED_JOIN_H
#define HAULI_SCHED_JOIN_H

#include "conc/event.h"
#include "sched/carrier.h"
#include "sched/msg.h"

/* One wait for the end of a coroutine. Lies on the waiter's stack. */
struct hauli_join {
	struct hauli_msg msg; /* of kind hauli_join_msg: to the target's home */
	struct haul_coro *target;
	struct haul_coro *waiter; /* NULL: a plain thread waits on event */
	struct hauli_event *event; /* of the plain thread */
	void *result; /* the target's home, before it wakes the waiter */
	int status;
};

extern const struct hauli_msg_kind hauli_join_msg;

/* True: the target has ended, j has its result, and it is freed. False: j waits for its end. */
bool hauli_join_here(struct haul_carrier *c, struct hauli_join *j);

/* The same; and then lets the waiter of j go on. */
void hauli_join_answer(struct haul_carrier *c, struct hauli_join *j);

/* For a waiter on c, whose state says that it waits: asks the target's home. */
void hauli_join_send(struct haul_carrier *c, struct hauli_join *j);

/* Lets the waiter of j go on; j may be gone afterwards. */
void hauli_join_wake(struct haul_carrier *c, struct hauli_join *j);

/* The end of co, which is at home on c: all that follows from it except the freeing of its slot. */
static inline void hauli_coro_finish(struct haul_carrier *c, struct haul_coro *co)
{
	struct hauli_join *j = co->joiner;

	hauli_coro_set_state(co, HAULI_CORO_ENDED);
	hauli_counter_add(&c->ended, 1);
	if (j) {
		j->result = co->arg;
		co->detached = true; /* joined */
		hauli_join_wake(c, j);
	}
}

/*
 * A plain thread's join of a coroutine in two steps, so that its time can be bounded: begin it,
 * then wait, once or more often. It is in use until a wait has returned true, and for ever if none
 * does.
 */
struct hauli_ending {
	struct hauli_join join;
	struct hauli_event event;
};
void hauli_ending_begin(struct hauli_ending *e, struct haul_coro *co);
bool hauli_ending_wait(struct hauli_ending *e, const struct timespec *until);

#endif
