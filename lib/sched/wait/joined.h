/* SPDX-License-Identifier: BSD-3-Clause */
/* A join in progress, and what requests do with it (request.h). */
#ifndef HAULI_SCHED_WAIT_JOINED_H
#define HAULI_SCHED_WAIT_JOINED_H

#include "conc/event.h"
#include "conc/word.h"
#include "sched/state/carrier.h"

/* A join in progress. Lies on the waiter's stack, if it has no deadline. */
struct hauli_join {
	struct hauli_msg msg; /* of kind hauli_join_msg; sent to the target's home */
	struct haul_coro *target;
	struct haul_coro *waiter; /* NULL: a plain thread waits for event */
	struct hauli_event *event; /* of a plain thread */
	void *result; /* written by the target's home before it wakes the waiter */
	bool timed; /* part of a struct hauli_timed_join. Constant */
};

/* A join with a deadline; on the heap. */
struct hauli_timed_join {
	struct hauli_join join; /* first: free() gets its address */
	uint64_t at; /* ticks */
	/* Taken by the one that ends the wait: the target's home, or the waiter's at the deadline.
	 * After the deadline the target's home frees it when it next comes across it. */
	struct hauli_claim ended;
	struct hauli_event event; /* of a plain thread */
};

/* At the target's home: frees j, and returns true, if its deadline has ended it. */
bool hauli_join_is_over(struct hauli_join *j);

static inline struct hauli_timed_join *hauli_timed_join_of(struct hauli_join *j)
{
	return (struct hauli_timed_join *)j;
}

/* At the home of a waiter whose join's target has ended elsewhere: makes the waiter ready. */
void hauli_join_ended_here(struct haul_carrier *c, struct haul_coro *waiter);

/* At target's home: handles joins that began while it was homeless. */
void hauli_join_asked_here(struct haul_carrier *c, struct haul_coro *target);

/* At target's home. True: a join waits for it. Forgets one whose deadline has passed. */
bool hauli_join_waits(struct haul_coro *target);

#endif
