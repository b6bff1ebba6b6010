/* SPDX-License-Identifier: BSD-3-Clause */
/* The carrier of the calling thread. */
#ifndef HAULI_SCHED_SELF_H
#define HAULI_SCHED_SELF_H

#include "sched/carrier.h"

/*
 * On a thread that is no carrier hauli_self() is NULL, and hauli_here() is &hauli_nowhere, a
 * stand-in whose current coroutine has a flag. So the fast paths need no test of their own for such
 * threads.
 */
struct haul_carrier *hauli_self(void);
struct haul_carrier *hauli_here(void);
void hauli_self_set(struct haul_carrier *c); /* NULL: the thread ceases to be a carrier */
extern struct haul_carrier hauli_nowhere;

/* hauli_here() for paths where a call would cost more than what they do. */
static inline struct haul_carrier *hauli_here_inline(void)
{
#ifdef __x86_64__
	struct haul_carrier *c;

	__asm__ volatile("movq hauli_carrier_of_thread@gottpoff(%%rip), %0\n\t"
			 "movq %%fs:(%0), %0"
			 : "=r"(c)
			 :
			 : "memory");
	return c;
#else
	return hauli_here();
#endif
}

#endif
