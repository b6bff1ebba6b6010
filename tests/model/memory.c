/* SPDX-License-Identifier: BSD-3-Clause */
#include "memory.h"

#include <stdlib.h>
#include <string.h>

#include "weak.h"

#define GRANULE 4 /* bytes that share one record; no two fields of a model may share one */
#define GRANULES_MAX (MODEL_BYTES_MAX / GRANULE)

static struct granule {
	struct clock sync; /* the clock that an acquire load of the current value gets */
	struct clock reads; /* last plain read by each thread */
	uint16_t write_at; /* last plain write: time and thread */
	uint8_t writer;
	bool freed;
	bool touched;
} granules[GRANULES_MAX];

/* The model's declarations, the same in all runs. */
static struct use {
	uint8_t how; /* enum memory_use */
	uint8_t owner; /* the owning thread */
} uses[GRANULES_MAX];

/* Granules that this run has accessed; the others are as at its start. */
static uint16_t touched[GRANULES_MAX];
static unsigned nb_touched;

static const struct model *model;
static enum memory_kind kind;
static char initial[GRANULES_MAX * GRANULE]; /* the model's memory after init() */

void memory_join(struct clock *to, const struct clock *from)
{
	for (unsigned i = 0; i < MODEL_THREADS_MAX && !model->only_atomics; i++)
		if (from->at[i] > to->at[i])
			to->at[i] = from->at[i];
}

static void untouch_all(void)
{
	while (nb_touched > 0)
		granules[touched[--nb_touched]] = (struct granule){0};
}

void memory_init(const struct model *m, enum memory_kind k)
{
	model = m;
	kind = k;
	if (m->size > sizeof(initial))
		abort();
	memset(m->memory, 0, m->size);
	memset(uses, 0, sizeof(uses));
	untouch_all();
	weak_init(m);
}

/* It happens before everything that the threads do. */
void memory_keep_as_initial(void)
{
	memcpy(initial, model->memory, model->size);
}

void memory_begin(struct thread *threads)
{
	memcpy(model->memory, initial, model->size);
	untouch_all();
	if (kind == MEMORY_WEAK)
		weak_begin(threads);
}

bool memory_is_otherwise(void)
{
	return kind == MEMORY_WEAK && weak_is_otherwise();
}

size_t memory_offset(const void *addr)
{
	return (size_t)((const char *)addr - (const char *)model->memory);
}

static size_t granule_of(const void *addr)
{
	return memory_offset(addr) / GRANULE;
}

static struct granule *touch(size_t i)
{
	struct granule *g = &granules[i];

	if (!g->touched) {
		touched[nb_touched++] = (uint16_t)i;
		g->touched = true;
	}
	return g;
}

static bool is_shared(const void *addr)
{
	const char *base = model->memory;

	return (const char *)addr >= base && (const char *)addr < base + model->size;
}

static void check_use(const struct thread *t, const void *addr, bool write)
{
	const struct use *u = &uses[granule_of(addr)];

	if (t->direct || u->how == USE_ANY || (u->how != USE_CONSTANT && u->owner == t->id))
		return;
	if (u->how == USE_PRIVATE)
		model_fail("an access to what is another's alone");
	if (write)
		model_fail(u->how == USE_OWN ? "a write to what is another's own"
					     : "a write to what is said to be constant");
}

void memory_check_atomic(const struct thread *t, const void *addr, unsigned size, bool write)
{
	struct granule *g;

	if (!is_shared(addr))
		model_fail("an atomic outside of the model's memory");
	g = touch(granule_of(addr));
	(void)touch(granule_of((const char *)addr + size - 1));
	if (g->freed)
		model_fail("access to what was freed");
	if (!model->only_atomics && g->write_at > t->now.at[g->writer])
		model_fail("race: an atomic access and a plain write");
	check_use(t, addr, write);
	if (write)
		for (unsigned i = 0; i < MODEL_THREADS_MAX; i++)
			if (g->reads.at[i] > t->now.at[i])
				model_fail("race: an atomic write and a plain read");
}

