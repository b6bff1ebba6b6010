/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Promise: coroutines of one order key and one home pass hauli_order_enter() in the order in which
 * their slices would have run at home, whichever of them are stolen.
 *
 * A thief takes the oldest coroutine (conc/ring.c: it passes over pinned ones only), so without the
 * theft each stolen coroutine would have run before every coroutine that runs at home later. A
 * theft of an ordered coroutine gives it the next even number, its rank. When the owner opens a
 * batch, it notes the number of the last theft that it sees; coroutines that run at home in the
 * batch rank behind that theft.
 *
 *	rank of a stolen coroutine     the number of its theft
 *	rank of a coroutine at home    one more than the last number that its batch has seen
 *
 * A coroutine that enters waits for all stolen ones with a smaller rank, and for those before it
 * in the line. The line is sorted by rank; a newcomer goes behind equal ranks. A coroutine that
 * has come home in the midst of its slice, to send or for a scope, stays in the list of stolen ones
 * until it enters or the slice ends, since others may run before it. It cannot be stolen anew with
 * a rank: it is stolen until the slice ends, or pinned until it has entered (stolen.c).
 *
 * A slice that enters a second time comes before all others: the first time it has waited for each
 * smaller rank, and no other coroutine has run since. It enters at the front, with the rank it had.
 *
 * Why a slice that runs at home belongs right behind the thefts that its batch has seen:
 * - A theft closes the batch (conc/ring.c). The slice that runs at that time was popped before
 *   the head from which the thief begins, so it is older than what the thief takes; its batch
 *   has not seen that theft, and it is the last slice of the batch.
 * - The owner notes the number when the batch is open and nothing is popped. If the number
 *   includes that theft, the thief published it after it had closed the limit (word.E4), so the
 *   first pop finds the limit closed.
 * - A coroutine that runs at home later comes out of the ring, the backlog or the detached mail
 *   after the thief has released the guard. The owner has held the guard since, so it sees the
 *   number.
 *
 * A slice that its carrier leaves behind (run/rescue.c) becomes a stolen one while it runs. Its
 * rank stays that of a coroutine at home in its batch, which is odd: behind the thefts that the
 * batch has seen, before later ones, which were taken from behind it. The number of the last theft
 * becomes greater than this rank, so that coroutines of later batches are behind it.
 *
 * Few coroutines need their key, so it may be computed late (HAULI_ORDER_KEY_ASK): by a thief, for
 * a coroutine that has not begun; and by a coroutine that begins at home while there are members.
 * If there are no members it needs no key: by the first point above, coroutines stolen during its
 * slice belong behind it. But where a carrier may leave it behind, it computes its key in any case.
 * After a coroutine has begun its argument may be freed, so its key is not computed any more: if it
 * is stolen then, it is not ordered.
 *
 * No coroutine waits forever: it waits for smaller ranks only, and a remote coroutine ends its
 * slice. A coroutine that has entered or waits is pinned. A coroutine that is stolen again before
 * its slice has ended, even by its home, keeps its rank: coroutines behind it may have compared
 * theirs with it already.
 *
 * Lists and numbers are under the guard of the home's ring. members is read without the guard: by
 * the third point above, a coroutine that finds no members has no stolen one before it.
 *
 * Model: tests/model/order.c, order_again.c, order_home.c, order_three.c.
 * Stress: tests/stress/order.c, slices.c.
 */
#include "sched/wait/order.h"

#include "conc/ring.h"
#include "sched/state/ready.h"
#include "sched/wait/suspend.h"

static struct hauli_order *order_of(struct haul_carrier *c, const struct haul_coro *co)
{
	return &c->steal.orders.of[co->order_key - 1];
}

static bool is_before(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) < 0;
}

/* Appends co, whose rank is the largest so far. */
static void append(struct haul_coro **at, struct haul_coro *co)
{
	while (*at)
		at = &(*at)->order_next;
	co->order_next = NULL;
	*at = co;
}

static void take_out(struct haul_coro **at, struct haul_coro *co)
{
	while (*at != co)
		at = &(*at)->order_next;
	*at = co->order_next;
}

static void count_members(struct haul_carrier *c, int n)
{
	hauli_u64_owned_set(&c->steal.orders.members,
		hauli_u64_owned_get(&c->steal.orders.members) + (uint64_t)n);
}

void hauli_order_set_key_fn(struct haul_carrier *c, hauli_order_key_fn *ask)
{
	if (!c->steal.orders.ask) /* thieves may read it from the first call on */
		c->steal.orders.ask = ask;
}

static uint8_t ask(const struct haul_carrier *home, const struct haul_coro *co)
{
	return home->steal.orders.ask ? home->steal.orders.ask(co->arg) : 0;
}

void hauli_order_ask_key(void)
{
	struct haul_coro *me = haul_self();

	if (me->order_key == HAULI_ORDER_KEY_ASK)
		me->order_key = ask(hauli_coro_home(me), me);
}

/* The rank of a theft after that of `rank`. */
static uint32_t next_rank(uint32_t rank)
{
	rank += 2;
	rank += 2 * (rank == 0);
	return rank;
}

