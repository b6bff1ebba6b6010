/* SPDX-License-Identifier: BSD-3-Clause */
#include "sched/runq.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/assert.h"

#define BACKLOG_BYTES (HAULI_RUNQ_MAX * sizeof(struct haul_coro *))
#define BACKLOG_FIRST_SIZE 512

/* What is prefetched where nobody has been yet. */
static const struct haul_coro nobody;

/* Under the guard. How many wait in the backlog, for the owner's next push and for others. */
static void show(struct hauli_runq *q)
{
	uint32_t waiting = q->backlog.tail - q->backlog.head;

	hauli_mark_set(&q->behind, waiting != 0);
	hauli_stamp_set(&q->waiting, waiting);
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
	q->backlog = (struct hauli_backlog){.slots = p, .size = BACKLOG_FIRST_SIZE};
	show(q);
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
	uint32_t head = b->head & (b->size - 1);

	HAUL_BUG_ON(b->size == HAULI_RUNQ_MAX);
	memcpy(b->slots + b->size, b->slots, head * sizeof(b->slots[0]));
	b->head = head;
	b->tail = head + b->size;
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
	if (b->tail - b->head == b->size)
		grow(b);
	b->slots[b->tail++ & (b->size - 1)] = co;
	show(q);
	if (q->shared)
		hauli_ring_unsee(&q->ring);
	release(q);
}

static struct haul_coro **oldest(const struct hauli_backlog *b)
{
	return &b->slots[b->head & (b->size - 1)];
}

void hauli_runq_refill(struct hauli_runq *q)
{
	struct hauli_backlog *b = &q->backlog;

	hold(q);
	while (b->head != b->tail && hauli_ring_push(&q->ring, *oldest(b)))
		b->head++;
	show(q);
	release(q);
}

struct haul_coro *hauli_runq_rob(struct hauli_runq *q, bool (*may)(const void *item))
{
	struct haul_coro *co = hauli_ring_rob(&q->ring, may);
	struct hauli_backlog *b = &q->backlog;

	if (co || b->head == b->tail)
		return co;
	/* What may not be stolen goes behind the others: somebody may be waiting for those. */
	for (uint32_t n = b->tail - b->head; n > 0 && !co; n--) {
		if (may(*oldest(b)))
			co = *oldest(b);
		else
			b->slots[b->tail++ & (b->size - 1)] = *oldest(b);
		b->head++;
	}
	show(q);
	if (b->head != b->tail)
		hauli_ring_unsee(&q->ring);
	return co;
}
