/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ring of a carrier's run queue: 256 pointers, oldest first.
 *
 * Today the owner alone pushes and pops; others may ask for its depth. The indices run freely
 * and are masked on use, so full and empty differ without a spare slot. They and the slots
 * are atomics because thieves will read them; until then every access is relaxed and
 * compiles to a plain one.
 */
#ifndef HAULI_CONC_RING_H
#define HAULI_CONC_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cacheline.h"

#define HAULI_RING_SIZE 256u

struct hauli_ring {
	HAULI_LINE _Atomic uint32_t head; /* next to pop. Owner */
	_Atomic uint32_t tail; /* next to fill. Owner */
	HAULI_LINE _Atomic(void *) slots[HAULI_RING_SIZE];
};

HAULI_ASSERT_LINE(struct hauli_ring, slots);
_Static_assert((HAULI_RING_SIZE & (HAULI_RING_SIZE - 1)) == 0, "indices are masked");

static inline void hauli_ring_init(struct hauli_ring *r)
{
	atomic_init(&r->head, 0);
	atomic_init(&r->tail, 0);
}

/* How many are in it. Exact for the owner, an estimate for others. */
static inline uint32_t hauli_ring_depth(const struct hauli_ring *r)
{
	return atomic_load_explicit(&r->tail, memory_order_relaxed /* owner, or estimate */) -
		atomic_load_explicit(&r->head, memory_order_relaxed /* owner, or estimate */);
}

/* Owner. False when full. */
static inline bool hauli_ring_push(struct hauli_ring *r, void *item)
{
	uint32_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed /* own */);
	uint32_t head = atomic_load_explicit(&r->head, memory_order_relaxed /* own */);

	if (hauli_unlikely(tail - head == HAULI_RING_SIZE))
		return false;
	atomic_store_explicit(
		&r->slots[tail % HAULI_RING_SIZE], item, memory_order_relaxed /* own */);
	atomic_store_explicit(&r->tail, tail + 1, memory_order_relaxed /* own */);
	return true;
}

/*
 * Owner. The oldest, or NULL. *second and *fourth are those that come after it, for prefetching,
 * or the oldest itself where there are not as many.
 */
static inline void *hauli_ring_pop(struct hauli_ring *r, void **second, void **fourth)
{
	uint32_t head = atomic_load_explicit(&r->head, memory_order_relaxed /* own */);
	uint32_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed /* own */);
	uint32_t depth = tail - head;
	uint32_t next = depth > 1 ? head + 1 : head, later = depth > 3 ? head + 3 : head;

	if (depth == 0)
		return NULL;
	*second = atomic_load_explicit(
		&r->slots[next % HAULI_RING_SIZE], memory_order_relaxed /* own */);
	*fourth = atomic_load_explicit(
		&r->slots[later % HAULI_RING_SIZE], memory_order_relaxed /* own */);
	atomic_store_explicit(&r->head, head + 1, memory_order_relaxed /* own */);
	return atomic_load_explicit(
		&r->slots[head % HAULI_RING_SIZE], memory_order_relaxed /* own */);
}

#endif
