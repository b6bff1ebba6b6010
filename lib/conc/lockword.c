/* SPDX-License-Identifier: BSD-3-Clause */
#include "conc/lockword.h"

#include <sched.h>

#include "base/clock.h"

/* The lock is held for some tens of ns; to yield the CPU may take milliseconds. */
#ifndef HAULI_LOCKWORD_PAUSES /* a model sets it */
#define HAULI_LOCKWORD_PAUSES 200
#endif

uint64_t hauli_lockword_lock_slow(struct hauli_lockword *l)
{
	for (int pauses = 0;;) {
		uint64_t v =
			atomic_load_explicit(&l->word, memory_order_relaxed /* the swap decides */);
		bool locked = v & HAULI_LOCKWORD_LOCKED;

		if (HAULI_LOCKWORD_PAUSES > 0 && locked && pauses++ < HAULI_LOCKWORD_PAUSES)
			hauli_cpu_pause();
		else if (locked)
			sched_yield(); /* the holder may have been preempted */
		else if (atomic_compare_exchange_strong_explicit(&l->word, &v,
				 v | HAULI_LOCKWORD_LOCKED,
				 memory_order_acquire /* lockword.E1:A */,
				 memory_order_relaxed /* nothing was read */))
			return v;
	}
}
