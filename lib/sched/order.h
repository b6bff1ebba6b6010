/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Order among coroutines of one home that some carrier may have stolen. Those with the same order
 * key (haul_coro_opts.order_key) come to what has to be in order, which is sending, as if nobody
 * had stolen any. The argument is in order.c.
 */
#ifndef HAULI_SCHED_ORDER_H
#define HAULI_SCHED_ORDER_H

#include "sched/carrier.h"

/* Any thread. True if an ordered coroutine of this home may be stolen; false is exact for the
 * owner. */
static inline bool hauli_order_any_remote(const struct haul_carrier *home)
{
	return hauli_u64_owned_get(&home->orders.members) != 0;
}

/* Owner, for co that is at home. True if a stolen one may be before it: co has to enter. */
static inline bool hauli_order_matters(const struct haul_carrier *c, const struct haul_coro *co)
{
	bool has = (uint8_t)(co->order_key - 1) < HAUL_ORDER_KEYS;

	return has && hauli_order_any_remote(c);
}

/* Owner. Sets the function that gives numbers to the coroutines at home on c. Always the same. */
void hauli_order_set_key_fn(struct haul_carrier *c, hauli_order_key_fn *ask);

/* The running coroutine, which may be stolen: asks for its number. */
void hauli_order_ask_key(void);

/* The running coroutine, before its first slice: asks if others of that home may be stolen. */
static inline void hauli_order_begins(const struct haul_carrier *home)
{
	if (hauli_unlikely(hauli_order_any_remote(home)))
		hauli_order_ask_key();
}

/* Thief, under the guard of the ring of v, which is co's home. In the order of its thefts. */
void hauli_order_take(struct haul_carrier *v, struct haul_coro *co);

/* Home. co, which is back, has nothing to do in order: others need not wait for it. */
void hauli_order_withdraw(struct haul_carrier *c, struct haul_coro *co);

/* co itself, at home and pinned. enter waits until co may go on; leave lets the next one enter. w
 * is in use from enter to leave. */
void hauli_order_enter(struct haul_carrier *c, struct haul_coro *co, struct hauli_waiter *w);
void hauli_order_leave(struct haul_carrier *c, struct haul_coro *co, struct hauli_waiter *w);

#endif
