/* SPDX-License-Identifier: BSD-3-Clause */
/* The buffered transmit queue: appending, waiting for room, removing. */
#include <errno.h>
#include <string.h>

#include <rte_mbuf.h>

#include <haul/coro.h>

#include "base/assert.h"
#include "base/clock.h"
#include "net/given.h"
#include "net/stamp.h"
#include "net/txq.h"
#include "sched/state/self.h"
#include "sched/wait/block.h"
#include "sched/wait/order.h"
#include "sched/wait/request.h"
#include "sched/wait/suspend.h"

/* A coroutine that waits for room. Lies on the coroutine's stack. Begins as struct
 * hauli_txq_watch. */
struct sender {
	struct hauli_waiter waiter;
	struct rte_mbuf *pkt; /* not NULL */
	struct hauli_block block;
	bool taken; /* the queue owns its packet */
};

void hauli_txq_init(struct haul_txq *txq, struct haul_carrier *carrier, bool *pending)
{
	memset(txq, 0, sizeof(*txq));
	txq->pending = pending;
	txq->carrier = carrier;
	txq->steals = carrier && hauli_steals(carrier);
	txq->fast_end = txq->steals ? 0 : HAULI_TXQ_ROOM;
	txq->home_end = txq->steals ? HAULI_TXQ_ROOM : 0;
}

void hauli_txq_stamps(struct haul_txq *txq)
{
	txq->stamps = true;
	txq->fast_end = txq->home_end = 0;
}

/* Off the fast path. */
static inline void stamp(const struct haul_txq *txq, struct rte_mbuf *pkt)
{
	if (hauli_unlikely(txq->stamps))
		*hauli_pkt_stamp(pkt) = hauli_ticks();
}

/* The room at the end of the array, after moving the packets to its front if they do not begin
 * there. */
static __attribute__((noinline, cold)) uint32_t make_room(struct haul_txq *txq)
{
	uint32_t count = hauli_txq_count(txq);

	if (txq->closed)
		return 0;
	if (txq->first > 0) {
		memmove(txq->pkts, hauli_txq_peek(txq), count * sizeof(txq->pkts[0]));
		txq->counted -= txq->first;
		txq->first = 0;
		txq->end = count;
	}
	return HAULI_TXQ_ROOM - count;
}

static inline uint32_t room(struct haul_txq *txq)
{
	if (hauli_likely(txq->end < HAULI_TXQ_ROOM))
		return HAULI_TXQ_ROOM - txq->end;
	return make_room(txq);
}

static inline void put_one(struct haul_txq *txq, struct rte_mbuf *pkt)
{
	uint32_t end = txq->end;

	txq->pkts[end] = pkt;
	txq->end = end + 1;
	*txq->pending = true;
}

void hauli_txq_count_bytes(struct haul_txq *txq)
{
	uint32_t end = txq->end;
	uint64_t bytes = 0;

#pragma GCC unroll 4
	for (uint32_t i = txq->counted; i < end; i++)
		bytes += txq->pkts[i]->pkt_len;
	hauli_counter_add(&txq->taken_bytes, bytes);
}

uint32_t hauli_txq_put(struct haul_txq *txq, struct rte_mbuf **pkts, uint32_t n)
{
	uint32_t have;

	hauli_txq_account(txq);
	have = room(txq);
	/* If the room at the end does not suffice, use the room in front of the packets, too. */
	if (have < n && txq->first > 0)
		have = make_room(txq);
	if (n > have)
		n = have;
	memcpy(&txq->pkts[txq->end], pkts, n * sizeof(pkts[0]));
	txq->end += n;
	txq->counted = txq->end;
	*txq->pending = true;
	return n;
}

/* True if the caller may use the queue. Where coroutines may be stolen, a remote one sends by
 * another queue, or goes home. */
static inline bool is_mine(const struct haul_txq *txq)
{
	return txq->steals || haul_carrier_self() == txq->carrier;
}

static inline int try_send(struct haul_txq *txq, struct rte_mbuf *pkt)
{
	HAUL_CHECK(haul_carrier_self() == txq->carrier);
	if (hauli_unlikely(room(txq) == 0))
		return -ENOBUFS;
	put_one(txq, pkt);
	return 0;
}

static void join_line(struct haul_txq *txq, struct sender *s)
{
	hauli_wait_list_enter(&txq->waiters, &s->waiter);
	hauli_block_init(&s->block, s->waiter.coro, HAUL_FOREVER, true);
	s->block.what = "room in transmit queue";
	s->block.object = txq;
}

