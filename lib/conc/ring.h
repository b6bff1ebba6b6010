/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ring of a carrier's run queue: 256 pointers, oldest first, from which other carriers steal.
 * The argument why each item is taken once, although the owner uses no barrier and no atomic
 * read-modify-write, is in ring.c.
 */
#ifndef HAULI_CONC_RING_H
#define HAULI_CONC_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cacheline.h"
#include "conc/fence.h"

#define HAULI_RING_SIZE 256u

enum hauli_ring_guard {
	HAULI_RING_FREE,
	HAULI_RING_HELD, /* a thief or the owner has it */
	/* free, and the owner opens by the slow path: items were stolen, or the ring is fenced */
	HAULI_RING_FREE_SLOW,
};

typedef _Atomic(void *) hauli_ring_slot;

struct hauli_ring {
	HAULI_LINE _Atomic uint32_t head; /* next to pop. Owner */
	_Atomic uint32_t claim; /* head, or head + 1 within a pop. Owner */
	_Atomic uint32_t limit; /* pops take slots below it. Owner opens, thieves close */
	_Atomic uint32_t tail; /* next to fill. Owner */
	_Atomic uint32_t lifo_pushes; /* pushes to the front, ever. Owner */
	_Atomic uint32_t guard; /* enum hauli_ring_guard. All */
	_Atomic uint32_t kept; /* pushes, ever, of items that thieves may not take. Owner */
	_Atomic uint32_t keeping; /* kept, or kept + 1 within such a push. Owner */
	/* pushes less kept, when a thief last found the end. The guard's holder */
	_Atomic uint32_t exhausted_at;
	/* while the ring is fenced, in place of limit. Owner opens, thieves and owner close */
	_Atomic uint32_t fenced_limit;
	/* pushes to the end fail at this depth: HAULI_RING_SIZE, or 0, when the ring is shut.
	 * Owner; where thieves may come, under the guard */
	_Atomic uint32_t capacity;
	uint64_t stolen[HAULI_RING_SIZE / 64]; /* a bit per slot: stolen. The guard's holder */
	/* the ring stays fenced for so many more pops; 0: it is not fenced. The guard's holder */
	_Atomic uint32_t lease;
	uint32_t full_lease; /* after a theft. Constant */
	uint32_t counted; /* pops that the lease includes. Owner */
	HAULI_LINE hauli_ring_slot slots[HAULI_RING_SIZE];
};

HAULI_ASSERT_LINE(struct hauli_ring, slots);
_Static_assert((HAULI_RING_SIZE & (HAULI_RING_SIZE - 1)) == 0, "indices are masked");

void hauli_ring_init(struct hauli_ring *r);

/* Before thieves know the ring: a theft fences it for the next `pops` pops; at least 1. */
static inline void hauli_ring_set_lease(struct hauli_ring *r, uint32_t pops)
{
	r->full_lease = pops;
}

/* Any thread. True: a theft now costs no barrier for others. A guess. */
static inline bool hauli_ring_is_fenced(const struct hauli_ring *r)
{
	return atomic_load_explicit(&r->lease, memory_order_relaxed /* a guess */) != 0;
}

/* Slots between head and tail: the owner's items, and gaps of stolen ones. A guess for others. */
static inline uint32_t hauli_ring_depth(const struct hauli_ring *r)
{
	return atomic_load_explicit(&r->tail, memory_order_relaxed /* own, or a guess */) -
		atomic_load_explicit(&r->head, memory_order_relaxed /* own, or a guess */);
}

/* Any thread but the owner's. The index of the next pop, or of the one after it if a pop is under
 * way. A write of the owner before that pop is visible. */
static inline uint32_t hauli_ring_claimed(const struct hauli_ring *r)
{
	return atomic_load_explicit(&r->claim, memory_order_acquire /* ring.E3:A */);
}

/* Any thread. The number of items behind the pop with index claimed: at least as many as there
 * were when that was read. */
static inline uint32_t hauli_ring_behind(const struct hauli_ring *r, uint32_t claimed)
{
	return atomic_load_explicit(&r->tail, memory_order_relaxed /* a guess */) - claimed;
}

/* Owner. The index of the next pop. */
static inline uint32_t hauli_ring_head(const struct hauli_ring *r)
{
	return atomic_load_explicit(&r->head, memory_order_relaxed /* own */);
}

/* Owner. The index of the next push to the end. */
static inline uint32_t hauli_ring_tail(const struct hauli_ring *r)
{
	return atomic_load_explicit(&r->tail, memory_order_relaxed /* own */);
}

/* The slot of an index. By bytes, or gcc adds the offset of the slots to the index first, by an
 * instruction of its own. */
