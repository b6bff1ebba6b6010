/* SPDX-License-Identifier: BSD-3-Clause */
/* The buffered transmit queue: order, room, waiting senders, cancelling, closing. */
#include <errno.h>

#include <rte_mbuf.h>

#include <haul/net.h>

#include "net/txq.h"
#include "support/runtime.h"
#include "support/suite.h"

#define PKTS (4 * HAULI_TXQ_ROOM)

static struct rte_mbuf pkts[PKTS];
static struct haul_txq txq;
static bool pending;
static struct haul_runtime *rt;

/* Runs body as a coroutine of the queue's carrier. */
static void on_carrier(haul_fn *body)
{
	unsigned i;

	for (i = 0; i < PKTS; i++)
		pkts[i].pkt_len = 60 + i;
	rt = runtime_start(1);
	pending = false;
	hauli_txq_init(&txq, haul_carrier(rt, 0), &pending);
	txq.counts_bytes = true;
	run_on(rt, 0, body, NULL);
	runtime_stop(rt);
}

/* Takes n packets off and checks that they are numbered from first on. */
static void pop_expect(unsigned first, unsigned n)
{
	unsigned i;

	for (i = 0; i < n; i++) {
		ck_assert_uint_gt(hauli_txq_count(&txq), 0);
		ck_assert_ptr_eq(hauli_txq_peek(&txq)[0], &pkts[first + i]);
		hauli_txq_pop(&txq, 1);
	}
}

static void take_off(unsigned n)
{
	(void)hauli_txq_peek(&txq);
	hauli_txq_pop(&txq, n);
}

static void fill(unsigned from)
{
	unsigned i;

	for (i = 0; i < HAULI_TXQ_ROOM; i++)
		ck_assert_int_eq(haul_try_send(&txq, &pkts[from + i]), 0);
}

static void *keeps_order(void *arg)
{
	unsigned in = 0, out = 0;
	uint64_t bytes = 0;

	ck_assert(!pending);
	/* Three in, two out: the packets reach the end of the array and move to its front. */
	while (in + 3 <= PKTS / 2) {
		ck_assert_int_eq(haul_try_send(&txq, &pkts[in++]), 0);
		ck_assert_uint_eq(hauli_txq_put(&txq, (struct rte_mbuf *[]){&pkts[in]}, 1), 1);
		in++;
		ck_assert_int_eq(haul_try_send(&txq, &pkts[in++]), 0);
		pop_expect(out, 2);
		out += 2;
	}
	ck_assert(pending);
	pop_expect(out, in - out);
	ck_assert_uint_eq(hauli_txq_count(&txq), 0);
	for (unsigned i = 0; i < in; i++)
		bytes += i % 3 == 1 ? 0 : pkts[i].pkt_len; /* put's caller counts its own */
	ck_assert_uint_eq(hauli_counter_read(&txq.taken), in / 3 * 2);
	ck_assert_uint_eq(hauli_counter_read(&txq.taken_bytes), bytes);
	return NULL;
}

static void *is_full_at_its_room(void *arg)
{
	struct rte_mbuf *more[4] = {&pkts[HAULI_TXQ_ROOM], &pkts[HAULI_TXQ_ROOM + 1],
		&pkts[HAULI_TXQ_ROOM + 2], &pkts[HAULI_TXQ_ROOM + 3]};

	fill(0);
	ck_assert_int_eq(haul_try_send(&txq, more[0]), -ENOBUFS);
	hauli_txq_account(&txq);
	ck_assert_uint_eq(hauli_counter_read(&txq.taken), HAULI_TXQ_ROOM);
	ck_assert_uint_eq(hauli_txq_put(&txq, more, 4), 0);
	ck_assert_uint_eq(hauli_counter_read(&txq.taken), HAULI_TXQ_ROOM);
	pop_expect(0, 3);
	ck_assert_uint_eq(hauli_txq_put(&txq, more, 4), 3);
	ck_assert_int_eq(haul_try_send(&txq, more[3]), -ENOBUFS);
	pop_expect(3, HAULI_TXQ_ROOM);
	ck_assert_uint_eq(hauli_txq_count(&txq), 0);
	return NULL;
}

static void *uses_the_room_in_front(void *arg)
{
	struct rte_mbuf *more[4];

	for (unsigned i = 0; i < HAULI_TXQ_ROOM - 1; i++)
		ck_assert_int_eq(haul_try_send(&txq, &pkts[i]), 0);
	hauli_txq_account(&txq);
	pop_expect(0, 3);
	for (unsigned i = 0; i < 4; i++)
		more[i] = &pkts[HAULI_TXQ_ROOM - 1 + i];
	ck_assert_uint_eq(hauli_txq_put(&txq, more, 4), 4);
	pop_expect(3, HAULI_TXQ_ROOM);
	return NULL;
}

