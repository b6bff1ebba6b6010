/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * With -Dchecks=true: counts the mutexes that a coroutine holds, to find one that ends with a
 * mutex. The count lies in the head of the stack, behind struct hauli_stack, and is 0 whenever a
 * coroutine begins there. It is written by the coroutine, and, while that waits for a mutex, by the
 * coroutine that hands the mutex over.
 */
#ifndef HAULI_SCHED_STATE_HELD_H
#define HAULI_SCHED_STATE_HELD_H

#include "base/assert.h"
#include "sched/state/coroutine.h"

struct hauli_held {
	struct hauli_stack stack;
	uint32_t mutexes;
};

_Static_assert(sizeof(struct hauli_held) <= HAULI_CACHE_LINE, "the head of a stack (start.c)");

/* n: 1 or -1. */
static inline void hauli_held_add(struct haul_coro *co, int n)
{
	if (HAUL_CHECKS)
		((struct hauli_held *)co->co.stack)->mutexes += (uint32_t)n;
}

/* The function of co has returned. */
static inline void hauli_held_check(const struct haul_coro *co)
{
	const struct hauli_held *held = (const struct hauli_held *)co->co.stack;

	if (HAUL_CHECKS && held->mutexes > 0)
		hauli_misuse("haul_mutex_lock",
			"coroutine \"%s\" has ended and still holds a mutex: nobody can unlock it",
			co->co.name);
}

#endif