void memory_plain(struct thread *t, const void *addr, unsigned size, bool write)
{
	if (!is_shared(addr))
		return;
	if (model->only_atomics && write)
		model_fail("a plain write where all is said to be atomic");
	for (size_t i = granule_of(addr); i <= granule_of((const char *)addr + size - 1); i++) {
		struct granule *g = touch(i);

		if (g->freed)
			model_fail("access to what was freed");
		if (g->write_at > t->now.at[g->writer])
			model_fail(write ? "race: two plain writes"
					 : "race: a plain read and a write");
		for (unsigned k = 0; write && k < MODEL_THREADS_MAX; k++)
			if (g->reads.at[k] > t->now.at[k])
				model_fail("race: a plain write and a read");
		if (write) {
			g->writer = (uint8_t)t->id;
			g->write_at = t->now.at[t->id];
		} else {
			g->reads.at[t->id] = t->now.at[t->id];
		}
	}
	if (write && kind == MEMORY_WEAK)
		weak_plain_write(addr, size);
}

void memory_free(struct thread *t, const void *addr, size_t size)
{
	/* A freeing counts as a write: the other threads' accesses must have happened before. */
	memory_plain(t, addr, (unsigned)size, true);
	for (size_t i = 0; i < size; i += GRANULE)
		touch(granule_of((const char *)addr + i))->freed = true;
}

void memory_own(const void *addr, size_t size, enum memory_use how, unsigned thread)
{
	for (size_t i = 0; i < size; i += GRANULE)
		uses[granule_of((const char *)addr + i)] =
			(struct use){(uint8_t)how, (uint8_t)thread};
}

bool memory_is_apart(const struct thread *t, const struct step *s)
{
	const struct use *u;

	if (!s->addr || !is_shared(s->addr))
		return false;
	u = &uses[granule_of(s->addr)];
	if (u->how == USE_ANY || (u->how != USE_CONSTANT && u->owner != t->id))
		return false;
	if (s->kind == STEP_LOAD)
		return true;
	if (s->kind == STEP_RMW || s->kind == STEP_CAS)
		return u->how == USE_PRIVATE && t->nb_buffered == 0;
	return s->kind == STEP_STORE && u->how == USE_PRIVATE;
}

static uint64_t read_value(struct thread *t, const void *addr, unsigned size, int order)
{
	struct granule *g = &granules[granule_of(addr)];

	memory_check_atomic(t, addr, size, false);
	for (unsigned i = t->nb_buffered; i-- > 0;)
		if (t->buffer[i].addr == addr)
			return t->buffer[i].value; /* its own store: no synchronization */
	memory_join(&t->acquirable, &g->sync);
	if (is_acquire(order))
		memory_join(&t->now, &g->sync);
	return peek(addr, size);
}

struct clock memory_release_clock(const struct thread *t, int order)
{
	return is_release(order) ? t->now : t->released;
}

static void write_value(const struct buffered *b, bool keeps_sequence)
{
	struct granule *g = &granules[granule_of(b->addr)];

	memcpy(b->addr, &b->value, b->size);
	if (!keeps_sequence)
		g->sync = (struct clock){0};
	memory_join(&g->sync, &b->release);
}

static void store(struct thread *t, const struct step *s, bool keeps_sequence)
{
	struct buffered b = {.addr = s->addr,
		.size = s->size,
		.value = s->value,
		.release = memory_release_clock(t, s->order)};

	memory_check_atomic(t, s->addr, s->size, true);
	if (kind != MEMORY_TSO || keeps_sequence || s->order == __ATOMIC_SEQ_CST ||
		memory_is_apart(t, s)) {
		write_value(&b, keeps_sequence);
		return;
	}
	t->buffer[t->nb_buffered++] = b;
}

void memory_flush(struct thread *t)
{
	/* A delayed store to freed memory. */
	if (granules[granule_of(t->buffer[0].addr)].freed)
		model_fail("access to what was freed");
	write_value(&t->buffer[0], false);
	memmove(t->buffer, t->buffer + 1, --t->nb_buffered * sizeof(t->buffer[0]));
}

