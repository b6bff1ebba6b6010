/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stolen coroutine runs one slice on the thief. Its home still decides everything about it: when
 * it yields, parks, sleeps, joins or ends, a message tells its home, which acts as if the coroutine
 * had made that call at home when the message arrives. Meanwhile the home handles requests to it as
 * for a running coroutine. So the argument of design/0001 for wake, time-out and cancel holds for
 * it as well.
 *
 * The thief sets the flag STOLEN, and the home clears it when the coroutine is back. Only the home
 * writes the state, which stays READY in the meantime, so no thread sees the coroutine as parked.
 *
 * The slice may run at home after all, in two cases. The home, which steals like any other carrier,
 * may take the coroutine back from a thief that has not run it. And a coroutine that needs its
 * home's thread in the midst of its slice, for a scope or for haul_pin(), goes there by a message
 * (hauli_go_on_at_home()). In both cases it counts as stolen until its slice ends, and a message,
 * now from the home to itself, tells how the slice ended. So a coroutine loses its rank (order.c)
 * only here, where the slice of a stolen one ends, and no path of a coroutine at home needs to
 * check for a rank. The spawn message of a coroutine that was taken back may still be in the mail,
 * and does no harm.
 *
 *	what a stolen one does                              STOLEN       its rank
 *	yields, parks, sleeps, joins, blocks, or ends       until back   until back
 *	needs its home's thread                             until the slice ends, at home
 *	sends in order                                      until back   until it has entered
 *
 * From the message that brings a sender home until it enters the order, nothing suspends it, and it
 * is pinned: so it can neither end nor be stolen again while it has a rank.
 */
#include "sched/steal/stolen.h"

#include "sched/state/ready.h"
#include "sched/state/self.h"
#include "sched/wait/block.h"
#include "sched/wait/join.h"
#include "sched/wait/order.h"
#include "sched/wait/park.h"

#define OUTSIDE "called outside a coroutine: there is nothing that could be stolen"

struct haul_carrier *haul_carrier_self(void)
{
	struct haul_carrier *c = hauli_self();

	return c ? hauli_real_carrier(c) : NULL;
}

static inline bool is_nobody(const struct haul_coro *me)
{
	return hauli_u8_shared_get(&me->flags) & HAULI_FLAG_NOBODY;
}

void haul_pin(void)
{
	struct haul_carrier *c = hauli_here();
	struct haul_coro *me = c->current;

	HAUL_MISUSE_IF(is_nobody(me), OUTSIDE);
	if (!hauli_steals(c))
		return; /* nobody steals it in any case */
	me->pinned |= HAULI_PINNED_BY_CALL;
	hauli_u8_shared_set_bits(&me->flags, HAULI_FLAG_KEPT);
	hauli_go_on_at_home(c, me);
}

void haul_unpin(void)
{
	struct haul_coro *me = hauli_here()->current;

	HAUL_MISUSE_IF(is_nobody(me), OUTSIDE);
	me->pinned &= (uint8_t)~HAULI_PINNED_BY_CALL;
	if (!me->pinned && (hauli_u8_shared_get(&me->flags) & HAULI_FLAG_KEPT))
		hauli_u8_shared_clear_bits(&me->flags, HAULI_FLAG_KEPT);
}

/* The slice of co has ended on the thief: from now on co is like any other coroutine at home. */
static void slice_has_ended(struct haul_carrier *c, struct haul_coro *co)
{
	hauli_u8_shared_clear_bits(&co->flags, HAULI_FLAG_STOLEN);
	if (co->back != HAULI_BACK_SEND)
		hauli_order_withdraw(c, co);
}

/* A row for each kind of wait that a stolen coroutine can begin (an order wait begins at home
 * only): begins it; false: it has ended already. */
static bool (*const begin[])(struct haul_carrier *c, struct haul_coro *co) = {
	[HAULI_CORO_PARKED] = hauli_park_begin_here,
	[HAULI_CORO_SLEEPING] = hauli_sleep_begin_here,
	[HAULI_CORO_JOINING] = hauli_join_begin_here,
	[HAULI_CORO_BLOCKED] = hauli_block_begin_here,
};

/* hauli_coro_waits() takes the begin of the wait from batch_began, which is 0 here, between two
 * batches. So it is set to now meanwhile. */
static void wait(struct haul_carrier *c, struct haul_coro *co, enum hauli_coro_state kind)
{
	uint64_t batch_began = hauli_u64_owned_get(&c->steal.batch_began);

	hauli_u64_owned_set(&c->steal.batch_began, hauli_timer_ticks());
	if (!begin[kind](c, co))
		hauli_ready(c, co);
	hauli_u64_owned_set(&c->steal.batch_began, batch_began);
}

static bool slice_goes_on(const struct haul_coro *co)
{
	return co->back == HAULI_BACK_SAME || co->back == HAULI_BACK_LATER ||
		co->back == HAULI_BACK_LONG;
}

void hauli_stolen_is_back(struct haul_carrier *c, struct haul_coro *co)
{
	if (!slice_goes_on(co))
		slice_has_ended(c, co);
	switch ((enum hauli_back)co->back) {
	case HAULI_BACK_YIELD:
		hauli_ready(c, co);
		break;
	case HAULI_BACK_SAME: /* it still counts as stolen, but goes into the queue of its home */
		hauli_runq_push_first(&c->runq, hauli_entry_of_begun(co));
		break;
	case HAULI_BACK_LATER:
		hauli_runq_push(&c->runq, hauli_entry_of_begun(co));
		break;
	case HAULI_BACK_OVER:
		hauli_traced_ready(c, co);
		hauli_coro_set_state(co, HAULI_CORO_READY);
		__attribute__((fallthrough));
	case HAULI_BACK_LONG:
		hauli_runq_push_long(&c->runq, hauli_entry_of_begun(co));
		break;
	case HAULI_BACK_SEND:
		hauli_ready_first(c, co);
		break;
	case HAULI_BACK_END:
		hauli_coro_drop_stack(c, co);
		hauli_coro_finish(c, co);
		if (co->detached)
			hauli_coro_free(c, co);
		break;
	default:
		wait(c, co, co->back & ~HAULI_BACK_WAIT);
		break;
	}
}

static struct haul_coro *coro_of(struct hauli_msg *msg)
{
	return HAULI_CONTAINER(msg, struct haul_coro, back_msg);
}

static void handle(struct haul_carrier *c, struct hauli_msg *msg)
{
	hauli_stolen_is_back(c, coro_of(msg));
}

static struct haul_coro *stealable(struct hauli_msg *msg)
{
	struct haul_coro *co = coro_of(msg);

	return co->back == HAULI_BACK_YIELD || co->back == HAULI_BACK_OVER ? co : NULL;
}

static const struct hauli_msg_kind back_msg = {handle, stealable};

void hauli_stolen_mark(struct haul_coro *co)
{
	hauli_u8_shared_set_bits(&co->flags, HAULI_FLAG_STOLEN);
	co->back = HAULI_BACK_YIELD; /* unless the coroutine sets another value */
	co->back_msg.kind = &back_msg;
}

void hauli_stolen_take(struct haul_coro *co)
{
	if (!hauli_coro_is_stolen(co))
		hauli_order_take(hauli_coro_home(co), co);
	hauli_stolen_mark(co);
}
