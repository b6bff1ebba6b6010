/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A store-load barrier that one of two sides pays for.
 *
 * Two threads each store to their own word and then load the other's. Both need a full barrier in
 * between, or both may miss the other's store. If one thread does this a million times a second and
 * the other rarely, the frequent side needs no barrier: light() only keeps the compiler from
 * reordering its store and its load, and heavy() has the kernel make every running thread of the
 * process pass a full barrier (membarrier(2), MEMBARRIER_CMD_PRIVATE_EXPEDITED), at the price of an
 * interrupt to each of their CPUs.
 *
 *	E1  the light side's store before its load, against a heavy() that the other thread calls.
 *	    Either the load comes after the barrier, and sees what the heavy side stored before the
 *	    call; or the store comes before it, and the heavy side's loads after the call see it.
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

/* Call it in each process before the first heavy fence; repeated calls are harmless. 0, or -errno:
 * the kernel has no membarrier(2), or does not allow it. */
int hauli_fence_init(void);

/* Aborts the program if the kernel refuses. */
void hauli_fence_heavy(void);

/* A full barrier: both sides need one. */
static inline void hauli_fence_full(void)
{
	atomic_thread_fence(memory_order_seq_cst /* fence.E1:F */);
}

#endif
