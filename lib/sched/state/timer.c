/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The wheel.
 *
 * A slot of level l covers 64^l ticks; a level is a ring of 128 slots. A timer goes into the lowest
 * level whose slots reach its time from `base`, which follows the clock. A slot is a stack of
 * chunks of 15 entries, each with the time and the timer, so that the wheel reads its own memory
 * and not that of the timers.
 *
 *   level 0   |.|.|.|.|.|  1 tick each
 *   level 1   |....|....|  64 ticks each
 *   level 2   |.................|  4,096 ticks each
 *
 * A slot with one chunk stays as it is: when it begins, its entries are compared one by one, so a
 * timer expires at its tick wherever it is. A slot with more chunks is *crowded*: its entries move
 * to lower levels. The 128 slots of a level are as long as two slots of the next level, so the move
 * begins one slot early. A crowd has that time to move, some entries per call, and is in place when
 * its first timer is due. With d timers per tick, entries move down until 64^l * d is about 15:
 * twice for 100,000 timers in a second.
 *
 * Invariants: base does not exceed the time of the last call; in each level, the slots in use are
 * at most 127 after the slot of base, so a slot stands for one period of time. A timer whose time
 * is before base is filed under base.
 *
 * No slot starves: a call visits the upper levels first. The timers that are due in an upper slot
 * were armed before the slot came near, and none are added later; so timers that are due at lower
 * levels wait for a finite number of others.
 *
 * Bounds. An arm or disarm touches the timer, its entry, and the last entry of the slot. A call
 * moves at most MOVES entries and expires at most HAULI_TIMERS_DUE. Memory: chunks that are not
 * full are the first of their slots, so for n timers there are at most n / 15 + the number of
 * slots. That much address space is reserved; pages are used as the wheel fills, as by the backlog
 * of the run queue.
 *
 * Tests: tests/unit/timer.c, against a plain list. perf/bench/timer.c, perf/bench/sleepers.c.
 */
#include "sched/state/timer.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "base/assert.h"
#include "base/cacheline.h"

#define LEVEL_BITS 6
#define LEVELS 11
#define SLOTS 128 /* of a level; twice 1 << LEVEL_BITS */
#define CHUNK 15 /* entries */
#define MOVES 48 /* entries of a level that one call moves: 5 us, if each timer misses the cache */
#define AHEAD 6 /* entries between the one that moves and the one whose timer is prefetched */

/* Later times count as never: the highest level ends there, after a hundred years. */
#define LAST (UINT64_MAX / 2)

struct hauli_timer_entry {
	uint64_t at; /* the timer's own time may be later by now */
	struct hauli_timer *timer;
};

struct chunk {
	struct chunk *below; /* in the slot, or in the list of free chunks */
	uint32_t n; /* entries; only the first chunk of a slot is not full */
	struct hauli_timer_entry of[CHUNK];
};

_Static_assert(sizeof(struct chunk) == 4 * HAULI_CACHE_LINE, "no chunk shares a line");

struct hauli_wheel {
	uint64_t base; /* ticks */
	uint32_t levels; /* a bit for each level with entries */
	struct chunk *free;
	struct chunk *fresh, *end; /* never used */
	size_t bytes;
	uint64_t used[LEVELS][SLOTS / 64]; /* a bit for each slot with entries */
	struct chunk *slots[LEVELS * SLOTS];
	HAULI_LINE struct chunk chunks[];
};

int hauli_timers_init(struct hauli_timers *ts, uint32_t max)
{
	size_t chunks = max / CHUNK + LEVELS * SLOTS;
	size_t bytes = sizeof(struct hauli_wheel) + chunks * sizeof(struct chunk);
	struct hauli_wheel *w = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (w == MAP_FAILED)
		return -ENOMEM;
	w->fresh = w->chunks;
	w->end = w->chunks + chunks;
	w->bytes = bytes;
	*ts = (struct hauli_timers){HAULI_NEVER, w};
	return 0;
}

void hauli_timers_fini(struct hauli_timers *ts)
{
	munmap(ts->wheel, ts->wheel->bytes);
}

static unsigned shift_of(unsigned level)
{
	return level * LEVEL_BITS;
}

static struct chunk *add_chunk(struct hauli_wheel *w, unsigned slot)
{
	struct chunk *c = w->free;

	if (c) {
		w->free = c->below;
	} else {
		HAUL_BUG_ON(w->fresh == w->end);
		c = w->fresh++;
	}
	c->below = w->slots[slot];
	c->n = 0;
	w->slots[slot] = c;
	w->used[slot / SLOTS][slot % SLOTS / 64] |= UINT64_C(1) << slot % 64;
	w->levels |= 1u << slot / SLOTS;
	return c;
}

