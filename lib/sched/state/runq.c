/* SPDX-License-Identifier: BSD-3-Clause */
#include "sched/state/runq.h"

#include <errno.h>
#include <sys/mman.h>

#include "base/assert.h"

#define BLOCK HAULI_RUNQ_BLOCK
/* All blocks but the first and the last are full. The table has room for twice as many: a power of
 * two. */
#define BLOCKS (HAULI_RUNQ_MAX / BLOCK + 2)
#define TABLE (HAULI_RUNQ_MAX / BLOCK * 2)
#define BACKLOG_BYTES (BLOCKS * BLOCK * sizeof(uintptr_t) + TABLE * sizeof(uintptr_t *))
#define FRONT 64 /* slots left free for pushes to the front */

/* This and all functions below: for the owner; where thieves may come, for the guard's holder. */
static uint64_t head_of(const struct hauli_backlog *b)
{
	return hauli_u64_owned_get(&b->head);
}

static uint64_t tail_of(const struct hauli_backlog *b)
{
	return hauli_u64_owned_get(&b->tail);
}

static bool is_empty(const struct hauli_backlog *b)
{
	return head_of(b) == tail_of(b);
}

static uintptr_t **block_of(const struct hauli_backlog *b, uint64_t at)
{
	return &b->blocks[at / BLOCK % TABLE];
}

static uintptr_t *slot(const struct hauli_backlog *b, uint64_t at)
{
	return &(*block_of(b, at))[at % BLOCK];
}

static uintptr_t *take_block(struct hauli_backlog *b)
{
	uintptr_t *block = b->unused;

	if (block) {
		b->unused = (uintptr_t *)block[0];
		return block;
	}
	HAUL_BUG_ON(b->fresh == BLOCKS);
	return b->memory + (size_t)b->fresh++ * BLOCK;
}

/* Moves the head, and gives back the blocks before it. */
static void set_head(struct hauli_backlog *b, uint64_t head)
{
	for (uint64_t at = head_of(b); at / BLOCK != head / BLOCK; at += BLOCK) {
		uintptr_t *block = *block_of(b, at);

		block[0] = (uintptr_t)b->unused;
		b->unused = block;
	}
	hauli_u64_owned_set(&b->head, head);
}

static void append(struct hauli_backlog *b, uintptr_t tagged)
{
	uint64_t tail = tail_of(b);

	if (hauli_unlikely(tail % BLOCK == 0))
		b->next = *block_of(b, tail) = take_block(b);
	*b->next++ = tagged;
	hauli_u64_owned_set(&b->tail, tail + 1);
}

/* A tag bit of entries where thieves may come, beside HAULI_ENTRY_RECORD. Reading this from the
 * coroutine would be a cache miss. */
#define STAYS ((uintptr_t)2) /* not stealable */

static struct hauli_entry *entry_of(uintptr_t tagged)
{
	return (struct hauli_entry *)(tagged & ~STAYS);
}

static bool is_loose(uintptr_t tagged)
{
	return tagged != 0 && !(tagged & STAYS);
}

static void count_loose(struct hauli_backlog *b, int n)
{
	hauli_u64_owned_set(&b->loose, hauli_u64_owned_get(&b->loose) + (uint64_t)n);
}

static void backlog_init(struct hauli_backlog *b, void *p)
{
	*b = (struct hauli_backlog){.blocks = p, .memory = (uintptr_t *)((uintptr_t **)p + TABLE)};
}

