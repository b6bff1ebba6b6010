/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Small words that several threads look at, each with its one rule.
 *
 *	slot    claimed by whoever comes first, freed by its holder
 *	        E1 what the last holder did before what the next one does: release, acquire
 *	link    a pointer with one writer, which publishes what it points to
 *	        E2 the writer's earlier writes before the reader's use: release, acquire
 *	mark    a byte with one writer, for others to show
 *	turn    deals out numbers
 *
 * Model of slot, link and event: tests/model/word.c.
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

struct hauli_turn {
	_Atomic uint32_t next;
};

static inline uint32_t hauli_turn_take(struct hauli_turn *t)
{
	return atomic_fetch_add_explicit(&t->next, 1, memory_order_relaxed /* a number only */);
}

#endif
