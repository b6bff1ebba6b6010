/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The run queue of a carrier: a ring of 256 and a backlog behind it, first in, first out, except
 * for the LIFO slot at the front of the ring. The owner pops in batches. Thieves may take from the
 * ring at any time, and from the backlog if the ring has nothing for them.
 *
 * The backlog is made of blocks of pointers, and not a list of coroutines, so that coroutines far
 * behind the head can be prefetched. It grows and shrinks by a block, so no push takes long. Its
 * address space is reserved once, for the maximum number of coroutines of a carrier, so a push
 * never fails; memory is used as it fills. A thief leaves a hole where it has taken an entry, so
 * the rest keeps its order. The stealable entries are counted, so no thief comes if there are only
 * others.
 *
 * Coroutines that have used up their time (haul_maybe_yield()) wait in a second backlog: the long
 * ones. One at a time is in the ring, at its front, and its slice ends the batch. Before the next
 * one goes there the others have a batch, also those that a poll brings meanwhile. So however many
 * there are, the others wait for one.
 *
 * Where no thieves come, a spawn finds by one compare that the ring has room: its tail is before
 * `until`. This is set at the end of each batch, from the head, and stays right until the next one:
 * the head only grows, but for one push to the front at a time (lifo_at). If the ring is shut
 * meanwhile it is full, so its tail is not before `until`.
 */
#ifndef HAULI_SCHED_STATE_RUNQ_H
#define HAULI_SCHED_STATE_RUNQ_H

#include "base/race.h"
#include "conc/ring.h"
#include "sched/state/entry.h"

#define HAULI_RUNQ_MAX (1u << 24) /* coroutines of one carrier */
#define HAULI_RUNQ_BLOCK 2048u /* entries of a block: 16 KiB */

struct hauli_backlog {
	/* Entries (entry.h); where thieves may come, with a tag bit, and 0 for a hole. Block i has
	 * the entries from i * HAULI_RUNQ_BLOCK; the table is indexed modulo its size. */
	uintptr_t **blocks;
	uintptr_t *memory; /* of all blocks */
	/* free blocks that were in use before, linked through their first word */
	uintptr_t *unused;
	uint32_t fresh; /* number of blocks that have ever been in use: the first ones of memory */
	struct hauli_u64_owned head, tail; /* free-running; read by any thread */
	/* where thieves may come: the number of stealable entries; read by any thread */
	struct hauli_u64_owned loose;
	uint64_t passed; /* thieves have passed the entries before this index: none is stealable */
	uintptr_t *next; /* where the next entry goes, if it does not begin a block */
};

/* Whether the owner begins its next batch with a long one or with the others. */
enum hauli_first {
	HAULI_FIRST_ANY, /* a long one may go to the front */
	HAULI_FIRST_LONG, /* one is there */
	HAULI_FIRST_OTHERS, /* it has run, and others are to have a batch */
};

struct hauli_runq {
	struct hauli_ring ring; /* shut while the backlog is not empty */
	uint32_t lifo_at; /* the head right after the last push into the LIFO slot */
	uint32_t lifo_left; /* pushes that will take the LIFO slot before one goes to the end */
	/* spawns push to the ring while its tail is before this */
	uint32_t until;
	uint32_t room; /* so far behind the head: HAULI_RUNQ_ROOM, or HAULI_RUNQ_NONE */
	/* By slot of the ring (entry.h), then those that were put off (record.c); NULL: thieves may
	 * come. Constant */
	struct hauli_call *calls;
	struct hauli_backlog backlog, longs;
	struct hauli_entry *left_long; /* becomes long when the batch is closed */
	uint32_t long_at; /* where the last long one was put into the ring */
	uint8_t first; /* enum hauli_first */
	bool has_long; /* left_long is one, or longs had entries when it was last seen */
	bool shared; /* thieves may come: the backlogs are under the ring's guard */
	bool refuses; /* there is no room for spawns */
};

