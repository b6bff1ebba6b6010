/* SPDX-License-Identifier: BSD-3-Clause */
/* A join in progress, and the word of its target for it (join.c). */
#ifndef HAULI_SCHED_WAIT_JOINED_H
#define HAULI_SCHED_WAIT_JOINED_H

#include "conc/completion.h"
#include "sched/state/carrier.h"

/* A join in progress. Lies on the waiter's stack. */
struct hauli_join {
	struct haul_coro *target;
	void *result; /* written by the target's home before it wakes the waiter */
	struct haul_coro *waiter; /* NULL: a plain thread waits for done */
	/* of a plain thread, else NULL; not set if the address has no tags */
	struct hauli_completion *done;
};

/* What target->joiner holds in addition to the address of a join, or in its place. */
#define HAULI_JOIN_ASKED ((uintptr_t)1) /* a request to the home is under way: it will look */
#define HAULI_JOIN_TIMED ((uintptr_t)2) /* with an address: its deadline may end the join */
/* the deadline of the last join has passed; with an address: the next join comes from elsewhere */
#define HAULI_JOIN_GONE ((uintptr_t)4)
#define HAULI_JOIN_TAGS (HAULI_JOIN_ASKED | HAULI_JOIN_TIMED | HAULI_JOIN_GONE)

static inline struct hauli_join *hauli_join_of(uintptr_t word)
{
	return (struct hauli_join *)(word & ~HAULI_JOIN_TAGS);
}

/* An address without tags is that of a join without a deadline, of a coroutine of the same home. */
static inline bool hauli_join_is_plain(uintptr_t word)
{
	return !(word & HAULI_JOIN_TAGS);
}

/* At target's home. True: a join waits for it. */
static inline bool hauli_join_waits(const struct haul_coro *target)
{
	return hauli_join_of(hauli_tagged_get(&target->joiner));
}

#endif