int hauli_runq_init(struct hauli_runq *q)
{
	char *p = mmap(NULL, 2 * BACKLOG_BYTES, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return -ENOMEM;
	q->lifo_at = UINT32_MAX / 2; /* far from where the head begins */
	q->lifo_left = HAULI_LIFO_RUN;
	q->left_long = NULL;
	q->long_at = UINT32_MAX / 2;
	q->has_long = false;
	q->first = HAULI_FIRST_ANY;
	q->shared = false;
	q->calls = NULL;
	q->refuses = false;
	backlog_init(&q->backlog, p);
	backlog_init(&q->longs, p + BACKLOG_BYTES);
	hauli_ring_init(&q->ring);
	hauli_runq_change_room(q);
	return 0;
}

void hauli_runq_change_room(struct hauli_runq *q)
{
	q->room = !q->calls || q->refuses || hauli_ring_is_shut(&q->ring) ? HAULI_RUNQ_NONE
									  : HAULI_RUNQ_ROOM;
	hauli_runq_set_room(q);
}

void hauli_runq_fini(struct hauli_runq *q)
{
	munmap(q->backlog.blocks, 2 * BACKLOG_BYTES);
}

/* With its tag. */
static void append_tagged(struct hauli_backlog *b, struct hauli_entry *entry)
{
	append(b, (uintptr_t)entry | (hauli_entry_is_stealable(entry) ? 0 : STAYS));
	count_loose(b, hauli_entry_is_stealable(entry));
}

static void push_shared(struct hauli_runq *q, struct hauli_entry *entry)
{
	hauli_ring_hold(&q->ring);
	append_tagged(&q->backlog, entry);
	hauli_ring_shut(&q->ring, true);
	hauli_ring_release(&q->ring);
}

void hauli_backlog_push(struct hauli_runq *q, struct hauli_entry *entry)
{
	struct hauli_backlog *b = &q->backlog;

	if (q->shared) {
		push_shared(q, entry);
		return;
	}
	append(b, (uintptr_t)entry);
	/* It was full or shut, so the tail is not before `until`. */
	hauli_ring_shut(&q->ring, true);
}

void hauli_runq_push_one_by_one(struct hauli_runq *q, const struct hauli_prototype *prototype,
	void *const objs[], ptrdiff_t at, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		struct hauli_record *r = (struct hauli_record *)((char *)objs[i] + at);

		r->prototype = prototype;
		hauli_runq_push(q, hauli_entry_of(r));
	}
}

bool hauli_runq_pass_last(struct hauli_runq *q)
{
	bool passes = hauli_ring_pass_last(&q->ring);

	q->lifo_left = passes ? HAULI_LIFO_RUN : 0;
	return passes;
}

void hauli_runq_push_pinned(
	struct hauli_runq *q, struct hauli_entry *entry, hauli_runq_push_fn *push)
{
	uint32_t pushed = hauli_ring_pushed(&q->ring);

	hauli_ring_keep(&q->ring);
	push(q, entry); /* to the ring or the backlog */
	hauli_ring_has_kept(&q->ring, hauli_ring_pushed(&q->ring) != pushed);
}

/* The oldest, with its tag; 0: there is none. */
static uintptr_t pop(struct hauli_backlog *b)
{
	uint64_t head = head_of(b), tail = tail_of(b);
	uintptr_t tagged = 0;

	while (tagged == 0 && head != tail)
		tagged = *slot(b, head++);
	set_head(b, head);
	if (is_loose(tagged))
		count_loose(b, -1);
	return tagged;
}

/* At the end of a batch. */
static void learn_first(struct hauli_runq *q)
{
	const struct hauli_ring *r = &q->ring;

	if (q->first == HAULI_FIRST_OTHERS)
		q->first = HAULI_FIRST_ANY;
	else if (q->first == HAULI_FIRST_LONG &&
		q->long_at - hauli_ring_head(r) >= hauli_ring_depth(r))
		q->first = HAULI_FIRST_OTHERS;
}

/* Takes a long one out for the ring's front, if others are not to run before it. */
static uintptr_t next_long(struct hauli_runq *q)
{
	uint32_t depth = hauli_ring_depth(&q->ring);
	uintptr_t tagged = 0;

	if (q->first == HAULI_FIRST_ANY && depth < HAULI_RING_SIZE)
		tagged = pop(&q->longs);
	q->has_long = !is_empty(&q->longs);
	return tagged;
}

static void put_first(struct hauli_runq *q, uintptr_t tagged)
{
	if (is_loose(tagged))
		hauli_runq_push_first(q, entry_of(tagged));
	else
		hauli_runq_push_pinned(q, entry_of(tagged), hauli_runq_push_first);
	hauli_runq_set_room(q);
	q->long_at = hauli_ring_head(&q->ring);
	q->first = HAULI_FIRST_LONG;
}

