/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ring of a carrier's run queue: 256 pointers, oldest first, of which other carriers may take.
 * The argument why each is taken once, although the owner pays for no barrier and no atomic
 * read-modify-write, is in ring.c.
 */
#ifndef HAULI_CONC_RING_H
#define HAULI_CONC_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cacheline.h"
#include "conc/fence.h"

#define HAULI_RING_SIZE 256u

enum hauli_ring_guard {
	HAULI_RING_FREE,
	HAULI_RING_HELD, /* a thief, or the owner, is at work on what thieves may touch */
	HAULI_RING_ROBBED, /* some slots between head and tail are thieves' by now */
};

struct hauli_ring {
	HAULI_LINE _Atomic uint32_t head; /* next to pop. Owner */
	_Atomic uint32_t claim; /* the same, or one more within a pop. Owner */
	_Atomic uint32_t limit; /* pops end here. Owner opens, thieves close */
	_Atomic uint32_t tail; /* next to fill. Owner */
	_Atomic uint32_t fronted; /* how many were ever pushed to the front. Owner */
	_Atomic uint32_t guard; /* enum hauli_ring_guard. All */
	_Atomic uint32_t kept; /* pushes, ever, of items that thieves may not take. Owner */
	_Atomic uint32_t keeping; /* the same, plus one during such a push. Owner */
	_Atomic uint32_t
		seen; /* pushes that count when thieves had taken all. The guard's holder */
	uint64_t robbed[HAULI_RING_SIZE / 64]; /* a bit a slot. Who holds the guard */
	HAULI_LINE _Atomic(void *) slots[HAULI_RING_SIZE];
};

HAULI_ASSERT_LINE(struct hauli_ring, slots);
_Static_assert((HAULI_RING_SIZE & (HAULI_RING_SIZE - 1)) == 0, "indices are masked");

/* All slots hold filler at first, so that what is prefetched beyond the end can be looked at. */
void hauli_ring_init(struct hauli_ring *r, void *filler);

/* How many are in it. For the owner exact but for those that were stolen; for others a guess. */
static inline uint32_t hauli_ring_depth(const struct hauli_ring *r)
{
	return atomic_load_explicit(&r->tail, memory_order_relaxed /* own, or a guess */) -
		atomic_load_explicit(&r->head, memory_order_relaxed /* own, or a guess */);
}

/* Owner. Where the next pop is. */
static inline uint32_t hauli_ring_head(const struct hauli_ring *r)
{
	return atomic_load_explicit(&r->head, memory_order_relaxed /* own */);
}

/* Owner. False when full. */
static inline bool hauli_ring_push(struct hauli_ring *r, void *item)
{
	uint32_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed /* own */);
	uint32_t head = atomic_load_explicit(&r->head, memory_order_relaxed /* own */);

	if (hauli_unlikely(tail - head == HAULI_RING_SIZE))
		return false;
	atomic_store_explicit(&r->slots[tail % HAULI_RING_SIZE], item,
		memory_order_relaxed /* published by ring.E1 */);
	atomic_store_explicit(&r->tail, tail + 1, memory_order_release /* ring.E1:R */);
	return true;
}

/* Owner. The same, before all others. */
static inline bool hauli_ring_push_front(struct hauli_ring *r, void *item)
{
	uint32_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed /* own */);
	uint32_t head = atomic_load_explicit(&r->head, memory_order_relaxed /* own */);
	uint32_t fronted = atomic_load_explicit(&r->fronted, memory_order_relaxed /* own */);

	if (hauli_unlikely(tail - head == HAULI_RING_SIZE))
		return false;
	atomic_store_explicit(&r->slots[(head - 1) % HAULI_RING_SIZE], item,
		memory_order_relaxed /* published by ring.E1 */);
	atomic_store_explicit(&r->head, head - 1, memory_order_release /* ring.E1:R */);
	atomic_store_explicit(&r->claim, head - 1, memory_order_release /* ring.E3:R */);
	atomic_store_explicit(&r->fronted, fronted + 1, memory_order_release /* ring.E1:R */);
	return true;
}

/* Owner. How many were ever pushed. */
static inline uint32_t hauli_ring_pushed(const struct hauli_ring *r)
{
	return atomic_load_explicit(&r->tail, memory_order_relaxed /* own */) +
		atomic_load_explicit(&r->fronted, memory_order_relaxed /* own */);
}

/* Owner. Called before and after the push of an item that thieves may not take, so that they do not
 * come for it. pushed: whether the push succeeded. */
static inline void hauli_ring_keep(struct hauli_ring *r)
{
	uint32_t kept = atomic_load_explicit(&r->kept, memory_order_relaxed /* own */);

	atomic_store_explicit(&r->keeping, kept + 1, memory_order_relaxed /* the push: ring.E1 */);
}

static inline void hauli_ring_has_kept(struct hauli_ring *r, bool pushed)
{
	uint32_t kept = atomic_load_explicit(&r->kept, memory_order_relaxed /* own */);

	atomic_store_explicit(&r->kept, kept + pushed, memory_order_release /* ring.E4:R */);
	atomic_store_explicit(&r->keeping, kept + pushed, memory_order_relaxed /* as it was */);
}

