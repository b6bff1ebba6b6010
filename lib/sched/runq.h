/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The run queue of one carrier: a next-slot for the newest that a running coroutine woke, a ring of
 * 256, and a backlog behind the ring. Oldest first. Owner only; the ring is where thieves will
 * look.
 *
 * The backlog is an array, not a list, so that what comes next can be prefetched from far. Its
 * address space is reserved once for as many coroutines as a carrier can have, so a push never
 * fails; memory is used as it fills.
 */
#ifndef HAULI_SCHED_RUNQ_H
#define HAULI_SCHED_RUNQ_H

#include "conc/ring.h"
#include "sched/coroutine.h"

#define HAULI_RUNQ_MAX (1u << 24) /* coroutines of one carrier */

struct hauli_backlog {
	struct haul_coro **slots;
	uint32_t head, tail; /* run freely, masked on use */
	uint32_t size; /* a power of two; grows in place */
};

struct hauli_runq {
	struct haul_coro *next;
	unsigned next_streak; /* times in a row that next was taken */
	struct hauli_backlog backlog;
	struct hauli_ring ring;
};

#define HAULI_NEXT_STREAK_MAX 3

/* 0 or -ENOMEM. */
int hauli_runq_init(struct hauli_runq *q);
void hauli_runq_fini(struct hauli_runq *q);

void hauli_backlog_push(struct hauli_backlog *b, struct haul_coro *co);

/* Moves from the backlog to the ring until that is full. */
void hauli_runq_refill(struct hauli_runq *q);

static inline void hauli_runq_push(struct hauli_runq *q, struct haul_coro *co)
{
	/* What waits in the backlog is older. */
	if (hauli_unlikely(q->backlog.head != q->backlog.tail) ||
		hauli_unlikely(!hauli_ring_push(&q->ring, co)))
		hauli_backlog_push(&q->backlog, co);
}

/* The same, before all others; who sat there goes to the ring. */
static inline void hauli_runq_push_next(struct hauli_runq *q, struct haul_coro *co)
{
	struct haul_coro *older = q->next;

	q->next = co;
	if (older)
		hauli_runq_push(q, older);
}

/* Keeps the ring filled while there is a backlog; once per at most 256 pops. */
static inline void hauli_runq_top_up(struct hauli_runq *q)
{
	if (hauli_unlikely(q->backlog.head != q->backlog.tail))
		hauli_runq_refill(q);
}

static inline bool hauli_runq_is_empty(const struct hauli_runq *q)
{
	return !q->next && hauli_ring_depth(&q->ring) == 0;
}

/*
 * With many coroutines each one's context is a cache miss: far ahead its first line is fetched, and
 * when that has come, the frames just above its stack pointer that the return will need.
 */
static inline void hauli_runq_prefetch(const struct haul_coro *near, const struct haul_coro *far)
{
	const char *sp = near->co.ctx.sp;

	__builtin_prefetch(far, 1);
	__builtin_prefetch(sp, 1);
	__builtin_prefetch(sp + HAULI_CACHE_LINE, 1);
}

static inline struct haul_coro *hauli_runq_pop(struct hauli_runq *q)
{
	struct haul_coro *oldest;
	void *near, *far;

	if (q->next) {
		struct haul_coro *co = q->next;

		q->next = NULL;
		if (q->next_streak++ < HAULI_NEXT_STREAK_MAX)
			return co;
		hauli_runq_push(q, co);
	}
	q->next_streak = 0;
	oldest = hauli_ring_pop(&q->ring, &near, &far);
	if (hauli_likely(oldest))
		hauli_runq_prefetch(near, far);
	return oldest;
}

#endif
