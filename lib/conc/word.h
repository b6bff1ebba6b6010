/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Single words that several threads access. Each type has one rule.
 *
 *	slot    claimed by the first thread that tries, freed by its holder
 *	        E1 what a holder did before what the next holder does: release, acquire
 *	link    a pointer with one writer, which publishes what it points to
 *	        E2 the writer's earlier writes before the reader's use: release, acquire
 *	mark    8 bits that order nothing: one writer at a time sets them, or several writers add
 *	        and remove bits of their own
 *	stamp   64 bits that order nothing, with one writer at a time
 *	count   32 bits with one writer at a time: the progress of that writer
 *	        E4 what the writer did before it set the number, before what follows a reader's
 *	        load of that number: release, acquire
 *	turn    a ticket dispenser, 32 bits: each take returns the next number
 *	tally   64 bits that any thread adds to
 *	permit  given by one thread, taken by the same thread or by a remote one
 *	        E3 what the giver did before what follows the remote take: release, acquire. The
 *	        remote take is an exchange: it returns a permit that is given at the same time
 *	        together with all that came before it, or leaves it there
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

/* Several writers may add and remove at the same time, each its own bits. */
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

/* The giver. */
static inline bool hauli_permit_is_given(const struct hauli_permit *p)
{
	return atomic_load_explicit(&p->given, memory_order_relaxed /* own */);
}

static inline void hauli_permit_take(struct hauli_permit *p)
{
	atomic_store_explicit(&p->given, false, memory_order_relaxed /* own */);
}

/* Any thread but the giver. */
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

/* The number of tickets taken so far. */
static inline uint32_t hauli_turn_get(const struct hauli_turn *t)
{
	return atomic_load_explicit(&t->next, memory_order_relaxed /* a number only */);
}

#endif
