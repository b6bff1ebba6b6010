/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Order among coroutines of one home that some carrier may have stolen. Those with the same order
 * number (haul_coro_opts.order) come to what has to be in order, which is sending, as if nobody had
 * stolen any. The argument is in order.c.
 */
#ifndef HAULI_SCHED_ORDER_H
#define HAULI_SCHED_ORDER_H

#include <haul/coro.h>

#include "base/cacheline.h"
#include "conc/word.h"

struct haul_coro;
struct haul_carrier;

/*
 * In place of a number: it is asked for, with the coroutine's argument, if somebody needs it before
 * the first slice. Who has begun without it has none.
 */
#define HAULI_ORDER_ASK 255
typedef uint8_t hauli_order_fn(const void *arg);

/* Those of one order number. Linked by order_next. */
struct hauli_order {
	struct haul_coro *away; /* stolen, and not known to be done; the first stolen first */
	struct haul_coro *line; /* have come to their turn, or wait for it; by their places */
};

struct hauli_orders {
	HAULI_LINE struct hauli_count taken; /* thefts from this carrier. Thieves */
	struct hauli_stamp members; /* of all lists. Under the guard */
	uint32_t seen; /* taken, when the running chain began. Owner */
	hauli_order_fn *ask; /* for HAULI_ORDER_ASK, or NULL */
	struct hauli_order of[HAUL_ORDERS]; /* under the guard of the carrier's ring */
};

/* Thief, in the ring of v, which is co's home. In the order in which it takes them. */
void hauli_order_take(struct haul_carrier *v, struct haul_coro *co);

/* The owner: who is asked for numbers of those that are at home there. Always the same. */
void hauli_order_ask_by(struct haul_carrier *c, hauli_order_fn *ask);

/* The running coroutine, which may be away, when others of that home are, or were: asks. */
void hauli_order_ask(void);

/* Home. co, which is back, has nothing to do in order: others need not wait for it. */
void hauli_order_forget(struct haul_carrier *c, struct haul_coro *co);

/* co itself, at home and pinned: waits for its turn; and has done what it waited for. */
void hauli_order_enter(struct haul_carrier *c, struct haul_coro *co);
void hauli_order_leave(struct haul_carrier *c, struct haul_coro *co);

#endif
