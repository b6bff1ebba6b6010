/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Small words that several threads look at, each with its one rule.
 *
 *	slot    claimed by whoever comes first, freed by its holder
 *	        E1 what the last holder did before what the next one does: release, acquire
 *	link    a pointer with one writer, which publishes what it points to
 *	        E2 the writer's earlier writes before the reader's use: release, acquire
 *	mark    a byte for others to show, with one writer, or bits that any writer adds and takes
 *	stamp   the same, of 64 bits
 *	count   a number with one writer at a time, that says what has been done so far
 *	        E4 what came before the number was set before what a reader does who has seen
 *	        it: release, acquire
 *	turn    deals out numbers
 *	tally   a number to which any thread adds
 *	permit  given by one thread, taken by it or by another one
 *	        E3 what the giver did before what follows the taking: release, acquire. The other
 *	        one takes by an exchange, so a permit given at the same time is taken with all that
 *	        came before it, or stays
 *
 * Model of slot, link and event: tests/model/word.c; of permit: permit.c,
 * permit_away.c; of count: order.c.
 */
#ifndef HAULI_CONC_WORD_H
#define HAULI_CONC_WORD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct hauli_slot {
	_Atomic bool taken;
};

static inline bool hauli_slot_claim(struct hauli_slot *s)
{
	return !atomic_exchange_explicit(&s->taken, true, memory_order_acquire /* word.E1:A */);
}

static inline void hauli_slot_free(struct hauli_slot *s)
{
	atomic_store_explicit(&s->taken, false, memory_order_release /* word.E1:R */);
}

struct hauli_link {
	_Atomic(void *) to;
};

static inline void hauli_link_set(struct hauli_link *l, void *to)
{
	atomic_store_explicit(&l->to, to, memory_order_release /* word.E2:R */);
}

static inline void *hauli_link_get(const struct hauli_link *l)
{
	return atomic_load_explicit(&l->to, memory_order_acquire /* word.E2:A */);
}

struct hauli_mark {
	_Atomic uint8_t value;
};

static inline void hauli_mark_set(struct hauli_mark *m, uint8_t value)
{
	atomic_store_explicit(&m->value, value, memory_order_relaxed /* decides nothing */);
}

static inline uint8_t hauli_mark_get(const struct hauli_mark *m)
{
	return atomic_load_explicit(&m->value, memory_order_relaxed /* own, or for show */);
}

/* Several may do it at a time, each with bits of its own. */
static inline void hauli_mark_add(struct hauli_mark *m, uint8_t bits)
{
	atomic_fetch_or_explicit(&m->value, bits, memory_order_relaxed /* decides nothing */);
}

static inline void hauli_mark_remove(struct hauli_mark *m, uint8_t bits)
{
	atomic_fetch_and_explicit(
		&m->value, (uint8_t)~bits, memory_order_relaxed /* decides nothing */);
}

struct hauli_stamp {
	_Atomic uint64_t value;
};

static inline void hauli_stamp_set(struct hauli_stamp *s, uint64_t value)
{
	atomic_store_explicit(&s->value, value, memory_order_relaxed /* decides nothing */);
}

static inline uint64_t hauli_stamp_get(const struct hauli_stamp *s)
{
	return atomic_load_explicit(&s->value, memory_order_relaxed /* own, or a hint */);
}

struct hauli_count {
	_Atomic uint32_t value;
};

static inline void hauli_count_set(struct hauli_count *n, uint32_t value)
{
	atomic_store_explicit(&n->value, value, memory_order_release /* word.E4:R */);
}

static inline uint32_t hauli_count_get(const struct hauli_count *n)
{
	return atomic_load_explicit(&n->value, memory_order_acquire /* word.E4:A */);
}

struct hauli_tally {
	_Atomic uint64_t value;
};

static inline void hauli_tally_add(struct hauli_tally *t, uint64_t n)
{
	atomic_fetch_add_explicit(&t->value, n, memory_order_relaxed /* a number only */);
}

static inline uint64_t hauli_tally_get(const struct hauli_tally *t)
{
	return atomic_load_explicit(&t->value, memory_order_relaxed /* a number only */);
}

struct hauli_permit {
	_Atomic bool given;
};

static inline void hauli_permit_give(struct hauli_permit *p)
{
	atomic_store_explicit(&p->given, true, memory_order_release /* word.E3:R */);
}

/* Who gives. */
static inline bool hauli_permit_is_given(const struct hauli_permit *p)
{
	return atomic_load_explicit(&p->given, memory_order_relaxed /* own */);
}

static inline void hauli_permit_take(struct hauli_permit *p)
{
	atomic_store_explicit(&p->given, false, memory_order_relaxed /* own */);
}

/* The other one. */
static inline bool hauli_permit_take_away(struct hauli_permit *p)
{
	return atomic_exchange_explicit(&p->given, false, memory_order_acquire /* word.E3:A */);
}

struct hauli_turn {
	_Atomic uint32_t next;
};

static inline uint32_t hauli_turn_take(struct hauli_turn *t)
{
	return atomic_fetch_add_explicit(&t->next, 1, memory_order_relaxed /* a number only */);
}

/* How many were taken. */
static inline uint32_t hauli_turn_get(const struct hauli_turn *t)
{
	return atomic_load_explicit(&t->next, memory_order_relaxed /* a number only */);
}

#endif
