/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A word with a value, and in its lowest bit a lock of what belongs to the word. Any thread. The
 * lock is held for a few loads and stores, never over a suspension or a system call.
 *
 * Promise: holders exclude each other; while the lock is held only the holder changes the word; a
 * thread that swaps the value without the lock does so only while nobody holds it.
 *
 * lock() is a compare-and-swap that sets the bit, if it is clear; swap() is one between two values
 * with a clear bit. So nobody changes the word of a holder, and unlock() is a plain store.
 *
 *	E1  a holder's accesses, and what precedes a swap, before the accesses of the next holder,
 *	    and what follows a swap or a load of that value: release in unlock and swap, acquire in
 *	    lock, swap and get.
 *
 * Model: tests/model/sync_sem.c. Stress: tests/stress/sync.c.
 */
#ifndef HAULI_CONC_LOCKWORD_H
#define HAULI_CONC_LOCKWORD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cacheline.h"

#define HAULI_LOCKWORD_LOCKED UINT64_C(1)

struct hauli_lockword {
	_Atomic uint64_t word;
};

static inline uint64_t hauli_lockword_get(const struct hauli_lockword *l)
{
	return atomic_load_explicit(&l->word, memory_order_acquire /* lockword.E1:A */);
}

/* Neither value has the lowest bit. False: the word has another value, or is locked. */
static inline bool hauli_lockword_swap(struct hauli_lockword *l, uint64_t from, uint64_t to)
{
	return atomic_compare_exchange_strong_explicit(&l->word, &from, to,
		memory_order_acq_rel /* lockword.E1:A lockword.E1:R */,
		memory_order_relaxed /* nothing was read */);
}

/* Waits until the lock is free. Out of line. */
uint64_t hauli_lockword_lock_slow(struct hauli_lockword *l);

/* Locks; returns the value. */
static inline uint64_t hauli_lockword_lock(struct hauli_lockword *l)
{
	uint64_t v = atomic_load_explicit(&l->word, memory_order_relaxed /* the swap decides */);

	v &= ~HAULI_LOCKWORD_LOCKED;
	if (hauli_likely(atomic_compare_exchange_strong_explicit(&l->word, &v,
		    v | HAULI_LOCKWORD_LOCKED, memory_order_acquire /* lockword.E1:A */,
		    memory_order_relaxed /* nothing was read */)))
		return v;
	return hauli_lockword_lock_slow(l);
}

/* The holder: changes the value, and keeps the lock. */
static inline void hauli_lockword_put(struct hauli_lockword *l, uint64_t value)
{
	atomic_store_explicit(&l->word, value | HAULI_LOCKWORD_LOCKED,
		memory_order_relaxed /* the unlock publishes it */);
}

/* The holder: unlocks, with a new value. */
static inline void hauli_lockword_unlock(struct hauli_lockword *l, uint64_t value)
{
	atomic_store_explicit(&l->word, value, memory_order_release /* lockword.E1:R */);
}

#endif