uint64_t memory_combine(enum model_rmw op, uint64_t old, uint64_t v)
{
	switch (op) {
	case MODEL_EXCHANGE:
		return v;
	case MODEL_ADD:
		return old + v;
	case MODEL_SUB:
		return old - v;
	case MODEL_OR:
		return old | v;
	case MODEL_AND:
		return old & v;
	case MODEL_XOR:
		return old ^ v;
	}
	abort();
}

void memory_fence(struct thread *t, int order)
{
	if (is_acquire(order))
		memory_join(&t->now, &t->acquirable);
	if (is_release(order))
		t->released = t->now;
}

unsigned memory_options(const struct thread *t)
{
	const struct step *s = &t->step;
	bool drains;

	if (kind == MEMORY_WEAK)
		return weak_options(t);
	drains = s->kind == STEP_RMW || s->kind == STEP_CAS || s->kind == STEP_FUTEX_WAIT ||
		s->kind == STEP_FUTEX_WAKE || s->kind == STEP_DRAIN ||
		((s->kind == STEP_FENCE || s->kind == STEP_STORE) && s->order == __ATOMIC_SEQ_CST);
	if (drains && t->nb_buffered > 0)
		return 0;
	if (s->kind == STEP_STORE && t->nb_buffered == BUFFER_MAX)
		return 0; /* a full buffer must first drain a store */
	if (s->kind == STEP_AWAIT)
		return peek(s->addr, s->size) == s->value;
	if (s->kind == STEP_YIELD)
		return peek(s->addr, s->size) != s->value;
	return s->kind == STEP_DRAIN ? (unsigned)__builtin_popcountll(s->value) : 1;
}

uint64_t memory_nth(uint64_t set, unsigned n)
{
	while (n-- > 0)
		set &= set - 1;
	return (uint64_t)__builtin_ctzll(set);
}

static uint64_t do_step(struct thread *t, unsigned option)
{
	struct step *s = &t->step;
	uint64_t old;

	switch (s->kind) {
	case STEP_LOAD:
	case STEP_AWAIT:
		return read_value(t, s->addr, s->size, s->order);
	case STEP_STORE:
		store(t, s, false);
		return 0;
	case STEP_RMW:
		old = read_value(t, s->addr, s->size, s->order);
		s->value = memory_combine(s->rmw, old, s->value);
		store(t, s, true);
		return old;
	case STEP_CAS:
		if (peek(s->addr, s->size) != s->expected)
			return read_value(t, s->addr, s->size, s->failure_order);
		old = read_value(t, s->addr, s->size, s->order);
		store(t, s, true);
		return old;
	case STEP_FENCE:
		memory_fence(t, s->order);
		return 0;
	case STEP_FUTEX_WAIT:
		return peek(s->addr, 4) == s->value;
	case STEP_DRAIN: /* the explorer performs the barrier */
		return memory_nth(s->value, option);
	case STEP_FUTEX_WAKE:
	case STEP_LIGHT_FENCE:
	case STEP_YIELD:
		return 0;
	}
	abort();
}

uint64_t memory_step(struct thread *t, unsigned option)
{
	uint64_t result =
		kind == MEMORY_WEAK && !t->direct ? weak_step(t, option) : do_step(t, option);

	/* Later steps of the releasing thread do not happen before the acquirer's. */
	if (!model->only_atomics && t->step.kind != STEP_LOAD && is_release(t->step.order))
		t->now.at[t->id]++;
	return result;
}

/* The difference between a granule's current and its initial contents. */
static uint64_t difference(unsigned i)
{
	const struct granule *g = &granules[i];
	uint64_t now = peek((char *)model->memory + (size_t)i * GRANULE, GRANULE);
	uint64_t sync, hash = 0;

	memcpy(&sync, &g->sync, sizeof(sync));
	if (now != peek(initial + (size_t)i * GRANULE, GRANULE))
		hash += mix(mix(1, i), now);
	if (sync | g->freed)
		hash += mix(mix(mix(2, i), sync), g->freed);
	return hash;
}

uint64_t memory_hash(void)
{
	uint64_t hash = 1;

	for (unsigned i = 0; i < nb_touched; i++)
		hash += difference(touched[i]);
	return hash;
}