/* Frees the first chunk of the slot, which is empty. */
static void drop_chunk(struct hauli_wheel *w, unsigned slot)
{
	struct chunk *c = w->slots[slot];
	uint64_t *used = w->used[slot / SLOTS];

	w->slots[slot] = c->below;
	if (!c->below) {
		used[slot % SLOTS / 64] &= ~(UINT64_C(1) << slot % 64);
		if (!(used[0] | used[1]))
			w->levels &= ~(1u << slot / SLOTS);
	}
	c->below = w->free;
	w->free = c;
}

/* The lowest level with a slot for `at`, which is not before base. */
static unsigned level_for(const struct hauli_wheel *w, uint64_t at)
{
	unsigned level = (63 - (unsigned)__builtin_clzll((at - w->base) | 1)) / LEVEL_BITS;
	unsigned below = shift_of(level - 1);

	return level > 0 && (at >> below) - (w->base >> below) < SLOTS ? level - 1 : level;
}

/* The time from which the entries of slot idx of the level, counted from tick 0, may move to lower
 * levels if it is crowded. */
static uint64_t moves_at(uint64_t idx, unsigned level)
{
	return (idx > 0 ? idx - 1 : 0) << shift_of(level);
}

/* Files t under `at`. */
static void file(struct hauli_timers *ts, struct hauli_timer *t, uint64_t at)
{
	struct hauli_wheel *w = ts->wheel;
	uint64_t from = at > w->base ? at : w->base;
	unsigned level = level_for(w, from);
	uint64_t idx = from >> shift_of(level);
	unsigned slot = level * SLOTS + (unsigned)(idx % SLOTS);
	struct chunk *c = w->slots[slot];
	struct hauli_timer_entry *e;

	if (hauli_unlikely(!c || c->n == CHUNK)) {
		c = add_chunk(w, slot);
		if (c->below && moves_at(idx, level) < ts->next_at)
			ts->next_at = moves_at(idx, level);
	}
	e = &c->of[c->n++];
	*e = (struct hauli_timer_entry){at, t};
	t->entry = e;
	t->slot = slot;
}

void hauli_timer_arm(struct hauli_timers *ts, struct hauli_timer *t)
{
	if (hauli_unlikely(t->at > LAST)) {
		t->entry = NULL;
		return;
	}
	if (t->at < ts->next_at)
		ts->next_at = t->at;
	file(ts, t, t->at);
}

void hauli_timer_disarm(struct hauli_timers *ts, struct hauli_timer *t)
{
	struct hauli_wheel *w = ts->wheel;
	struct hauli_timer_entry *e = t->entry, *last;
	struct chunk *c;

	if (!e)
		return;
	c = w->slots[t->slot];
	last = &c->of[--c->n];
	if (e != last) {
		*e = *last;
		e->timer->entry = e;
	}
	if (hauli_unlikely(c->n == 0)) {
		drop_chunk(w, t->slot);
		if (w->levels == 0)
			ts->next_at = HAULI_NEVER;
	}
}

/* The first slot of the level with entries, counted from tick 0. */
static uint64_t first_of(const struct hauli_wheel *w, unsigned level)
{
	uint64_t idx = w->base >> shift_of(level);
	const uint64_t *used = w->used[level];
	unsigned __int128 ahead = (unsigned __int128)used[1] << 64 | used[0];
	uint64_t low;

	ahead = ahead >> idx % SLOTS | ahead << (-idx % SLOTS);
	low = (uint64_t)ahead;
	return idx +
		(unsigned)(low ? __builtin_ctzll(low)
			       : 64 + __builtin_ctzll((uint64_t)(ahead >> 64)));
}

static unsigned slot_of(unsigned level, uint64_t idx)
{
	return level * SLOTS + (unsigned)(idx % SLOTS);
}

/* Moves base to now, but not beyond the first slot in use of any level. */
static void advance(struct hauli_wheel *w, uint64_t now)
{
	for (uint32_t levels = w->levels; levels; levels &= levels - 1) {
		unsigned level = (unsigned)__builtin_ctz(levels);
		uint64_t last = ((first_of(w, level) + 1) << shift_of(level)) - 1;

		if (last < now)
			now = last;
	}
	if (now > w->base)
		w->base = now;
}

