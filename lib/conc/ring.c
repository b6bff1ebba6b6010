/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Promise: each pushed item is handed out once, to the owner or to a thief, each of which gets the
 * oldest first; the owner uses plain loads and stores only, except for some time after a theft.
 *
 * The indices run freely and are masked on use. The owner alone writes slots, tail (push), and head
 * (pop, push_front). Pops are allowed below the limit, which the owner opens for a batch of pops
 * and a thief closes by a value far behind the head. A thief does not move the head: it marks slots
 * as stolen, and the owner closes the gaps before it opens the next batch.
 *
 *	word          written by              meaning
 *	slots         owner                   the items, from head to tail
 *	head          owner                   next to pop
 *	claim         owner                   head, or head + 1 within a pop
 *	tail          owner                   next to fill
 *	limit         owner: open, close;     pops below it only
 *	              thief: close
 *	fenced_limit  the same                the limit of pops that pass a barrier
 *	lease         holder of the guard     > 0: the ring is fenced, for so many more pops
 *	lifo_pushes   owner                   pushes to the front
 *	kept          owner                   pushes of items that thieves may not take
 *	keeping       owner                   kept, or kept + 1 within such a push
 *	guard         all                     FREE -> HELD -> FREE or FREE_SLOW;
 *	                                      FREE_SLOW -> HELD
 *	stolen        holder of the guard     slots from head to tail whose items were stolen
 *	exhausted_at  holder of the guard     pushes less kept, when a thief found the end
 *
 *	            owner: pop                  owner: open               thief
 *	thief       the fence, below            the fence and the guard   the guard
 *	owner       the same thread             the same thread
 *
 * This is the conflict of the THE protocol (M. Frigo, C. E. Leiserson, K. H. Randall, "The
 * implementation of the Cilk-5 multithreaded language", PLDI 1998, section 5), between the head and
 * a limit in place of the tail, and with the owner's barrier made asymmetric (conc/fence.h):
 *
 *	owner: pop                      thief: try_steal
 *	store claim = head + 1          store limit = closed
 *	light fence                     heavy fence
 *	load limit: closed? give the    load claim: not the head? give up
 *	claim back and fail
 *	store head = head + 1
 *
 *	If the pop loads the limit before the thief's barrier, the thief sees its claim: the popped
 *	    item lies before the claim.
 *	If it loads the limit after the barrier, it sees the limit closed, gives its claim back and
 *	    fails.
 *
 * While the claim is not the head the thief cannot tell the two cases apart, and gives up. If they
 * are equal, no pop has an item that the thief may take, and the thief passes over no item that the
 * owner will pop later: without the theft the owner would have popped the stolen item before all
 * that are left, but for those that may not be stolen. sched/wait/order.c builds on that.
 *
 * An open is the same conflict: the owner stores the limit, then loads the guard; a thief takes the
 * guard, closes the limit, passes the barrier, and loads the limit again. If it is not closed, the
 * owner was about to open, and the thief gives up. If it is closed, an owner that loads the guard
 * later finds it held, and waits; an owner that loaded it before finds its own limit overwritten.
 * The owner waits until it has the guard itself, and opens before it frees it. So it waits for the
 * one thief that has the guard, and for another one only if that is faster to take it.
 *
 * Pushes need no order against thieves but E1, also if one store of tail publishes many slots. They
 * fill slots beyond the tail, or before the head, that a thief has not seen. The head moves forward
 * only after all gaps are closed, and the ring is full at 256 slots from it, so no slot that a
 * thief reads is filled again. A push to the front cannot open a closed limit, which is 2^30
 * behind.
 *
 * The heavy fence interrupts every CPU that runs a thread of the process. So a theft fences the
 * ring: from now on each pop passes a full barrier of its own, and thieves need no heavy fence.
 * The owner ends this when it has spent as much on its barriers as a heavy fence costs (design
 * 0012). The owner's path without thieves stays as it was: the limit of a fenced ring is closed, so
 * the pop comes to fenced_limit where it would have failed.
 *
 *	owner: pop, ring fenced         thief: try_steal, ring fenced
 *	store claim = head + 1          store fenced_limit = closed
 *	load limit: closed              full fence
 *	load fenced_limit: closed?      load claim: not the head? give up
 *	    fail
 *	full fence
 *	load fenced_limit: closed?
 *	    give the claim back and fail
 *	store head = head + 1
 *
 *	Either the pop loads the closed limit, or the thief sees its claim: the same argument as
 *	above, with a full fence on both sides.
 *
 * Whether the ring is fenced changes under the guard only, so a thief knows what the owner does:
 *
 *	fenced: by a thief, when it has passed the heavy fence and found the limit closed. Then no
 *	    batch without barriers is under way, and the owner's next open finds the guard HELD or
 *	    FREE_SLOW: a fenced ring is never FREE. So its next batch is opened under the guard,
 *	    with fenced_limit. If the limit is not closed, the owner may have opened a batch without
 *	    barriers, and the thief leaves the ring as it is.
 *	no longer fenced: by the owner, when it opens. The next thief takes the guard after it, and
 *	    passes the heavy fence. No barrier is needed for the change itself.
 *
 * A barrier for the victim's CPU only would be MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ with
 * MEMBARRIER_CMD_FLAG_CPU. It costs each pop a look at the CPU on which it runs, each theft a
 * system call, and relies on a barrier that the manual does not promise: design 0012.
 *
 *	E1  the owner's writes to an item and its slot before a thief's use: release store of tail
 *	    or head in push and push_front, acquire load in steal. For a head that a pop stored E3
 *	    does: the thief has seen the claim of that pop, or a later one.
 *	E2  the accesses of a holder of the guard before the next holder's, also those to lease and
 *	    fenced_limit: release store when it frees the guard, acquire CAS. So the owner needs no
 *	    release in close_gaps: a thief that sees its stores has taken the guard after it. And a
 *	    thief's reads of an item that it passed over, before the owner's use of that item: the
 *	    owner's next open takes the guard, too, since a theft leaves it HELD or FREE_SLOW.
 *	E3  the owner's stores before a claim (an older head, the pushes of items),
 *	    before the reads of a thief that sees that claim: release store of claim in pop and
 *	    push_front, acquire load in try_steal.
 *
 * No thief comes for items that it may not take: only pushes of other items count, and a thief that
 * has found the end stores the count up to which it has seen them all. During the push of a kept
 * item the two sides count differently. A searcher does not count it as kept yet, and may come for
 * nothing. A thief does, and may store a count that is one too small, so that a thief comes again.
 * So an item that no thief has seen, which adds one to the count, never passes for a seen one.
 *
 *	E4  a push before it counts as kept: release in has_kept, acquire in has_stealable. keeping
 *	    is stored before the push: E1.
 *
 * Model: tests/model/ring.c, ring_thieves.c, ring_fenced.c, ring_fence_begins.c, ring_fence_ends.c,
 * ring_stealable.c, ring_front.c, runq_stealable.c.
 * Stress: tests/stress/ring.c.
 */
#include "conc/ring.h"

#include <sched.h>
#include <string.h>

#define DEFAULT_LEASE 512

void hauli_ring_init(struct hauli_ring *r)
{
	memset(r, 0, sizeof(*r));
	r->full_lease = DEFAULT_LEASE;
	atomic_init(&r->capacity, HAULI_RING_SIZE);
	atomic_init(&r->limit, 0u - HAULI_RING_FAR);
	atomic_init(&r->fenced_limit, 0u - HAULI_RING_FAR);
}

static bool is_stolen(const struct hauli_ring *r, uint32_t index)
{
	uint32_t slot = index % HAULI_RING_SIZE;

	return r->stolen[slot / 64] >> (slot % 64) & 1;
}

static bool has_gaps(const struct hauli_ring *r)
{
	for (unsigned i = 0; i < HAULI_RING_SIZE / 64; i++)
		if (r->stolen[i])
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
		/* The thief that has it may have been preempted. */
		if (atomic_load_explicit(&r->guard, memory_order_relaxed /* try_hold follows */) ==
			HAULI_RING_HELD)
			sched_yield();
}

void hauli_ring_release(struct hauli_ring *r)
{
	atomic_store_explicit(&r->guard,
		has_gaps(r) || hauli_ring_is_fenced(r) ? HAULI_RING_FREE_SLOW : HAULI_RING_FREE,
		memory_order_release /* ring.E2:R */);
}

static void set_lease(struct hauli_ring *r, uint32_t pops)
{
	atomic_store_explicit(&r->lease, pops, memory_order_relaxed /* the guard: ring.E2 */);
}

/* Moves the items that are left up to the tail. The owner has the guard. */
static void close_gaps(struct hauli_ring *r)
{
	uint32_t head = atomic_load_explicit(&r->head, memory_order_relaxed /* own */);
	uint32_t from = atomic_load_explicit(&r->tail, memory_order_relaxed /* own */);
	uint32_t to = from;

	while (from-- != head) {
		if (is_stolen(r, from))
			continue;
		if (--to == from)
			continue;
		atomic_store_explicit(&r->slots[to % HAULI_RING_SIZE],
			atomic_load_explicit(
				&r->slots[from % HAULI_RING_SIZE], memory_order_relaxed /* own */),
			memory_order_relaxed /* the guard: ring.E2 */);
	}
	memset(r->stolen, 0, sizeof(r->stolen));
	atomic_store_explicit(&r->head, to, memory_order_relaxed /* the guard: ring.E2 */);
	atomic_store_explicit(&r->claim, to, memory_order_relaxed /* the guard: ring.E2 */);
}

/* Takes the pops since the last time, and this open, from the lease. The owner has the guard. */
static void shorten_lease(struct hauli_ring *r)
{
	uint32_t lease = atomic_load_explicit(&r->lease, memory_order_relaxed /* ring.E2 */);
	uint32_t popped = hauli_ring_popped(r);
	uint32_t used = popped - r->counted + 1;

	r->counted = popped;
	set_lease(r, used < lease ? lease - used : 0);
}

void hauli_ring_open_slow(struct hauli_ring *r, uint32_t n)
{
	uint32_t open, closed;

	hauli_ring_hold(r);
	shorten_lease(r);
	if (has_gaps(r))
		close_gaps(r);
	r->counted = hauli_ring_popped(r);
	open = hauli_ring_head(r) + n;
	closed = hauli_ring_head(r) - HAULI_RING_FAR;
	if (hauli_ring_is_fenced(r)) {
		atomic_store_explicit(&r->limit, closed, memory_order_relaxed /* the guard */);
		atomic_store_explicit(&r->fenced_limit, open, memory_order_relaxed /* the guard */);
	} else {
		atomic_store_explicit(
			&r->fenced_limit, closed, memory_order_relaxed /* the guard */);
		atomic_store_explicit(&r->limit, open, memory_order_relaxed /* the guard */);
	}
	hauli_ring_release(r);
}

/* Stops the owner's pops. The thief has the guard. False: the owner is about to open. */
static bool try_close(struct hauli_ring *r)
{
	uint32_t closed = hauli_ring_head(r) - HAULI_RING_FAR;

	if (hauli_ring_is_fenced(r)) {
		atomic_store_explicit(
			&r->fenced_limit, closed, memory_order_relaxed /* fence.E1 */);
		hauli_fence_full();
		return true;
	}
	atomic_store_explicit(&r->limit, closed, memory_order_relaxed /* fence.E1 */);
	hauli_fence_heavy();
	return atomic_load_explicit(&r->limit, memory_order_relaxed /* fence.E1 */) == closed;
}

bool hauli_ring_try_steal(struct hauli_ring *r)
{
	if (!try_hold(r))
		return false;
	if (try_close(r)) {
		uint32_t claim =
			atomic_load_explicit(&r->claim, memory_order_acquire /* ring.E3:A */);

		set_lease(r, r->full_lease);
		if (hauli_ring_head(r) == claim)
			return true;
	}
	hauli_ring_release(r);
	return false;
}

void *hauli_ring_steal(struct hauli_ring *r, bool (*may)(const void *item))
{
	uint32_t lifo_pushes =
		atomic_load_explicit(&r->lifo_pushes, memory_order_acquire /* ring.E1:A */);
	uint32_t tail = atomic_load_explicit(&r->tail, memory_order_acquire /* ring.E1:A */);
	uint32_t head = atomic_load_explicit(&r->head, memory_order_acquire /* ring.E1:A */);
	uint32_t kept = atomic_load_explicit(&r->keeping, memory_order_relaxed /* ring.E1 */);

	for (uint32_t i = head; (int32_t)(tail - i) > 0; i++) {
		uint32_t slot = i % HAULI_RING_SIZE;
		void *item;

		if (is_stolen(r, i))
			continue;
		item = atomic_load_explicit(&r->slots[slot], memory_order_relaxed /* ring.E1 */);
		if (!may(item))
			continue;
		r->stolen[slot / 64] |= UINT64_C(1) << (slot % 64);
		return item;
	}
	atomic_store_explicit(&r->exhausted_at, tail + lifo_pushes - kept,
		memory_order_relaxed /* read as a guess */);
	return NULL;
}

void hauli_ring_end_steal(struct hauli_ring *r)
{
	hauli_ring_release(r);
}
