/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Promise: what is pushed is handed out once, to the owner's pop or to a thief's rob, each oldest
 * first; and the owner's way is plain loads and stores.
 *
 * The indices run freely and are masked on use. The owner alone writes slots, tail (push), and head
 * (pop, push_front). Pops are allowed below the limit, which the owner opens for a chain of them
 * and a thief closes by a value far behind the head. A thief does not move the head: it marks slots
 * as robbed, and the owner closes the gaps before it opens the next chain.
 *
 *	word    written by                      meaning
 *	head    owner                           next to pop
 *	claim   owner                           the same, but within a pop one more
 *	tail    owner                           next to fill
 *	limit   owner: open; thief: close       pops below it only
 *	kept    owner                           pushes of what thieves may not take
 *	keeping owner                           the same, but within such a push one more
 *	guard   all                             FREE -> HELD -> FREE or ROBBED; ROBBED -> HELD
 *	robbed  who holds the guard             slots from head to tail that are not there any more
 *
 *	            owner: pop                  owner: open               thief
 *	thief       the fence, below            the fence and the guard   the guard
 *	owner       the same thread             the same thread
 *
 * This is the conflict of the THE protocol (M. Frigo, C. E. Leiserson, K. H. Randall, "The
 * implementation of the Cilk-5 multithreaded language", PLDI 1998, section 5), between the head and
 * a limit in place of the tail, and with the owner's barrier made asymmetric (conc/fence.h). A pop
 * stores its claim, then loads the limit, and moves the head. A thief closes the limit, has
 * everybody pass a barrier, and then loads the claim:
 *
 *	the pop's load came before the barrier: its claim is what the thief sees, and the item lies
 *	    before it;
 *	it came after: it sees the limit closed, takes its claim back and leaves.
 *
 * The thief does not know which it is while the claim is not the head: it gives up. Else no pop has
 * an item that the thief may take, and none is passed over that the owner will pop later: what a
 * thief takes would have been popped before all that it leaves, but for what may not be stolen.
 * sched/order.c builds on that.
 *
 * Opening is the same once more: the owner stores the limit, then loads the guard; a thief takes
 * the guard, closes the limit, passes the barrier, and looks at the limit again. If it is not
 * closed, the owner was about to open: the thief gives up. If it is, then an owner that loads the
 * guard later finds it held and waits; one that has loaded it before finds its own limit
 * overwritten. The owner waits for the guard, so for one thief at most: it opens before it lets go.
 *
 * Pushes need no order against thieves but E1: they fill slots beyond the tail, or before the head,
 * that a thief has not seen; and since the head does not move while slots are robbed, and the ring
 * is full 256 beyond it, no slot that a thief looks at is filled anew. A push to the front never
 * opens a closed limit: that is 2^30 behind.
 *
 *	E1  the owner's writes to an item and its slot before a thief's use: release store of
 *	    tail or head, acquire load in try_rob.
 *	E2  what is done under the guard before what is done under it next: release store in the
 *	    end, acquire in the CAS. And what a thief has read of an item that it passed over,
 *	    before what the owner does with it: acquire load in open.
 *	E3  a head that was stored before a claim is seen by a thief that sees the claim: release
 *	    store in all that store it, acquire load in try_rob.
 *
 * A thief does not come again for items that it may not take: only pushes of other items count, and
 * a thief that has found the end stores the count that it has seen. While the owner pushes an item
 * that it keeps, a searcher does not yet count that as kept, and may come for nothing; the thief
 * does, and may store one too few, so that a thief comes again. So an unseen item, which adds one
 * to the count, is never taken for a seen one.
 *
 *	E4  a push before it counts as kept: release in has_kept, acquire in is_fresh. That it is
 *	    being kept, before the push: E1.
 *
 * Model: tests/model/ring.c, ring_thieves.c, ring_fresh.c, runq_fresh.c.
 * Stress: tests/stress/ring.c.
 */
#include "conc/ring.h"

#include <sched.h>
#include <string.h>

void hauli_ring_init(struct hauli_ring *r, void *filler)
{
	memset(r, 0, sizeof(*r));
	for (unsigned i = 0; i < HAULI_RING_SIZE; i++)
		atomic_init(&r->slots[i], filler);
}

static bool is_robbed(const struct hauli_ring *r, uint32_t index)
{
	uint32_t slot = index % HAULI_RING_SIZE;

	return r->robbed[slot / 64] >> (slot % 64) & 1;
}

static bool has_gaps(const struct hauli_ring *r)
{
	for (unsigned i = 0; i < HAULI_RING_SIZE / 64; i++)
		if (r->robbed[i])
			return true;
	return false;
}

static bool try_hold(struct hauli_ring *r)
{
	uint32_t guard = atomic_load_explicit(&r->guard, memory_order_relaxed /* a guess */);

	return guard != HAULI_RING_HELD &&
		atomic_compare_exchange_strong_explicit(&r->guard, &guard, HAULI_RING_HELD,
			memory_order_acquire /* ring.E2:A */, memory_order_relaxed /* no */);
}

void hauli_ring_hold(struct hauli_ring *r)
{
	while (!try_hold(r))
		/* The thief may have been preempted. */
		if (atomic_load_explicit(&r->guard, memory_order_relaxed /* try_hold follows */) ==
			HAULI_RING_HELD)
			sched_yield();
}

void hauli_ring_release(struct hauli_ring *r)
{
	atomic_store_explicit(&r->guard, has_gaps(r) ? HAULI_RING_ROBBED : HAULI_RING_FREE,
		memory_order_release /* ring.E2:R */);
}

/* Moves what is left up to the tail. */
static void close_gaps(struct hauli_ring *r)
{
	uint32_t head = atomic_load_explicit(&r->head, memory_order_relaxed /* own */);
	uint32_t from = atomic_load_explicit(&r->tail, memory_order_relaxed /* own */);
	uint32_t to = from;

	while (from-- != head) {
		if (is_robbed(r, from))
			continue;
		if (--to == from)
			continue;
		atomic_store_explicit(&r->slots[to % HAULI_RING_SIZE],
			atomic_load_explicit(
				&r->slots[from % HAULI_RING_SIZE], memory_order_relaxed /* own */),
			memory_order_relaxed /* published by ring.E1 */);
	}
	memset(r->robbed, 0, sizeof(r->robbed));
	atomic_store_explicit(&r->head, to, memory_order_release /* ring.E1:R */);
	atomic_store_explicit(&r->claim, to, memory_order_release /* ring.E3:R */);
}

void hauli_ring_open_robbed(struct hauli_ring *r, uint32_t n)
{
	hauli_ring_hold(r);
	close_gaps(r);
	atomic_store_explicit(
		&r->limit, hauli_ring_head(r) + n, memory_order_relaxed /* under the guard */);
	hauli_ring_release(r);
}

bool hauli_ring_try_rob(struct hauli_ring *r)
{
	uint32_t closed, claim;

	if (!try_hold(r))
		return false;
	closed = hauli_ring_head(r) - HAULI_RING_FAR;
	atomic_store_explicit(&r->limit, closed, memory_order_relaxed /* fence.E1 */);
	hauli_fence_heavy();
	claim = atomic_load_explicit(&r->claim, memory_order_acquire /* ring.E3:A */);
	if (atomic_load_explicit(&r->limit, memory_order_relaxed /* fence.E1 */) == closed &&
		hauli_ring_head(r) == claim)
		return true;
	hauli_ring_release(r);
	return false;
}

void *hauli_ring_rob(struct hauli_ring *r, bool (*may)(const void *item))
{
	uint32_t fronted = atomic_load_explicit(&r->fronted, memory_order_acquire /* ring.E1:A */);
	uint32_t tail = atomic_load_explicit(&r->tail, memory_order_acquire /* ring.E1:A */);
	uint32_t head = atomic_load_explicit(&r->head, memory_order_acquire /* ring.E1:A */);
	uint32_t kept = atomic_load_explicit(&r->keeping, memory_order_relaxed /* ring.E1 */);

	for (uint32_t i = head; (int32_t)(tail - i) > 0; i++) {
		uint32_t slot = i % HAULI_RING_SIZE;
		void *item;

		if (is_robbed(r, i))
			continue;
		item = atomic_load_explicit(&r->slots[slot], memory_order_relaxed /* ring.E1 */);
		if (!may(item))
			continue;
		r->robbed[slot / 64] |= UINT64_C(1) << (slot % 64);
		return item;
	}
	atomic_store_explicit(
		&r->seen, tail + fronted - kept, memory_order_relaxed /* read as a guess */);
	return NULL;
}

void hauli_ring_end_rob(struct hauli_ring *r)
{
	hauli_ring_release(r);
}
