/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A store-load barrier that one of two sides pays for.
 *
 * Where two threads each store to their own word and then load the other's, both need a full
 * barrier in between, or both may miss the other's store. If one of them does so a million times a
 * second and the other hardly ever, the first can do without: light() keeps the compiler from
 * turning the two around, and heavy() has the kernel make every running thread of the process pass
 * a full barrier (membarrier(2), MEMBARRIER_CMD_PRIVATE_EXPEDITED), at the price of an interrupt to
 * each of their CPUs.
 *
 *	E1  light's side: its store before its load, as seen by who returns from heavy() in between:
 *	    either its load comes after that barrier and sees what the heavy side had stored before
 *	    the call, or its store came before it and is seen by the heavy side's loads after it.
 *
 * Model: tests/model/ring.c (a heavy fence drains the store buffers of the others, one by one).
 */
#ifndef HAULI_CONC_FENCE_H
#define HAULI_CONC_FENCE_H

#include <stdatomic.h>

static inline void hauli_fence_light(void)
{
	atomic_signal_fence(memory_order_seq_cst /* fence.E1:F of the compiler only */);
}

/* Once per process, before the first heavy fence; again is fine. 0 or -errno: the kernel has no
 * such thing, or does not allow it. */
int hauli_fence_init(void);

/* Ends the program where the kernel refuses it. */
void hauli_fence_heavy(void);

/* Both sides pay: a full barrier. */
static inline void hauli_fence_full(void)
{
	atomic_thread_fence(memory_order_seq_cst /* fence.E1:F */);
}

#endif