void hauli_runq_push_long(struct hauli_runq *q, struct hauli_entry *entry)
{
	uintptr_t tagged;

	if (q->shared)
		hauli_ring_hold(&q->ring);
	if (entry)
		append_tagged(&q->longs, entry);
	tagged = next_long(q);
	if (q->shared)
		hauli_ring_release(&q->ring);
	if (tagged != 0)
		put_first(q, tagged);
}

void hauli_runq_take_long(struct hauli_runq *q)
{
	struct hauli_entry *left = q->left_long;

	q->left_long = NULL;
	learn_first(q);
	hauli_runq_push_long(q, left);
}

void hauli_runq_take_first_long(struct hauli_runq *q)
{
	q->first = HAULI_FIRST_ANY;
	hauli_runq_push_long(q, NULL);
}

static void refill_shared(struct hauli_runq *q)
{
	struct hauli_backlog *b = &q->backlog;
	uint64_t head, tail;

	hauli_ring_hold(&q->ring);
	hauli_ring_shut(&q->ring, false);
	head = head_of(b);
	tail = tail_of(b);
	for (; head != tail && hauli_ring_depth(&q->ring) < HAULI_RING_SIZE - FRONT; head++) {
		uintptr_t tagged = *slot(b, head);

		if (tagged == 0)
			continue;
		if (is_loose(tagged)) {
			hauli_ring_push(&q->ring, entry_of(tagged));
			count_loose(b, -1);
		} else {
			hauli_ring_keep(&q->ring);
			hauli_ring_push(&q->ring, entry_of(tagged));
			hauli_ring_has_kept(&q->ring, true);
		}
	}
	set_head(b, head);
	hauli_ring_shut(&q->ring, head != tail);
	hauli_ring_release(&q->ring);
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Moves entries from head on, as many as are contiguous both in the backlog and in the ring.
 * Returns their number; 0: the ring is full, or the backlog is empty. */
static uint64_t move_some(struct hauli_runq *q, uint64_t head, uint64_t tail)
{
	const uintptr_t *from = slot(&q->backlog, head);
	hauli_ring_slot *to = hauli_ring_first(&q->ring);
	uint64_t n = least(tail - head, BLOCK - head % BLOCK);

	n = least(n, hauli_ring_room(&q->ring));
	n = least(n, hauli_ring_straight(&q->ring));
	for (uint64_t i = 0; i < n; i++)
		hauli_ring_set(&to[i], (void *)from[i]);
	hauli_ring_add(&q->ring, (uint32_t)n);
	return n;
}

void hauli_runq_refill(struct hauli_runq *q)
{
	struct hauli_backlog *b = &q->backlog;
	uint64_t head, tail, n;

	if (q->shared) {
		refill_shared(q);
		return;
	}
	head = head_of(b);
	tail = tail_of(b);
	while (head != tail && (n = move_some(q, head, tail)) > 0)
		head += n;
	set_head(b, head);
	hauli_ring_shut(&q->ring, head != tail);
	hauli_runq_change_room(q);
}

/* Takes the oldest stealable entry, if may() is true for it; the caller has checked that there is
 * one. */
static struct hauli_entry *take_loose(struct hauli_backlog *b, bool (*may)(const void *item))
{
	uint64_t at = b->passed, head = head_of(b);
	struct hauli_entry *entry;

	if ((int64_t)(at - head) < 0)
		at = head;
	while (!is_loose(*slot(b, at)))
		at++;
	entry = entry_of(*slot(b, at));
	if (!may(entry))
		return NULL;
	*slot(b, at) = 0;
	count_loose(b, -1);
	b->passed = at + 1;
	while (head != b->passed && *slot(b, head) == 0)
		head++;
	set_head(b, head);
	return entry;
}

struct hauli_entry *hauli_runq_steal(struct hauli_runq *q, bool (*may)(const void *item))
{
	struct hauli_entry *entry = hauli_ring_steal(&q->ring, may);
	struct hauli_backlog *b = &q->backlog;

	if (!entry && hauli_u64_owned_get(&b->loose) > 0) {
		entry = take_loose(b, may);
		hauli_ring_shut(&q->ring, !is_empty(b));
	}
	if (!entry && hauli_u64_owned_get(&q->longs.loose) > 0)
		entry = take_loose(&q->longs, may);
	return entry;
}
