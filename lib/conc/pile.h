/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A pile of nodes: any thread adds one, and the owner takes all, the newest first. All zero: empty.
 *
 * One word: add is a compare-and-swap, take an exchange. So each node is taken once.
 *
 *	E1  the adder's writes, the node's link among them, before the owner's reads: release in
 *	    add, acquire in take. An add that follows others is a read-modify-write, so the take
 *	    acquires from each of them.
 *
 * Model: tests/model/pile.c, join_until.c.
 */
#ifndef HAULI_CONC_PILE_H
#define HAULI_CONC_PILE_H

#include "conc/inbox.h"

struct hauli_pile {
	_Atomic(struct hauli_node *) top;
};

static inline void hauli_pile_add(struct hauli_pile *p, struct hauli_node *node)
{
	struct hauli_node *top = atomic_load_explicit(&p->top, memory_order_relaxed /* a guess */);

	do {
		node->next = top;
	} while (!atomic_compare_exchange_weak_explicit(&p->top, &top, node,
		memory_order_release /* pile.E1:R */, memory_order_relaxed /* a guess */));
}

static inline struct hauli_node *hauli_pile_take(struct hauli_pile *p)
{
	return atomic_exchange_explicit(&p->top, NULL, memory_order_acquire /* pile.E1:A */);
}

#endif