uint64_t hauli_timers_recompute(struct hauli_timers *ts)
{
	const struct hauli_wheel *w = ts->wheel;
	uint64_t next = HAULI_NEVER;

	for (uint32_t levels = w->levels; levels; levels &= levels - 1) {
		unsigned level = (unsigned)__builtin_ctz(levels);
		uint64_t idx = first_of(w, level);
		const struct chunk *c = w->slots[slot_of(level, idx)];

		if (c->below) {
			uint64_t at = level > 0 ? moves_at(idx, level) : idx;

			next = at < next ? at : next;
			continue;
		}
		for (unsigned i = 0; i < c->n; i++)
			next = c->of[i].at < next ? c->of[i].at : next;
	}
	ts->next_at = next;
	return next;
}

/* One call of hauli_timers_expire(). */
struct visit {
	uint64_t now;
	unsigned n, moves; /* moves: left for this level */
	struct hauli_timer_entry due[HAULI_TIMERS_DUE];
};

static void add_due(struct visit *v, const struct hauli_timer_entry *e)
{
	__builtin_prefetch(e->timer, 1);
	v->due[v->n++] = *e;
}

/* Takes the due entries out of a slot with one chunk. False: some are left. */
static bool take_due(struct hauli_wheel *w, unsigned slot, struct visit *v)
{
	struct chunk *c = w->slots[slot];
	unsigned kept = 0;

	if (v->n + c->n > HAULI_TIMERS_DUE)
		return false;
	for (unsigned i = 0; i < c->n; i++) {
		if (c->of[i].at <= v->now) {
			add_due(v, &c->of[i]);
			continue;
		}
		c->of[kept] = c->of[i];
		c->of[kept].timer->entry = &c->of[kept];
		kept++;
	}
	c->n = kept;
	if (kept > 0)
		return false;
	drop_chunk(w, slot);
	return true;
}

/* Empties a crowded slot: due entries expire, others move to lower levels. False: some are left. */
static bool disperse(struct hauli_timers *ts, unsigned slot, struct visit *v)
{
	struct hauli_wheel *w = ts->wheel;
	struct chunk *c;

	while ((c = w->slots[slot])) {
		struct hauli_timer_entry e;

		if (v->moves == 0 || v->n == HAULI_TIMERS_DUE)
			return false;
		v->moves--;
		e = c->of[--c->n];
		if (c->n >= AHEAD)
			__builtin_prefetch(c->of[c->n - AHEAD].timer, 1);
		if (c->n == 0)
			drop_chunk(w, slot);
		if (e.at <= v->now)
			add_due(v, &e);
		else
			file(ts, e.timer, e.at);
	}
	return true;
}

static void visit_level(struct hauli_timers *ts, unsigned level, struct visit *v)
{
	struct hauli_wheel *w = ts->wheel;
	bool emptied = true;

	v->moves = MOVES;
	while (emptied && w->levels >> level & 1) {
		uint64_t idx = first_of(w, level);
		unsigned slot = slot_of(level, idx);

		if (!w->slots[slot]->below)
			emptied = idx << shift_of(level) <= v->now && take_due(w, slot, v);
		else if (level == 0)
			emptied = idx <= v->now && disperse(ts, slot, v);
		else
			emptied = idx <= (w->base >> shift_of(level)) + 1 && disperse(ts, slot, v);
	}
}

static void sort(struct hauli_timer_entry *due, unsigned n)
{
	for (unsigned i = 1; i < n; i++) {
		struct hauli_timer_entry e = due[i];
		unsigned to = i;

		for (; to > 0 && due[to - 1].at > e.at; to--)
			due[to] = due[to - 1];
		due[to] = e;
	}
}

unsigned hauli_timers_expire(
	struct hauli_timers *ts, uint64_t now, struct hauli_timer *due[HAULI_TIMERS_DUE])
{
	struct visit v;
	uint32_t levels;
	unsigned n = 0;

	if (now < ts->next_at)
		return 0;
	v.now = now;
	v.n = 0;
	advance(ts->wheel, now);
	for (unsigned level = LEVELS; (levels = ts->wheel->levels & ((1u << level) - 1));) {
		level = 31 - (unsigned)__builtin_clz(levels);
		visit_level(ts, level, &v);
	}
	for (unsigned i = 0; i < v.n; i++) {
		struct hauli_timer *t = v.due[i].timer;

		if (hauli_unlikely(t->at > now))
			hauli_timer_arm(ts, t); /* its owner has set a later time */
		else
			v.due[n++] = (struct hauli_timer_entry){t->at, t};
	}
	sort(v.due, n);
	for (unsigned i = 0; i < n; i++)
		due[i] = v.due[i].timer;
	hauli_timers_recompute(ts);
	return n;
}
