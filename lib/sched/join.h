/* SPDX-License-Identifier: BSD-3-Clause */
/* Joins. All functions but those of struct hauli_ending are for the owner, the thread of carrier
 * c. */
#ifndef HAULI_SCHED_JOIN_H
#define HAULI_SCHED_JOIN_H

#include "conc/event.h"
#include "sched/carrier.h"
#include "sched/msg.h"

/* A join in progress. Lies on the waiter's stack. */
struct hauli_join {
	struct hauli_msg msg; /* of kind hauli_join_msg; sent to the target's home */
	struct haul_coro *target;
	struct haul_coro *waiter; /* NULL: a plain thread waits for event */
	struct hauli_event *event; /* of a plain thread */
	void *result; /* written by the target's home before it wakes the waiter */
	int status;
};

extern const struct hauli_msg_kind hauli_join_msg;

/* At the target's home. True: the target has ended, j->result is set, and the target is freed.
 * False: j is served when the target ends. */
bool hauli_join_here(struct haul_carrier *c, struct hauli_join *j);

/* The same, and wakes the waiter if the target has ended. */
void hauli_join_answer(struct haul_carrier *c, struct hauli_join *j);

/* For a waiter at home on c whose state is JOINING: joins at the target's home, by a message if
 * that is another carrier. */
void hauli_join_send(struct haul_carrier *c, struct hauli_join *j);

/* Wakes the waiter of j; j may be gone afterwards. */
void hauli_join_wake(struct haul_carrier *c, struct hauli_join *j);

/* Ends co, whose home is c, and wakes its joiner. The caller frees the slot. */
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
 * A join by a plain thread in two steps, so that it can have a time limit: begin, then wait, once
 * or repeatedly. e is in use until a wait has returned true; if none does, forever.
 */
struct hauli_ending {
	struct hauli_join join;
	struct hauli_event event;
};
void hauli_ending_begin(struct hauli_ending *e, struct haul_coro *co);
bool hauli_ending_wait(struct hauli_ending *e, const struct timespec *until);

#endif