static inline hauli_ring_slot *hauli_ring_slot_at(struct hauli_ring *r, uint32_t index)
{
	size_t at = index % HAULI_RING_SIZE * sizeof(hauli_ring_slot);

	return (hauli_ring_slot *)((char *)r + at + offsetof(struct hauli_ring, slots));
}

/* Owner, or, where thieves may come, the guard's holder. While the ring is shut, pushes to the end
 * fail: items that were pushed before wait elsewhere. */
static inline void hauli_ring_shut(struct hauli_ring *r, bool shut)
{
	atomic_store_explicit(&r->capacity, shut ? 0 : HAULI_RING_SIZE,
		memory_order_relaxed /* own, or under the guard */);
}

/* Owner. A guess without the guard. */
static inline bool hauli_ring_is_shut(const struct hauli_ring *r)
{
	return atomic_load_explicit(&r->capacity, memory_order_relaxed /* own, or a guess */) == 0;
}

/* Owner. A push in two steps. True if there is room, at *tail, so push_at() may follow: the ring is
 * neither full nor shut. */
static inline bool hauli_ring_has_room(const struct hauli_ring *r, uint32_t *tail)
{
	uint32_t head = atomic_load_explicit(&r->head, memory_order_relaxed /* own */);

	*tail = atomic_load_explicit(&r->tail, memory_order_relaxed /* own */);
	return *tail - head <
		atomic_load_explicit(&r->capacity, memory_order_relaxed /* own, or a guess */);
}

static inline void hauli_ring_push_at(struct hauli_ring *r, uint32_t tail, void *item)
{
	atomic_store_explicit(
		hauli_ring_slot_at(r, tail), item, memory_order_relaxed /* published by ring.E1 */);
	atomic_store_explicit(&r->tail, tail + 1, memory_order_release /* ring.E1:R */);
}

/* Owner. False: the ring is full, or shut. */
static inline bool hauli_ring_push(struct hauli_ring *r, void *item)
{
	uint32_t tail;

	if (hauli_unlikely(!hauli_ring_has_room(r, &tail)))
		return false;
	hauli_ring_push_at(r, tail, item);
	return true;
}

/* Owner. The number of free slots. */
static inline uint32_t hauli_ring_room(const struct hauli_ring *r)
{
	return HAULI_RING_SIZE - hauli_ring_depth(r);
}

/* Owner. To push many at once: set() the slots behind the tail, from first() on, and then add()
 * them. straight() of them are consecutive in memory, and the others begin at slots(); in all at
 * most hauli_ring_room(). */
static inline uint32_t hauli_ring_straight(const struct hauli_ring *r)
{
	uint32_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed /* own */);

	return HAULI_RING_SIZE - tail % HAULI_RING_SIZE;
}

static inline hauli_ring_slot *hauli_ring_first(struct hauli_ring *r)
{
	uint32_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed /* own */);

	return hauli_ring_slot_at(r, tail);
}

static inline hauli_ring_slot *hauli_ring_slots(struct hauli_ring *r)
{
	return r->slots;
}

static inline void hauli_ring_set(hauli_ring_slot *slot, void *item)
{
	atomic_store_explicit(slot, item, memory_order_relaxed /* published by ring.E1 */);
}

static inline void hauli_ring_add(struct hauli_ring *r, uint32_t n)
{
	uint32_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed /* own */);

	atomic_store_explicit(&r->tail, tail + n, memory_order_release /* ring.E1:R */);
}

/* Owner. Pushes before all other items. False: the ring is full. */
static inline bool hauli_ring_push_front(struct hauli_ring *r, void *item)
{
	uint32_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed /* own */);
	uint32_t head = atomic_load_explicit(&r->head, memory_order_relaxed /* own */);
	uint32_t lifo_pushes =
		atomic_load_explicit(&r->lifo_pushes, memory_order_relaxed /* own */);

	if (hauli_unlikely(tail - head == HAULI_RING_SIZE))
		return false;
	atomic_store_explicit(hauli_ring_slot_at(r, head - 1), item,
		memory_order_relaxed /* published by ring.E1 */);
	atomic_store_explicit(&r->head, head - 1, memory_order_release /* ring.E1:R */);
	atomic_store_explicit(&r->claim, head - 1, memory_order_release /* ring.E3:R */);
	atomic_store_explicit(
		&r->lifo_pushes, lifo_pushes + 1, memory_order_release /* ring.E1:R */);
	return true;
}

/* Owner, where there are no thieves. Counts as a push to the front and the pop of it. */
static inline void hauli_ring_passed(struct hauli_ring *r)
{
	uint32_t lifo_pushes =
		atomic_load_explicit(&r->lifo_pushes, memory_order_relaxed /* own */);

	atomic_store_explicit(&r->lifo_pushes, lifo_pushes + 1, memory_order_relaxed /* own */);
}

