/* SPDX-License-Identifier: BSD-3-Clause */
/* The carrier of the calling thread. */
#ifndef HAULI_SCHED_STATE_SELF_H
#define HAULI_SCHED_STATE_SELF_H

#include "sched/state/carrier.h"

/*
 * On a thread that is no carrier hauli_self() is NULL, and hauli_here() is &hauli_nowhere, a
 * stand-in whose current coroutine has a flag. So the fast paths need no test of their own for such
 * threads.
 */
extern struct haul_carrier hauli_nowhere;

/* For x86_64 one asm, so that the compiler can keep neither the variable's address nor its value
 * across a switch. In self.c for other architectures and for TSan; a model defines its own. */
#if defined(__x86_64__) && !HAULI_TSAN
static inline struct haul_carrier *hauli_here(void)
{
	struct haul_carrier *c;

	__asm__ volatile("movq hauli_carrier_of_thread@gottpoff(%%rip), %0\n\t"
			 "movq %%fs:(%0), %0"
			 : "=r"(c)
			 :
			 : "memory");
	return c;
}
#else
struct haul_carrier *hauli_here(void);
#endif

/* As haul_self(), for a caller that does not pass the coroutine on. */
struct haul_coro *hauli_current(void);

struct haul_carrier *hauli_self(void);
void hauli_self_set(struct haul_carrier *c); /* NULL: the thread ceases to be a carrier */

#endif
