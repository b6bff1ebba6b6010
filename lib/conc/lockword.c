/* SPDX-License-Identifier: BSD-3-Clause */
#include "conc/lockword.h"

#include <sched.h>

uint64_t hauli_lockword_lock_slow(struct hauli_lockword *l)
{
	for (;;) {
		uint64_t v =
			atomic_load_explicit(&l->word, memory_order_relaxed /* the swap decides */);

		/* The holder may have been preempted. */
		if (v & HAULI_LOCKWORD_LOCKED)
			sched_yield();
		else if (atomic_compare_exchange_strong_explicit(&l->word, &v,
				 v | HAULI_LOCKWORD_LOCKED,
				 memory_order_acquire /* lockword.E1:A */,
				 memory_order_relaxed /* nothing was read */))
			return v;
	}
}
