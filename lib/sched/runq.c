/* SPDX-License-Identifier: BSD-3-Clause */
#include "sched/runq.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/assert.h"

#define BACKLOG_BYTES (HAULI_RUNQ_MAX * sizeof(struct haul_coro *))
#define BACKLOG_FIRST_SIZE 512
#define FRONT 64 /* room in the ring for those that are back */

/* What is prefetched where nobody has been yet. */
static const struct haul_coro nobody;

/* The owner, or under the guard, as all below. */
static uint64_t head_of(const struct hauli_backlog *b)
{
	return hauli_stamp_get(&b->head);
}

static uint64_t tail_of(const struct hauli_backlog *b)
{
	return hauli_stamp_get(&b->tail);
}

static bool is_empty(const struct hauli_backlog *b)
{
	return head_of(b) == tail_of(b);
}

static struct haul_coro **slot(const struct hauli_backlog *b, uint64_t at)
{
	return &b->slots[at & (b->size - 1)];
}

static struct haul_coro **oldest(const struct hauli_backlog *b)
{
	return slot(b, head_of(b));
}

static void drop_oldest(struct hauli_backlog *b)
{
	hauli_stamp_set(&b->head, head_of(b) + 1);
}

static void append(struct hauli_backlog *b, struct haul_coro *co)
{
	uint64_t tail = tail_of(b);

	*slot(b, tail) = co;
	hauli_stamp_set(&b->tail, tail + 1);
}

int hauli_runq_init(struct hauli_runq *q)
{
	void *p = mmap(NULL, BACKLOG_BYTES, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return -ENOMEM;
	q->next_at = UINT32_MAX / 2; /* far from where the head begins */
	q->turn = 1;
	q->shared = false;
	hauli_mark_set(&q->behind, false);
	q->backlog = (struct hauli_backlog){.slots = p, .size = BACKLOG_FIRST_SIZE};
	hauli_ring_init(&q->ring, (void *)(uintptr_t)&nobody);
	return 0;
}

void hauli_runq_fini(struct hauli_runq *q)
{
	munmap(q->backlog.slots, BACKLOG_BYTES);
}

/* Doubles the array in place: what had wrapped round to its start goes behind its old end. */
static void grow(struct hauli_backlog *b)
{
	uint64_t head = head_of(b) & (b->size - 1);

	HAUL_BUG_ON(b->size == HAULI_RUNQ_MAX);
	memcpy(b->slots + b->size, b->slots, head * sizeof(b->slots[0]));
	hauli_stamp_set(&b->head, head);
	hauli_stamp_set(&b->tail, head + b->size);
	b->size *= 2;
}

static void hold(struct hauli_runq *q)
{
	if (q->shared)
		hauli_ring_hold(&q->ring);
}

static void release(struct hauli_runq *q)
{
	if (q->shared)
		hauli_ring_release(&q->ring);
}

void hauli_backlog_push(struct hauli_runq *q, struct haul_coro *co)
{
	struct hauli_backlog *b = &q->backlog;

	hold(q);
	if (hauli_unlikely(hauli_backlog_depth(b) == b->size))
		grow(b);
	append(b, co);
	hauli_mark_set(&q->behind, true);
	if (q->shared)
		hauli_ring_unsee(&q->ring);
	release(q);
}

void hauli_runq_refill(struct hauli_runq *q)
{
	struct hauli_backlog *b = &q->backlog;
	uint32_t most = HAULI_RING_SIZE - (q->shared ? FRONT : 0);
	uint64_t head, tail;

	hold(q);
	head = head_of(b);
	tail = tail_of(b);
	while (head != tail && hauli_ring_depth(&q->ring) < most &&
		hauli_ring_push(&q->ring, *slot(b, head)))
		head++;
	hauli_stamp_set(&b->head, head);
	hauli_mark_set(&q->behind, head != tail);
	release(q);
}

struct haul_coro *hauli_runq_rob(struct hauli_runq *q, bool (*may)(const void *item))
{
	struct haul_coro *co = hauli_ring_rob(&q->ring, may);
	struct hauli_backlog *b = &q->backlog;

	if (co || is_empty(b))
		return co;
	/* What may not be stolen goes behind the others: somebody may be waiting for those. */
	for (uint64_t n = hauli_backlog_depth(b); n > 0 && !co; n--) {
		if (may(*oldest(b)))
			co = *oldest(b);
		else
			append(b, *oldest(b));
		drop_oldest(b);
	}
	hauli_mark_set(&q->behind, !is_empty(b));
	if (!is_empty(b))
		hauli_ring_unsee(&q->ring);
	return co;
}
