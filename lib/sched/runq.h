/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The run queue of one carrier: a ring of 256 and a backlog behind it, oldest first, but that the
 * one that a running coroutine woke last goes to the front. The owner pops in batches; thieves may
 * take from the ring at any time, and from the backlog when the ring has nothing for them.
 *
 * The backlog is an array, not a list, so that what comes next can be prefetched from far. Its
 * address space is reserved once for as many coroutines as a carrier can have, so a push never
 * fails; memory is used as it fills. A thief leaves a hole where it has taken one, so the others
 * keep their order, and how many it may take is counted, so it does not come for the rest.
 */
#ifndef HAULI_SCHED_RUNQ_H
#define HAULI_SCHED_RUNQ_H

#include "conc/ring.h"
#include "sched/coroutine.h"

#define HAULI_RUNQ_MAX (1u << 24) /* coroutines of one carrier */

struct hauli_backlog {
	uintptr_t *slots; /* struct haul_coro; where thieves may come also a tag bit, or 0: taken */
	struct hauli_u64_owned head, tail; /* run freely, masked on use; read by any */
	/* where thieves may come: how many they may take; read by any */
	struct hauli_u64_owned loose;
	uint64_t passed; /* before that there is none that thieves may take */
	uint32_t size; /* a power of two; grows in place */
};

struct hauli_runq {
	struct hauli_ring ring;
	uint32_t lifo_at; /* where in the ring the last one was put to the front */
	uint32_t lifo_count; /* how often one was to go to the front */
	struct hauli_backlog backlog;
	/* the backlog is not empty. Set and cleared under the guard */
	struct hauli_u8_owned behind;
	bool shared; /* thieves may come: the backlog is under the ring's guard */
};

/* Any thread. How many are in it; for who does not hold the guard a guess. */
static inline uint64_t hauli_backlog_depth(const struct hauli_backlog *b)
{
	return hauli_u64_owned_get(&b->tail) - hauli_u64_owned_get(&b->head);
}

/* Any thread. True if there may be coroutines that thieves may take and have not looked at. */
static inline bool hauli_runq_has_stealable(const struct hauli_runq *q)
{
	return hauli_ring_has_stealable(&q->ring) || hauli_u64_owned_get(&q->backlog.loose) > 0;
}

#define HAULI_LIFO_PERIOD 4u

/* 0 or -ENOMEM. */
int hauli_runq_init(struct hauli_runq *q);
void hauli_runq_fini(struct hauli_runq *q);

void hauli_backlog_push(struct hauli_runq *q, struct haul_coro *co);

/* Thief, in the ring (hauli_ring_try_steal()). The oldest that it may have, or NULL. */
struct haul_coro *hauli_runq_steal(struct hauli_runq *q, bool (*may)(const void *item));

/* Moves from the backlog to the ring until that is full, but for what is to go to its front. */
void hauli_runq_refill(struct hauli_runq *q);

static inline void hauli_runq_push(struct hauli_runq *q, struct haul_coro *co)
{
	/* What waits in the backlog is older. */
	if (hauli_unlikely(hauli_u8_owned_get(&q->behind)) ||
		hauli_unlikely(!hauli_ring_push(&q->ring, co)))
		hauli_backlog_push(q, co);
}

/*
 * The same, before all others. But one waits there at most, and every fourth time the others go
 * first.
 */
static inline void hauli_runq_push_lifo(struct hauli_runq *q, struct haul_coro *co)
{
	uint32_t head = hauli_ring_head(&q->ring);

	if (hauli_likely(head != q->lifo_at) &&
		hauli_likely(q->lifo_count++ % HAULI_LIFO_PERIOD != 0) &&
		hauli_likely(hauli_ring_push_front(&q->ring, co)))
		q->lifo_at = head - 1;
	else
		hauli_runq_push(q, co);
}

/* The same, whatever waits there. */
static inline void hauli_runq_push_first(struct hauli_runq *q, struct haul_coro *co)
{
	if (hauli_unlikely(!hauli_ring_push_front(&q->ring, co)))
		hauli_runq_push(q, co);
}

/* Each of these three, for a coroutine that thieves may not take. */
void hauli_runq_push_pinned(struct hauli_runq *q, struct haul_coro *co,
	void (*push)(struct hauli_runq *q, struct haul_coro *co));

/* Keeps the ring filled while there is a backlog; once per at most 192 pops. */
static inline void hauli_runq_top_up(struct hauli_runq *q)
{
	if (hauli_unlikely(hauli_u8_owned_get(&q->behind)))
		hauli_runq_refill(q);
}

static inline bool hauli_runq_is_empty(const struct hauli_runq *q)
{
	return hauli_ring_depth(&q->ring) == 0;
}

/*
 * With many coroutines each one's context is a cache miss: far ahead its first line is fetched, and
 * when that has come, the frames just above its stack pointer that the return will need. A thief
 * may run it by now, or it may be long gone: its slot stays mapped, and nothing follows from what
 * is read.
 */
/* TSan: no race that matters. */
__attribute__((no_sanitize("thread"))) static inline void hauli_runq_prefetch(
	const struct haul_coro *near, const struct haul_coro *far)
{
	const char *sp = near->co.ctx.sp;

	__builtin_prefetch(far, 1);
	__builtin_prefetch(sp, 1);
	__builtin_prefetch(sp + HAULI_CACHE_LINE, 1);
}

/* Begins a batch: lets the next n pops have what is there by then. */
static inline void hauli_runq_open(struct hauli_runq *q, uint32_t n)
{
	hauli_ring_open(&q->ring, n);
}

/* The same, where there are no thieves. */
static inline void hauli_runq_open_unshared(struct hauli_runq *q, uint32_t n)
{
	hauli_ring_open_unshared(&q->ring, n);
}

/* Ends it: nobody runs but by the next batch. The ring is not empty after it while there is a
 * backlog, though thieves may have emptied it. */
static inline void hauli_runq_close(struct hauli_runq *q)
{
	hauli_ring_close(&q->ring);
	hauli_runq_top_up(q);
}

/* The next of the batch, or NULL at its end. */
static inline struct haul_coro *hauli_runq_pop(struct hauli_runq *q)
{
	void *near, *far;
	struct haul_coro *oldest = hauli_ring_pop(&q->ring, &near, &far);

	if (hauli_unlikely(!oldest))
		return NULL;
	hauli_runq_prefetch(near, far);
	return oldest;
}

#endif