/* Any thread. The number of entries, holes included. A guess for threads that do not hold the
 * guard. */
static inline uint64_t hauli_backlog_depth(const struct hauli_backlog *b)
{
	return hauli_u64_owned_get(&b->tail) - hauli_u64_owned_get(&b->head);
}

/* Any thread. The number of long ones that are not in the ring, as above. */
static inline uint32_t hauli_runq_longs(const struct hauli_runq *q)
{
	return (uint32_t)hauli_backlog_depth(&q->longs);
}

/* Any thread. True if a thief may find coroutines in the ring or the backlog. */
static inline bool hauli_runq_has_stealable(const struct hauli_runq *q)
{
	return hauli_ring_has_stealable(&q->ring) || hauli_u64_owned_get(&q->backlog.loose) > 0 ||
		hauli_u64_owned_get(&q->longs.loose) > 0;
}

#define HAULI_LIFO_RUN 3u /* of four pushes that find the LIFO slot empty three take it */

#define HAULI_RUNQ_ROOM (HAULI_RING_SIZE - 1) /* without the slot of a push to the front */
#define HAULI_RUNQ_NONE (-HAULI_RING_FAR)

/* Owner. The head has moved. */
static inline void hauli_runq_set_room(struct hauli_runq *q)
{
	q->until = hauli_ring_head(&q->ring) + q->room;
}

/* Owner. The room of spawns has changed. */
void hauli_runq_change_room(struct hauli_runq *q);

/* Owner. refuses: from now on there is no room for spawns. */
static inline void hauli_runq_refuse(struct hauli_runq *q, bool refuses)
{
	q->refuses = refuses;
	hauli_runq_change_room(q);
}

/* Owner. True if there is room for a spawn, at *tail of the ring, so hauli_ring_push_at() may
 * follow. Where thieves may come there is none. */
static inline bool hauli_runq_has_room(const struct hauli_runq *q, uint32_t *tail)
{
	*tail = hauli_ring_tail(&q->ring);
	return hauli_likely((int32_t)(*tail - q->until) < 0);
}

/* 0 or -ENOMEM. */
int hauli_runq_init(struct hauli_runq *q);
void hauli_runq_fini(struct hauli_runq *q);

void hauli_backlog_push(struct hauli_runq *q, struct hauli_entry *entry);

/* The part of hauli_runq_push_records() for records that do not fit into the ring. */
void hauli_runq_push_one_by_one(struct hauli_runq *q, const struct hauli_prototype *prototype,
	void *const objs[], ptrdiff_t at, unsigned n);

/* Thief, after hauli_ring_try_steal(). Takes the oldest coroutine for which may() is true, or
 * returns NULL. */
struct hauli_entry *hauli_runq_steal(struct hauli_runq *q, bool (*may)(const void *item));

/* Moves coroutines from the backlog to the ring until that is full. Where thieves may come, it
 * leaves room for pushes to the front. */
void hauli_runq_refill(struct hauli_runq *q);

static inline void hauli_runq_push(struct hauli_runq *q, struct hauli_entry *entry)
{
	if (hauli_unlikely(!hauli_ring_push(&q->ring, entry)))
		hauli_backlog_push(q, entry);
}

/* Sets n consecutive slots to the records of n objects. */
static inline void hauli_runq_fill(hauli_ring_slot *slots, const struct hauli_prototype *prototype,
	void *const objs[], ptrdiff_t at, unsigned n)
{
	uintptr_t marked = (uintptr_t)at + HAULI_ENTRY_RECORD; /* one addition for both */

#pragma GCC unroll 4
	for (unsigned i = 0; i < n; i++) {
		char *obj = objs[i];

		((struct hauli_record *)(obj + at))->prototype = prototype;
		hauli_ring_set(&slots[i], (void *)((uintptr_t)obj + marked));
	}
}