/* The same as the next, when thieves were or are at work: waits for them, closes their gaps. */
void hauli_ring_open_robbed(struct hauli_ring *r, uint32_t n);

/* Owner. Lets the next n pops have what is there by then. */
static inline void hauli_ring_open(struct hauli_ring *r, uint32_t n)
{
	atomic_store_explicit(
		&r->limit, hauli_ring_head(r) + n, memory_order_relaxed /* fence.E1 */);
	hauli_fence_light();
	if (hauli_unlikely(
		    atomic_load_explicit(&r->guard,
			    memory_order_acquire /* fence.E1, ring.E2:A */) != HAULI_RING_FREE))
		hauli_ring_open_robbed(r, n);
}

/* The same, where there are no thieves. */
static inline void hauli_ring_open_plainly(struct hauli_ring *r, uint32_t n)
{
	atomic_store_explicit(&r->limit, hauli_ring_head(r) + n, memory_order_relaxed /* own */);
}

#define HAULI_RING_FAR (UINT32_C(1) << 30)

/* Owner. No pops until it is opened again, whatever is pushed. */
static inline void hauli_ring_close(struct hauli_ring *r)
{
	atomic_store_explicit(&r->limit, hauli_ring_head(r) - HAULI_RING_FAR,
		memory_order_relaxed /* as a thief does */);
}

/* Any thread. Whether a chain runs; a guess. */
static inline bool hauli_ring_is_open(const struct hauli_ring *r)
{
	uint32_t limit = atomic_load_explicit(&r->limit, memory_order_relaxed /* a guess */);
	uint32_t head = atomic_load_explicit(&r->head, memory_order_relaxed /* a guess */);

	return (int32_t)(limit - head) > -(int32_t)(HAULI_RING_FAR / 2);
}

/*
 * Owner. The oldest of those that were opened, or NULL. *second and *fourth are those that come
 * after it, for prefetching; beyond the end they are what was there before.
 */
static inline void *hauli_ring_pop(struct hauli_ring *r, void **second, void **fourth)
{
	uint32_t head = atomic_load_explicit(&r->head, memory_order_relaxed /* own */);
	uint32_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed /* own */);
	uint32_t limit;
	void *item;

	atomic_store_explicit(
		&r->claim, head + 1, memory_order_release /* ring.E3:R, and fence.E1 */);
	hauli_fence_light();
	limit = atomic_load_explicit(&r->limit, memory_order_relaxed /* fence.E1 */);
	if (hauli_unlikely((int32_t)(limit - head) <= 0 || head == tail)) {
		atomic_store_explicit(&r->claim, head, memory_order_release /* ring.E3:R */);
		return NULL;
	}
	atomic_store_explicit(&r->head, head + 1, memory_order_release /* ring.E1:R */);
	*second = atomic_load_explicit(
		&r->slots[(head + 1) % HAULI_RING_SIZE], memory_order_relaxed /* a hint */);
	*fourth = atomic_load_explicit(
		&r->slots[(head + 3) % HAULI_RING_SIZE], memory_order_relaxed /* a hint */);
	item = atomic_load_explicit(
		&r->slots[head % HAULI_RING_SIZE], memory_order_relaxed /* own */);
	if (!item)
		__builtin_unreachable();
	return item;
}

/* Owner. Counts pops: the difference of two calls is how many there were in between. */
static inline uint32_t hauli_ring_popped(const struct hauli_ring *r)
{
	return atomic_load_explicit(&r->head, memory_order_relaxed /* own */) +
		atomic_load_explicit(&r->fronted, memory_order_relaxed /* own */);
}

/*
 * Any thread but the owner's. Takes the ring for itself, or false at once when another one has it
 * or the owner is just opening it. True must be followed by hauli_ring_end_rob().
 */
bool hauli_ring_try_rob(struct hauli_ring *r);

/* Who robs. Takes the oldest for which may() is true; NULL when there is none. */
void *hauli_ring_rob(struct hauli_ring *r, bool (*may)(const void *item));

void hauli_ring_end_rob(struct hauli_ring *r);

/* Any thread. True if there may be items that thieves may take and have not looked at: a guess.
 * False is exact, except for a push under way. */
static inline bool hauli_ring_is_fresh(const struct hauli_ring *r)
{
	/* In this order: what is kept was pushed. */
	uint32_t kept = atomic_load_explicit(&r->kept, memory_order_acquire /* ring.E4:A */);
	uint32_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed /* ring.E4 */);
	uint32_t fronted = atomic_load_explicit(&r->fronted, memory_order_relaxed /* ring.E4 */);

	return tail + fronted - kept !=
		atomic_load_explicit(&r->seen, memory_order_relaxed /* a guess */);
}

/* Owner. Keeps thieves out; for what the guard protects besides the ring. Waits for a thief. */
void hauli_ring_hold(struct hauli_ring *r);
void hauli_ring_release(struct hauli_ring *r);

#endif