void hauli_order_take(struct haul_carrier *v, struct haul_coro *co)
{
	if (co->order_key == HAULI_ORDER_KEY_ASK)
		co->order_key = hauli_ctx_is_unstarted(&co->co.ctx) ? ask(v, co) : 0;
	HAUL_BUG_ON(co->rank != 0); /* else it would be in the list twice */
	if (co->order_key == 0)
		return;
	co->rank = next_rank(hauli_u32_published_get(&v->steal.orders.taken));
	append(&order_of(v, co)->remote, co);
	count_members(v, 1);
	hauli_u32_published_set(&v->steal.orders.taken, co->rank);
}

bool hauli_order_leave_behind(struct haul_carrier *c, struct haul_coro *co)
{
	uint32_t seen = c->steal.orders.seen, taken;
	struct haul_coro **at;

	if (co->order_key == HAULI_ORDER_KEY_ASK)
		co->order_key = 0;
	HAUL_BUG_ON(co->rank != 0);
	if (co->order_key == 0)
		return false;
	hauli_ring_hold(&c->runq.ring);
	co->rank = seen + 1;
	at = &order_of(c, co)->remote;
	while (*at && is_before((*at)->rank, co->rank))
		at = &(*at)->order_next;
	co->order_next = *at;
	*at = co;
	count_members(c, 1);
	taken = hauli_u32_published_get(&c->steal.orders.taken);
	if (taken == seen)
		hauli_u32_published_set(&c->steal.orders.taken, next_rank(seen));
	hauli_ring_release(&c->runq.ring);
	return true;
}

/* The first in the line, if it waits and no stolen coroutine has a smaller rank; else NULL. */
static struct haul_coro *may_enter(const struct hauli_order *o)
{
	struct haul_coro *first = o->line.first ? o->line.first->coro : NULL;

	if (!first || hauli_coro_state(first) != HAULI_CORO_ORDER_WAIT)
		return NULL;
	return o->remote && is_before(o->remote->rank, first->rank) ? NULL : first;
}

/* Releases the guard, and makes the first in the line ready if it may enter. */
static void release(struct haul_carrier *c, struct hauli_order *o)
{
	struct haul_coro *next = may_enter(o);

	hauli_ring_release(&c->runq.ring);
	if (next)
		hauli_ready_first(c, next);
}

void hauli_order_withdraw(struct haul_carrier *c, struct haul_coro *co)
{
	struct hauli_order *o;

	if (co->rank == 0)
		return;
	o = order_of(c, co);
	hauli_ring_hold(&c->runq.ring);
	take_out(&o->remote, co);
	co->rank = 0;
	count_members(c, -1);
	release(c, o);
}

static bool must_wait(const struct hauli_order *o, const struct haul_coro *co)
{
	return o->line.first->coro != co || (o->remote && is_before(o->remote->rank, co->rank));
}

/* True if co has entered and left in this slice before: the carrier has run no other since. */
static bool enters_again(const struct haul_carrier *c, const struct haul_coro *co)
{
	return c->steal.orders.left == co &&
		c->steal.orders.left_pops == hauli_ring_popped(&c->runq.ring);
}

/* Inserts w before the first larger rank. Most belong at the end, those that were stolen near the
 * front. */
static void insert(struct hauli_wait_list *line, struct hauli_waiter *w)
{
	struct hauli_waiter *at = line->first;

	if (line->last && !is_before(w->coro->rank, line->last->coro->rank))
		at = NULL;
	while (at && !is_before(w->coro->rank, at->coro->rank))
		at = at->next;
	hauli_wait_list_enter_before(line, w, at);
}

static void join_line(struct haul_carrier *c, struct hauli_order *o, struct hauli_waiter *w)
{
	struct haul_coro *co = w->coro;

	if (co->rank != 0) { /* it was stolen, and is back */
		take_out(&o->remote, co);
		insert(&o->line, w);
		return;
	}
	count_members(c, 1);
	if (enters_again(c, co)) {
		co->rank = c->steal.orders.left_rank;
		hauli_wait_list_enter_before(&o->line, w, o->line.first);
	} else {
		co->rank = c->steal.orders.seen + 1;
		insert(&o->line, w);
	}
}

void hauli_order_enter(struct haul_carrier *c, struct haul_coro *co, struct hauli_waiter *w)
{
	struct hauli_order *o = order_of(c, co);
	bool wait;

	w->coro = co;
	hauli_ring_hold(&c->runq.ring);
	join_line(c, o, w);
	wait = must_wait(o, co);
	if (wait)
		hauli_coro_waits(c, co, HAULI_CORO_ORDER_WAIT);
	hauli_ring_release(&c->runq.ring);
	if (wait)
		hauli_suspend(c, co, false);
}

void hauli_order_leave(struct haul_carrier *c, struct haul_coro *co, struct hauli_waiter *w)
{
	struct hauli_order *o = order_of(c, co);

	c->steal.orders.left = co;
	c->steal.orders.left_rank = co->rank;
	c->steal.orders.left_pops = hauli_ring_popped(&c->runq.ring);
	hauli_ring_hold(&c->runq.ring);
	hauli_wait_list_leave(&o->line, w);
	co->rank = 0;
	count_members(c, -1);
	release(c, o);
}