/* Waits until s, which is in line, is served. Returns 0, or -ECANCELED or -ETIMEDOUT if the queue
 * has not taken its packet. The coroutine runs on the carrier of the queue: no other thread serves
 * it. */
static int wait_in_line(struct haul_txq *txq, struct sender *s)
{
	int err = hauli_block_wait(&s->block);

	if (err != 0)
		hauli_wait_list_leave(&txq->waiters, &s->waiter);
	if (s->taken)
		return 0;
	return err ? err : -ECANCELED; /* served by a queue that closes */
}

static __attribute__((noinline)) int wait_for_room(struct haul_txq *txq, struct rte_mbuf *pkt)
{
	struct haul_carrier *c = hauli_here();
	struct sender s = {.waiter.coro = c->current, .pkt = pkt};

	hauli_may_suspend(c->current, "haul_send");
	HAUL_CHECK(haul_coro_home(c->current) == txq->carrier);
	if (txq->closed)
		return -ECANCELED;
	join_line(txq, &s);
	return wait_in_line(txq, &s);
}

/* Sends in the order of the coroutine's key. The packet's position is fixed once it is in the queue
 * or waits in line, so the coroutine leaves the order before it waits for room. */
static int send_in_order(struct haul_carrier *c, struct haul_txq *txq, struct rte_mbuf *pkt)
{
	struct sender s = {.waiter.coro = c->current, .pkt = pkt};
	struct haul_coro *me = c->current;
	struct hauli_waiter turn;
	int err;

	hauli_order_enter(c, me, &turn);
	err = try_send(txq, pkt);
	if (err && !txq->closed)
		join_line(txq, &s);
	hauli_order_leave(c, me, &turn);
	if (err)
		err = txq->closed ? -ECANCELED : wait_in_line(txq, &s);
	return err;
}

static int send_at_home(struct haul_carrier *c, struct haul_txq *txq, struct rte_mbuf *pkt)
{
	if (hauli_order_matters(c, c->current))
		return send_in_order(c, txq, pkt);
	if (hauli_likely(try_send(txq, pkt) == 0))
		return 0;
	return wait_for_room(txq, pkt);
}

/* The queue of the same port on carrier c, where a stolen coroutine runs; NULL: the coroutine must
 * go home. */
static struct haul_txq *queue_here(const struct haul_txq *txq, const struct haul_carrier *c)
{
	return c->id < txq->nb_of_carriers ? txq->of_carriers[c->id] : NULL;
}

static int send_remote(struct haul_carrier *c, struct haul_txq *txq, struct rte_mbuf *pkt)
{
	struct haul_coro *me = c->current;
	struct haul_txq *here = queue_here(txq, c);
	int err;

	if (here && try_send(here, pkt) == 0)
		return 0;
	me->pinned |= HAULI_PINNED_FOR_NOW;
	hauli_stolen_go_home(c, me, HAULI_BACK_SEND);
	err = send_at_home(hauli_here(), txq, pkt);
	me->pinned &= (uint8_t)~HAULI_PINNED_FOR_NOW;
	return err;
}

/* For carriers that steal: the coroutine may be remote, and so may be earlier ones of its key. */
static __attribute__((noinline)) int send_slow(struct haul_txq *txq, struct rte_mbuf *pkt)
{
	struct haul_carrier *c = hauli_here();
	struct haul_coro *me = c->current;
	int err;

	hauli_may_suspend(me, "haul_send");
	if (hauli_coro_is_stolen(me))
		return send_remote(c, txq, pkt);
	me->pinned |= HAULI_PINNED_FOR_NOW;
	err = send_at_home(c, txq, pkt);
	me->pinned &= (uint8_t)~HAULI_PINNED_FOR_NOW;
	return err;
}

/* The common case of it: the coroutine is at home, and no ordered coroutine of this home can be
 * remote. False: nothing was done. */
static inline bool try_send_from_home(struct haul_txq *txq, struct rte_mbuf *pkt)
{
	const struct haul_carrier *c = hauli_here();

	return hauli_likely(c == txq->carrier && !hauli_order_any_remote(c)) &&
		hauli_likely(try_send(txq, pkt) == 0);
}