/* Pushes the records of n objects, each `at` bytes behind the beginning of its object. */
static inline void hauli_runq_push_records(struct hauli_runq *q,
	const struct hauli_prototype *prototype, void *const objs[], ptrdiff_t at, unsigned n)
{
	uint32_t straight = hauli_ring_straight(&q->ring);

	if (hauli_unlikely(hauli_ring_room(&q->ring) < n) ||
		hauli_unlikely(hauli_ring_is_shut(&q->ring))) {
		hauli_runq_push_one_by_one(q, prototype, objs, at, n);
		return;
	}
	hauli_runq_fill(
		hauli_ring_first(&q->ring), prototype, objs, at, straight < n ? straight : n);
	if (hauli_unlikely(straight < n))
		hauli_runq_fill(
			hauli_ring_slots(&q->ring), prototype, objs + straight, at, n - straight);
	hauli_ring_add(&q->ring, n);
}

/*
 * As hauli_runq_push(), into the LIFO slot at the front. If a coroutine is there already, and every
 * fourth time, the push goes to the end.
 */
static inline void hauli_runq_push_lifo(struct hauli_runq *q, struct hauli_entry *entry)
{
	uint32_t head = hauli_ring_head(&q->ring);

	if (hauli_likely(head != q->lifo_at)) {
		if (hauli_unlikely(q->lifo_left == 0)) {
			q->lifo_left = HAULI_LIFO_RUN;
		} else {
			q->lifo_left--;
			if (hauli_likely(hauli_ring_push_front(&q->ring, entry))) {
				q->lifo_at = head - 1;
				return;
			}
		}
	}
	hauli_runq_push(q, entry);
}

/* The part of hauli_runq_pass_lifo() for a push that goes to the end: that of an empty ring. */
bool hauli_runq_pass_last(struct hauli_runq *q);

/*
 * Owner, within a batch, where there are no thieves. True: hauli_runq_push_lifo() would put a
 * coroutine into the LIFO slot, so the next pop would return it. The caller runs it in place of
 * both, and this counts as both. (If the ring is full the push would put it to the end, but here
 * it needs no room.)
 */
static inline bool hauli_runq_pass_lifo(struct hauli_runq *q)
{
	if (hauli_unlikely(hauli_ring_head(&q->ring) == q->lifo_at))
		return false;
	if (hauli_unlikely((int32_t)--q->lifo_left < 0))
		return hauli_runq_pass_last(q);
	hauli_ring_passed(&q->ring);
	return true;
}

/* The same, to the front in every case; to the end only if the ring is full. */
static inline void hauli_runq_push_first(struct hauli_runq *q, struct hauli_entry *entry)
{
	if (hauli_unlikely(!hauli_ring_push_front(&q->ring, entry)))
		hauli_runq_push(q, entry);
}

typedef void hauli_runq_push_fn(struct hauli_runq *q, struct hauli_entry *entry);

/* Any of these three pushes, for a coroutine that thieves may not take. */
void hauli_runq_push_pinned(
	struct hauli_runq *q, struct hauli_entry *entry, hauli_runq_push_fn *push);

/* Refills the ring from the backlog. Called at least once in 192 pops, so that the ring does not
 * run empty while there is a backlog. */
static inline void hauli_runq_top_up(struct hauli_runq *q)
{
	if (hauli_unlikely(hauli_ring_is_shut(&q->ring)))
		hauli_runq_refill(q);
}

/* The ring: there may be long ones. */
static inline bool hauli_runq_is_empty(const struct hauli_runq *q)
{
	return hauli_ring_depth(&q->ring) == 0;
}

/*
 * With many coroutines each context is a cache miss. So this prefetches the first line of `far`,
 * and of `near`, which is sooner in turn and whose first line has arrived, the frames just above
 * the stack pointer, which the switch to it reads. A thief may run `near` by now, or it may have
 * ended: its memory stays mapped, and the stack pointer is used for prefetching only. The memory of
 * a record may be gone, so that is not read.
 */