/* A sender of one packet, and its result. */
struct sender {
	struct rte_mbuf *pkt;
	struct haul_coro *coro;
	int result;
	bool began, ended;
	bool has_permit; /* after the send */
};

static void *send_one(void *arg)
{
	struct sender *s = arg;

	s->began = true;
	s->result = haul_send(&txq, s->pkt);
	s->has_permit = haul_park(0) == 0;
	s->ended = true;
	return NULL;
}

/* Starts n senders, one by one, of the packets numbered from first on. */
static void start_senders(struct sender *s, unsigned n, unsigned first)
{
	unsigned i;

	for (i = 0; i < n; i++) {
		s[i] = (struct sender){.pkt = &pkts[first + i]};
		ck_assert_int_eq(haul_spawn(&s[i].coro, send_one, &s[i], NULL), 0);
		WAIT_UNTIL(s[i].began);
	}
}

static void join_senders(struct sender *s, unsigned n)
{
	unsigned i;

	for (i = 0; i < n; i++)
		ck_assert_int_eq(haul_join(s[i].coro, NULL, HAUL_FOREVER), 0);
}

static void *serves_waiters_in_order(void *arg)
{
	struct sender s[8];
	unsigned i;

	fill(0);
	start_senders(s, 8, HAULI_TXQ_ROOM);
	for (i = 0; i < 8; i++)
		ck_assert(!s[i].ended);
	/* Each sent packet admits one waiter; a later sender does not overtake. */
	pop_expect(0, 1);
	ck_assert_int_eq(haul_try_send(&txq, &pkts[PKTS - 1]), -ENOBUFS);
	hauli_txq_account(&txq);
	ck_assert_uint_eq(hauli_counter_read(&txq.taken), HAULI_TXQ_ROOM + 1);
	haul_yield();
	ck_assert(s[0].ended && !s[1].ended);
	take_off(3);
	haul_yield();
	ck_assert(s[3].ended && !s[4].ended);
	pop_expect(4, HAULI_TXQ_ROOM + 4);
	join_senders(s, 8);
	for (i = 0; i < 8; i++)
		ck_assert_int_eq(s[i].result, 0);
	ck_assert_uint_eq(hauli_txq_count(&txq), 0);
	ck_assert_uint_eq(hauli_counter_read(&txq.taken), HAULI_TXQ_ROOM + 8);
	return NULL;
}

static void *a_cancelled_waiter_leaves_the_line(void *arg)
{
	static const unsigned order[][3] = {{0, 1, 2}, {1, 0, 2}, {2, 0, 1}};
	struct sender s[3];
	unsigned i, gone;

	for (i = 0; i < 3; i++) {
		hauli_txq_init(&txq, haul_carrier_self(), &pending);
		fill(0);
		start_senders(s, 3, HAULI_TXQ_ROOM);
		gone = order[i][0];
		haul_cancel(s[gone].coro);
		WAIT_UNTIL(s[gone].ended);
		ck_assert_int_eq(s[gone].result, -ECANCELED);
		ck_assert(!s[order[i][1]].ended && !s[order[i][2]].ended);
		pop_expect(0, HAULI_TXQ_ROOM);
		pop_expect(HAULI_TXQ_ROOM + order[i][1], 1);
		pop_expect(HAULI_TXQ_ROOM + order[i][2], 1);
		join_senders(s, 3);
		ck_assert_int_eq(s[order[i][1]].result, 0);
		ck_assert_int_eq(s[order[i][2]].result, 0);
		ck_assert_uint_eq(hauli_txq_count(&txq), 0);
		/* The line's end is right: one more sender gets in. */
		fill(0);
		start_senders(s, 1, HAULI_TXQ_ROOM);
		pop_expect(0, HAULI_TXQ_ROOM + 1);
		join_senders(s, 1);
		ck_assert_int_eq(s[0].result, 0);
	}
	return NULL;
}

static void *the_deadline_of_a_scope_ends_the_wait(void *arg)
{
	fill(0);
	{
		HAUL_SCOPE(scope, haul_in(HAUL_MS), HAUL_SCOPE_ALL);

		ck_assert_int_eq(haul_send(&txq, &pkts[HAULI_TXQ_ROOM]), -ETIMEDOUT);
		take_off(1);
		ck_assert_int_eq(haul_send(&txq, &pkts[HAULI_TXQ_ROOM]), 0);
	}
	pop_expect(1, HAULI_TXQ_ROOM);
	return NULL;
}

