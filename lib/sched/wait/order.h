/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Order among coroutines of one home, some of which may be stolen. Coroutines with the same order
 * key (haul_coro_opts.order_key) pass the ordered step, which is sending, in the order in which
 * they would without stealing. The proof is in order.c.
 */
#ifndef HAULI_SCHED_WAIT_ORDER_H
#define HAULI_SCHED_WAIT_ORDER_H

#include "sched/state/carrier.h"

/* Any thread. True if an ordered coroutine of this home may be stolen; false is exact for the
 * owner. */
static inline bool hauli_order_any_remote(const struct haul_carrier *home)
{
	return hauli_u64_owned_get(&home->steal.orders.members) != 0;
}

/* Owner, for a co that is at home. True if an earlier coroutine may be stolen, so that co must call
 * hauli_order_enter(). */
static inline bool hauli_order_matters(const struct haul_carrier *c, const struct haul_coro *co)
{
	bool has = (uint8_t)(co->order_key - 1) < HAUL_ORDER_KEYS;

	return has && hauli_order_any_remote(c);
}

/* Owner. Sets the key function for coroutines of home c. All calls must set the same function. */
void hauli_order_set_key_fn(struct haul_carrier *c, hauli_order_key_fn *ask);

/* Called by the running coroutine, which may be stolen: calls the key function for it if its key is
 * HAULI_ORDER_KEY_ASK. */
void hauli_order_ask_key(void);

/* Called by a coroutine as it begins: gets its key if coroutines of its home may be stolen. */
static inline void hauli_order_begins(const struct haul_carrier *home)
{
	if (hauli_unlikely(hauli_order_any_remote(home) || home->steal.orders.asks_always))
		hauli_order_ask_key();
}

/* Thief, under the guard of the ring of v, the home of co. Gives co its rank. Must be called in
 * the order of the thefts. */
void hauli_order_take(struct haul_carrier *v, struct haul_coro *co);

/* Owner, whose running coroutine co was at home, and is left behind or lets others run in the midst
 * of its slice: gives it its rank. False: it has no order key. */
bool hauli_order_leave_behind(struct haul_carrier *c, struct haul_coro *co);

/* Home, when co is back and has ended its slice: others need not wait for it any more. */
void hauli_order_withdraw(struct haul_carrier *c, struct haul_coro *co);

/* Called by co itself, at home and pinned. enter suspends co until no earlier coroutine can still
 * enter; leave lets the next coroutine enter. w is in use from enter to leave. */
void hauli_order_enter(struct haul_carrier *c, struct haul_coro *co, struct hauli_waiter *w);
void hauli_order_leave(struct haul_carrier *c, struct haul_coro *co, struct hauli_waiter *w);

#endif