HAULI_MAY_RACE static inline void hauli_runq_prefetch(
	const struct hauli_entry *near, const struct hauli_entry *far)
{
	const char *sp;

	HAULI_RACES(near);
	__builtin_prefetch(far, 1);
	if (hauli_unlikely(hauli_entry_is_record(near)))
		return;
	sp = ((const struct haul_coro *)near)->co.ctx.sp;
	__builtin_prefetch(sp, 1);
	__builtin_prefetch(sp + HAULI_CACHE_LINE, 1);
}

/* Owner, between two batches. The entry, which may be NULL, becomes a long one behind the others;
 * then the oldest goes to the front, if a long one may. */
void hauli_runq_push_long(struct hauli_runq *q, struct hauli_entry *entry);

/* The entry, which runs, becomes a long one when the batch is closed: its context is saved then. */
static inline void hauli_runq_leave_long(struct hauli_runq *q, struct hauli_entry *entry)
{
	q->left_long = entry;
	q->has_long = true;
}

/* The part of hauli_runq_close() for long ones. */
void hauli_runq_take_long(struct hauli_runq *q);

/* The part of hauli_runq_fetch_long() if there may be long ones. */
void hauli_runq_take_first_long(struct hauli_runq *q);

/* Between two batches: true if a batch would find something, or there are long ones. */
static inline bool hauli_runq_has_some(const struct hauli_runq *q)
{
	return !hauli_runq_is_empty(q) || hauli_unlikely(q->has_long);
}

/* The ring is empty, after a poll: nobody is to run before the next long one. False: there is
 * none. */
static inline bool hauli_runq_fetch_long(struct hauli_runq *q)
{
	if (hauli_likely(!q->has_long))
		return false;
	hauli_runq_take_first_long(q);
	return !hauli_runq_is_empty(q);
}

/* Begins a batch: the next n pops succeed as long as there are coroutines. */
static inline void hauli_runq_open(struct hauli_runq *q, uint32_t n)
{
	hauli_ring_open(&q->ring, n);
}

/* The same, where there are no thieves. */
static inline void hauli_runq_open_unshared(struct hauli_runq *q, uint32_t n)
{
	hauli_ring_open_unshared(&q->ring, n);
}

/* Ends the batch: pops fail until the next open. Afterwards the ring is not empty while there is a
 * backlog, even if thieves have emptied it. */
static inline void hauli_runq_close(struct hauli_runq *q)
{
	hauli_ring_close(&q->ring);
	hauli_runq_top_up(q);
	if (hauli_unlikely(q->has_long))
		hauli_runq_take_long(q);
	hauli_runq_set_room(q);
}

/* The same, where there are no thieves. */
static inline void hauli_runq_close_unshared(struct hauli_runq *q)
{
	hauli_ring_close_unshared(&q->ring);
	hauli_runq_top_up(q);
	if (hauli_unlikely(q->has_long))
		hauli_runq_take_long(q);
	hauli_runq_set_room(q);
}

/* The next entry of the batch; NULL: the batch has ended. */
static inline struct hauli_entry *hauli_runq_pop(struct hauli_runq *q)
{
	struct hauli_ring_ahead ahead;
	struct hauli_entry *oldest = hauli_ring_pop(&q->ring, &ahead);

	if (hauli_unlikely(!oldest))
		return NULL;
	if (ahead.many)
		hauli_runq_prefetch(ahead.second, ahead.fourth);
	return oldest;
}

/* The same, for a caller that expects records: without prefetching. steals, a constant: thieves may
 * come. */
static inline struct hauli_entry *hauli_runq_pop_record(struct hauli_runq *q, bool steals)
{
	return steals ? hauli_ring_pop(&q->ring, NULL) : hauli_ring_pop_unshared(&q->ring);
}

#endif