/* The same for a push to the end and the pop of it: true if the ring is empty and not shut, and the
 * batch goes on. */
static inline bool hauli_ring_pass_last(struct hauli_ring *r)
{
	uint32_t head = atomic_load_explicit(&r->head, memory_order_relaxed /* own */);
	uint32_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed /* own */);
	uint32_t limit = atomic_load_explicit(&r->limit, memory_order_relaxed /* own */);

	if (head != tail || hauli_ring_is_shut(r) || (int32_t)(limit - head) <= 0)
		return false;
	atomic_store_explicit(&r->limit, limit - 1, memory_order_relaxed /* own */);
	hauli_ring_passed(r);
	return true;
}

/* Owner. The number of pushes so far, modulo 2^32. */
static inline uint32_t hauli_ring_pushed(const struct hauli_ring *r)
{
	return atomic_load_explicit(&r->tail, memory_order_relaxed /* own */) +
		atomic_load_explicit(&r->lifo_pushes, memory_order_relaxed /* own */);
}

/* Owner. keep() comes before the push of an item that thieves may not take, has_kept() after it, so
 * that no thief comes for it. pushed: true if the push succeeded. */
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

/* hauli_ring_open() when the guard is not FREE: waits for the thief, closes the gaps, and ends or
 * continues the fencing. */
void hauli_ring_open_slow(struct hauli_ring *r, uint32_t n);

/* Owner. Begins a batch: the next n pops succeed as long as there are items. */
static inline void hauli_ring_open(struct hauli_ring *r, uint32_t n)
{
	atomic_store_explicit(
		&r->limit, hauli_ring_head(r) + n, memory_order_relaxed /* fence.E1 */);
	hauli_fence_light();
	/* FREE is the owner's own store, or that of a thief that gave up: nothing to acquire. */
	if (hauli_unlikely(atomic_load_explicit(&r->guard, memory_order_relaxed /* fence.E1 */) !=
		    HAULI_RING_FREE))
		hauli_ring_open_slow(r, n);
}

/* As hauli_ring_open(), for a ring without thieves. */
static inline void hauli_ring_open_unshared(struct hauli_ring *r, uint32_t n)
{
	atomic_store_explicit(&r->limit, hauli_ring_head(r) + n, memory_order_relaxed /* own */);
}

#define HAULI_RING_FAR (UINT32_C(1) << 30)

/* Owner. Ends the batch: all pops fail until the next open, also after pushes. */
static inline void hauli_ring_close(struct hauli_ring *r)
{
	uint32_t closed = hauli_ring_head(r) - HAULI_RING_FAR;

	atomic_store_explicit(&r->limit, closed, memory_order_relaxed /* as a thief does */);
	atomic_store_explicit(&r->fenced_limit, closed, memory_order_relaxed /* as a thief does */);
}

/* As hauli_ring_close(), for a ring without thieves. */
static inline void hauli_ring_close_unshared(struct hauli_ring *r)
{
	atomic_store_explicit(
		&r->limit, hauli_ring_head(r) - HAULI_RING_FAR, memory_order_relaxed /* own */);
}

/* Any thread. True: a batch is under way. A guess. */
static inline bool hauli_ring_is_open(const struct hauli_ring *r)
{
	uint32_t limit = atomic_load_explicit(&r->limit, memory_order_relaxed /* a guess */);
	uint32_t fenced =
		atomic_load_explicit(&r->fenced_limit, memory_order_relaxed /* a guess */);
	uint32_t head = atomic_load_explicit(&r->head, memory_order_relaxed /* a guess */);
	int32_t far = -(int32_t)(HAULI_RING_FAR / 2);

	return (int32_t)(limit - head) > far || (int32_t)(fenced - head) > far;
}

/* Owner, amid a pop that has claimed and found the limit closed. True: the ring is fenced, and a
 * batch is under way. */
static inline bool hauli_ring_may_pop_fenced(const struct hauli_ring *r, uint32_t head)
{
	uint32_t limit = atomic_load_explicit(&r->fenced_limit, memory_order_relaxed /* a guess */);

	if (hauli_likely((int32_t)(limit - head) <= 0))
		return false;
	hauli_fence_full();
	limit = atomic_load_explicit(&r->fenced_limit, memory_order_relaxed /* fence.E1 */);
	return (int32_t)(limit - head) > 0;
}

/* Items behind one that was popped, to be prefetched. Not set unless many: of HAULI_RING_FEW items,
 * with the one that was popped, all were used a moment ago. */