/* Out of line, so that the fast path saves no register. */
static __attribute__((noinline)) int send_off_path(struct haul_txq *txq, struct rte_mbuf *pkt)
{
	stamp(txq, pkt);
	if (txq->steals)
		return try_send_from_home(txq, pkt) ? 0 : send_slow(txq, pkt);
	if (hauli_likely(try_send(txq, pkt) == 0))
		return 0;
	return wait_for_room(txq, pkt);
}

static inline int send(struct haul_txq *txq, struct rte_mbuf *pkt)
{
	if (HAUL_CHECKS) /* without checks: only where it has to wait */
		hauli_may_suspend(hauli_here()->current, "haul_send");
	HAUL_CHECK(txq && pkt && is_mine(txq));
	if (hauli_likely(hauli_txq_send_fast(txq, pkt)))
		return 0;
	return send_off_path(txq, pkt);
}

int haul_send(struct haul_txq *txq, struct rte_mbuf *pkt)
{
	int err;

	hauli_pkt_give(pkt, "haul_send");
	err = send(txq, pkt);
	if (HAUL_CHECKS && err)
		hauli_pkt_take(pkt);
	return err;
}

/* For carriers that steal. A remote coroutine must not access the queue of its home. */
static __attribute__((noinline)) int try_send_slow(struct haul_txq *txq, struct rte_mbuf *pkt)
{
	struct haul_carrier *c = hauli_here();
	struct haul_coro *me = c->current;

	if (me && hauli_coro_is_stolen(me)) {
		txq = queue_here(txq, c);
		if (!txq)
			return -EAGAIN;
	} else if (me && hauli_order_matters(c, me)) {
		return -EAGAIN;
	}
	return try_send(txq, pkt);
}

static inline int send_without_waiting(struct haul_txq *txq, struct rte_mbuf *pkt)
{
	HAUL_CHECK(txq && pkt && is_mine(txq));
	if (hauli_likely(hauli_txq_send_fast(txq, pkt)))
		return 0;
	stamp(txq, pkt);
	if (txq->steals)
		return try_send_slow(txq, pkt);
	return try_send(txq, pkt);
}

int haul_try_send(struct haul_txq *txq, struct rte_mbuf *pkt)
{
	int err;

	hauli_pkt_give(pkt, "haul_try_send");
	err = send_without_waiting(txq, pkt);
	if (HAUL_CHECKS && err)
		hauli_pkt_take(pkt);
	return err;
}

_Static_assert(offsetof(struct sender, pkt) == offsetof(struct hauli_txq_watch, pkt),
	"both are in one list");

static struct sender *first_sender(struct haul_txq *txq)
{
	return (struct sender *)txq->waiters.first;
}

void hauli_txq_watch_no_more(struct haul_txq *txq, struct hauli_txq_watch *w)
{
	if (w->waits)
		hauli_wait_list_leave(&txq->waiters, &w->waiter);
	w->waits = false;
}

int hauli_txq_watch(struct haul_txq *txq, struct hauli_txq_watch *w)
{
	struct haul_carrier *c = hauli_here();

	HAUL_CHECK(c == txq->carrier);
	if (txq->closed)
		return -ECANCELED;
	if (hauli_order_matters(c, c->current))
		return -EAGAIN;
	w->pkt = NULL;
	w->waits = room(txq) == 0;
	if (w->waits)
		hauli_wait_list_enter(&txq->waiters, &w->waiter);
	else
		haul_event_set(w->room);
	return 0;
}

static void serve_first(struct haul_txq *txq)
{
	struct sender *s = first_sender(txq);

	if (hauli_unlikely(!s->pkt)) {
		struct hauli_txq_watch *w = (struct hauli_txq_watch *)s;

		hauli_txq_watch_no_more(txq, w);
		haul_event_set(w->room);
		return;
	}
	hauli_wait_list_leave(&txq->waiters, &s->waiter);
	hauli_serve(s->waiter.coro, false);
}

void hauli_txq_admit(struct haul_txq *txq)
{
	while (txq->waiters.first && room(txq) > 0) {
		if (hauli_likely(first_sender(txq)->pkt != NULL)) {
			put_one(txq, first_sender(txq)->pkt);
			first_sender(txq)->taken = true;
		}
		serve_first(txq);
	}
}

void hauli_txq_close(struct haul_txq *txq)
{
	HAUL_CHECK(hauli_txq_count(txq) == 0);
	txq->closed = true;
	txq->first = txq->end = txq->counted = HAULI_TXQ_ROOM;
	while (txq->waiters.first)
		serve_first(txq);
}