static void *a_cancelled_sender_does_not_wait(void *arg)
{
	struct sender s[2];

	fill(0);
	s[0] = (struct sender){.pkt = &pkts[HAULI_TXQ_ROOM]};
	ck_assert_int_eq(haul_spawn(&s[0].coro, send_one, &s[0], NULL), 0);
	haul_cancel(s[0].coro);
	join_senders(s, 1);
	ck_assert_int_eq(s[0].result, -ECANCELED);
	/* With room a cancelled sender sends all the same. */
	take_off(1);
	s[1] = (struct sender){.pkt = &pkts[HAULI_TXQ_ROOM]};
	ck_assert_int_eq(haul_spawn(&s[1].coro, send_one, &s[1], NULL), 0);
	haul_cancel(s[1].coro);
	join_senders(s + 1, 1);
	ck_assert_int_eq(s[1].result, 0);
	return NULL;
}

/* A sender that was served, then cancelled before it runs again: its packet is sent, and it must
 * return 0. */
static void *served_before_cancelled_is_sent(void *arg)
{
	struct sender s[1];

	fill(0);
	start_senders(s, 1, HAULI_TXQ_ROOM);
	take_off(1);
	haul_cancel(s[0].coro);
	join_senders(s, 1);
	ck_assert_int_eq(s[0].result, 0);
	pop_expect(1, HAULI_TXQ_ROOM);
	return NULL;
}

/* And the send leaves it there, for the coroutine's own park. */
static void *a_stray_permit_does_not_end_the_wait(void *arg)
{
	struct sender s[1];
	unsigned i;

	fill(0);
	start_senders(s, 1, HAULI_TXQ_ROOM);
	for (i = 0; i < 3; i++) {
		haul_unpark(s[0].coro);
		haul_yield();
		haul_yield();
		ck_assert(!s[0].ended);
	}
	take_off(1);
	join_senders(s, 1);
	ck_assert_int_eq(s[0].result, 0);
	ck_assert(s[0].has_permit);
	return NULL;
}

static void *closing_ends_all_waits(void *arg)
{
	struct sender s[4];
	unsigned i;

	fill(0);
	start_senders(s, 4, HAULI_TXQ_ROOM);
	/* As a poller that drops the remaining packets. */
	while (hauli_txq_count(&txq) > 0)
		take_off(hauli_txq_count(&txq));
	for (i = 0; i < 4; i++)
		ck_assert_int_eq(haul_join(s[i].coro, NULL, HAUL_FOREVER), 0);
	fill(0);
	start_senders(s, 4, HAULI_TXQ_ROOM);
	txq.first = txq.end; /* emptied without admitting a waiter */
	hauli_txq_close(&txq);
	join_senders(s, 4);
	for (i = 0; i < 4; i++)
		ck_assert_int_eq(s[i].result, -ECANCELED);
	ck_assert_int_eq(haul_try_send(&txq, &pkts[0]), -ENOBUFS);
	ck_assert_int_eq(haul_send(&txq, &pkts[0]), -ECANCELED);
	ck_assert_uint_eq(hauli_txq_count(&txq), 0);
	return NULL;
}

#define CASE(body)                \
	START_TEST(test_##body)   \
	{                         \
		on_carrier(body); \
	}                         \
	END_TEST

CASE(keeps_order)
CASE(is_full_at_its_room)
CASE(uses_the_room_in_front)
CASE(serves_waiters_in_order)
CASE(a_cancelled_waiter_leaves_the_line)
CASE(the_deadline_of_a_scope_ends_the_wait)
CASE(a_cancelled_sender_does_not_wait)
CASE(served_before_cancelled_is_sent)
CASE(a_stray_permit_does_not_end_the_wait)
CASE(closing_ends_all_waits)

SUITE_MAIN("txq", {test_keeps_order}, {test_is_full_at_its_room}, {test_uses_the_room_in_front},
	{test_serves_waiters_in_order}, {test_a_cancelled_waiter_leaves_the_line},
	{test_the_deadline_of_a_scope_ends_the_wait}, {test_a_cancelled_sender_does_not_wait},
	{test_served_before_cancelled_is_sent}, {test_a_stray_permit_does_not_end_the_wait},
	{test_closing_ends_all_waits})