struct hauli_ring_ahead {
	bool many;
	void *second, *fourth;
};
#define HAULI_RING_FEW 4u

/* Owner. Takes the oldest item; NULL: the batch is over, or the ring is empty. ahead may be
 * NULL. */
static inline void *hauli_ring_pop(struct hauli_ring *r, struct hauli_ring_ahead *ahead)
{
	uint32_t head = atomic_load_explicit(&r->head, memory_order_relaxed /* own */);
	uint32_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed /* own */);
	uint32_t limit, depth = tail - head;
	void *item;

	atomic_store_explicit(
		&r->claim, head + 1, memory_order_release /* ring.E3:R, and fence.E1 */);
	hauli_fence_light();
	limit = atomic_load_explicit(&r->limit, memory_order_relaxed /* fence.E1 */);
	/* The last test is that of one sign bit. */
	if (hauli_unlikely(depth == 0) ||
		(hauli_unlikely((int32_t)(head - limit) >= 0) &&
			!hauli_ring_may_pop_fenced(r, head))) {
		atomic_store_explicit(&r->claim, head, memory_order_release /* ring.E3:R */);
		return NULL;
	}
	atomic_store_explicit(&r->head, head + 1, memory_order_relaxed /* the claim: ring.E3 */);
	if (ahead)
		ahead->many = depth > HAULI_RING_FEW;
	if (ahead && ahead->many) {
		struct hauli_ring *same = r;

		/* Else gcc computes addresses for this in either case. */
		__asm__("" : "+r"(head), "+r"(same));
		ahead->second = atomic_load_explicit(
			hauli_ring_slot_at(same, head + 1), memory_order_relaxed /* a hint */);
		ahead->fourth = atomic_load_explicit(
			hauli_ring_slot_at(same, head + 3), memory_order_relaxed /* a hint */);
	}
	item = atomic_load_explicit(hauli_ring_slot_at(r, head), memory_order_relaxed /* own */);
	if (!item)
		__builtin_unreachable();
	return item;
}

/* As hauli_ring_pop(), for a ring without thieves, and without prefetching. */
static inline void *hauli_ring_pop_unshared(struct hauli_ring *r)
{
	uint32_t head = atomic_load_explicit(&r->head, memory_order_relaxed /* own */);
	uint32_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed /* own */);
	uint32_t limit = atomic_load_explicit(&r->limit, memory_order_relaxed /* own */);
	void *item;

	/* The last test is that of one sign bit. */
	if (hauli_unlikely(tail == head) || hauli_unlikely((int32_t)(head - limit) >= 0))
		return NULL;
	atomic_store_explicit(&r->head, head + 1, memory_order_relaxed /* own */);
	item = atomic_load_explicit(hauli_ring_slot_at(r, head), memory_order_relaxed /* own */);
	if (!item)
		__builtin_unreachable();
	return item;
}

/* Owner. The difference of two calls is the number of pops in between. */
static inline uint32_t hauli_ring_popped(const struct hauli_ring *r)
{
	return atomic_load_explicit(&r->head, memory_order_relaxed /* own */) +
		atomic_load_explicit(&r->lifo_pushes, memory_order_relaxed /* own */);
}

/*
 * Any thread but the owner's. Takes the guard and stops the owner's pops. False, without waiting:
 * another thread has the guard, or the owner is about to pop or to open. After true the thief must
 * call hauli_ring_end_steal().
 */
bool hauli_ring_try_steal(struct hauli_ring *r);

/* Thief, after try_steal. Takes the oldest item for which may() returns true, or NULL. */
void *hauli_ring_steal(struct hauli_ring *r, bool (*may)(const void *item));

void hauli_ring_end_steal(struct hauli_ring *r);

/* Any thread. True: there may be items that thieves may take and have not seen; a guess. False is
 * exact, except for a push under way. */
static inline bool hauli_ring_has_stealable(const struct hauli_ring *r)
{
	/* In this order, so that each push that counts as kept is counted as a push. */
	uint32_t kept = atomic_load_explicit(&r->kept, memory_order_acquire /* ring.E4:A */);
	uint32_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed /* ring.E4 */);
	uint32_t lifo_pushes =
		atomic_load_explicit(&r->lifo_pushes, memory_order_relaxed /* ring.E4 */);

	return tail + lifo_pushes - kept !=
		atomic_load_explicit(&r->exhausted_at, memory_order_relaxed /* a guess */);
}

/* Owner. Takes and frees the guard, which protects more than the ring (runq.c). hold() waits
 * while a thief has it. */
void hauli_ring_hold(struct hauli_ring *r);
void hauli_ring_release(struct hauli_ring *r);

#endif
