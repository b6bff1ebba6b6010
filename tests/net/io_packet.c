/* SPDX-License-Identifier: BSD-3-Clause */
/* A coroutine for each packet: order, waiting, the limit on their number, and their end. */
#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include <rte_ethdev.h>

#include <haul/driver.h>

#include "io_bed.h"

#define ONE ((const char *const[]){"ring:", NULL})
#define TWO ((const char *const[]){"ring:", "ring:", NULL})

/* The handlers' results; each field is written by one carrier and read after that has stopped, or
 * only to wait for a value. */
struct told {
	uint32_t next;
	uint32_t cancelled;
	uint32_t parked;
	bool wrong;
	atomic_bool open;
	struct haul_coro *waiting[64];
};

static struct haul_io_opts with(struct bed *bed, haul_packet_fn *fn, void *arg)
{
	struct haul_io_opts opts = bed_io_opts(bed);

	opts.on_packet = fn;
	opts.arg = arg;
	return opts;
}

static void in_order(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	struct told *told = rx->arg;
	char name[64];

	snprintf(name, sizeof(name), "port %u queue %u", rx->port, rx->queue);
	told->wrong |= bed_number(pkt) != told->next++;
	told->wrong |= haul_carrier_id(haul_carrier_self()) != rx->carrier || rx->port != 0;
	told->wrong |= strcmp(haul_coro_name(haul_self()), name) != 0;
	rte_pktmbuf_free(pkt);
}

START_TEST(handlers_start_in_order)
{
	struct told told = {0};
	struct haul_io_opts opts;
	struct haul_io_stats st;
	struct bed bed;

	bed_open(&bed, ONE);
	opts = with(&bed, in_order, &told);
	bed_start(&bed, &opts);
	bed_send(&bed, 0, 1, 0, 5000);
	WAIT_UNTIL(bed_stats(&bed, 0, 1).rx_packets == 5000);
	ck_assert_int_eq(haul_io_stop(bed.io, HAUL_FOREVER, bed.errbuf, sizeof(bed.errbuf)), 0);
	st = bed_stats(&bed, 0, HAUL_ALL);
	ck_assert_uint_eq(st.in_flight, 0);
	ck_assert_uint_eq(st.rx_bytes, st.tx_bytes);
	ck_assert_uint_eq(told.next, 5000);
	ck_assert(!told.wrong);
	ck_assert_int_eq(bed_take_down(&bed), 0);
}
END_TEST

static void across_by_sleep(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	struct told *told = rx->arg;

	/* Earlier packets sleep longer: later ones overtake them, and none is lost. */
	if (rx->port == 0) {
		haul_sleep((100 - bed_number(pkt)) * 100 * HAUL_US);
		if (haul_send(rx->peer, pkt) != 0)
			told->wrong = true;
		return;
	}
	told->next++;
	rte_pktmbuf_free(pkt);
}

START_TEST(handlers_sleep_while_others_run)
{
	struct told told = {0};
	struct haul_io_opts opts;
	struct bed bed;

	bed_open(&bed, TWO);
	opts = with(&bed, across_by_sleep, &told);
	bed_start(&bed, &opts);
	bed_send(&bed, 0, 0, 0, 100);
	WAIT_UNTIL(bed_stats(&bed, 1, 0).rx_packets == 100);
	bed_close(&bed, 0);
	ck_assert_uint_eq(told.next, 100);
	ck_assert(!told.wrong);
}
END_TEST

static void sleep_for_ever(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	struct told *told = rx->arg;

	if (haul_sleep(HAUL_FOREVER) == -ECANCELED)
		told->cancelled++;
	haul_drop(rx, &pkt, 1, HAUL_DROP_STOPPING);
}

START_TEST(sleeping_handlers_are_cancelled_at_the_end)
{
	struct told told = {0};
	struct haul_io_opts opts;
	struct haul_io_stats st;
	struct bed bed;

	bed_open(&bed, ONE);
	opts = with(&bed, sleep_for_ever, &told);
	bed_start(&bed, &opts);
	bed_send(&bed, 0, 0, 0, 500);
	WAIT_UNTIL(bed_stats(&bed, 0, 0).in_flight == 500);
	ck_assert_int_eq(haul_io_stop(bed.io, HAUL_MS, bed.errbuf, sizeof(bed.errbuf)), 0);
	st = bed_stats(&bed, 0, HAUL_ALL);
	ck_assert_uint_eq(told.cancelled, 500);
	ck_assert_uint_eq(st.dropped[HAUL_DROP_STOPPING], 500);
	ck_assert_uint_eq(st.in_flight, 0);
	ck_assert_int_eq(bed_take_down(&bed), 0);
}
END_TEST

static void finish_late(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	struct told *told = rx->arg;

	/* The stop comes before the end, and waits for it. */
	if (haul_sleep(20 * HAUL_MS) != 0)
		told->cancelled++;
	rte_pktmbuf_free(pkt);
}

START_TEST(handlers_that_end_in_time_are_not_cancelled)
{
	struct told told = {0};
	struct haul_io_opts opts;
	struct bed bed;

	bed_open(&bed, ONE);
	opts = with(&bed, finish_late, &told);
	bed_start(&bed, &opts);
	bed_send(&bed, 0, 0, 0, 200);
	WAIT_UNTIL(bed_stats(&bed, 0, 0).rx_packets == 200);
	bed_close(&bed, HAUL_FOREVER);
	ck_assert_uint_eq(told.cancelled, 0);
}
END_TEST

static void reply_at_the_end(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	struct told *told = rx->arg;

	/* The pollers have ended by the time of this cancel: the drain still sends. */
	if (haul_sleep(HAUL_FOREVER) == -ECANCELED && haul_send(rx->reply, pkt) == 0)
		told->cancelled++;
	else
		told->wrong = true;
}

START_TEST(packets_sent_at_the_end_go_out)
{
	struct told told = {0};
	struct haul_io_opts opts;
	struct haul_io_stats st;
	struct bed bed;

	bed_open(&bed, ONE);
	opts = with(&bed, reply_at_the_end, &told);
	bed_start(&bed, &opts);
	bed_send(&bed, 0, 0, 0, 300);
	WAIT_UNTIL(bed_stats(&bed, 0, 0).in_flight == 300);
	ck_assert_int_eq(haul_io_stop(bed.io, 0, bed.errbuf, sizeof(bed.errbuf)), 0);
	st = bed_stats(&bed, 0, HAUL_ALL);
	ck_assert_uint_eq(told.cancelled, 300);
	ck_assert(!told.wrong);
	ck_assert_uint_eq(st.tx_packets, 600);
	ck_assert_uint_eq(st.rx_packets, 300);
	ck_assert_int_eq(bed_take_down(&bed), 0);
}
END_TEST

static void wait_for_the_gate(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	struct told *told = rx->arg;

	told->waiting[told->parked++] = haul_self();
	/* Ignores the cancel. */
	while (!told->open) {
		if (haul_park(HAUL_FOREVER) != 0)
			haul_yield();
	}
	rte_pktmbuf_free(pkt);
}

static void *open_gate(void *arg)
{
	struct told *told = arg;
	uint32_t i;

	told->open = true;
	for (i = 0; i < told->parked; i++)
		haul_unpark(told->waiting[i]);
	return NULL;
}

START_TEST(a_handler_that_does_not_end_is_named)
{
	struct told told = {0};
	struct haul_io_opts opts;
	struct bed bed;

	bed_open(&bed, ONE);
	opts = with(&bed, wait_for_the_gate, &told);
	bed_start(&bed, &opts);
	bed_send(&bed, 0, 1, 0, 3);
	WAIT_UNTIL(bed_stats(&bed, 0, 1).in_flight == 3);
	ck_assert_int_eq(haul_io_stop(bed.io, 0, bed.errbuf, sizeof(bed.errbuf)), -EIO);
	ck_assert_msg(
		strstr(bed.errbuf, "port 0 (ring:), carrier 1: 3 of 3 handlers"), "%s", bed.errbuf);
	ck_assert_int_eq(haul_spawn_on(haul_carrier(bed.rt, 1), NULL, open_gate, &told, NULL), 0);
	WAIT_UNTIL(bed_stats(&bed, 0, 1).in_flight == 0);
	ck_assert_int_eq(haul_io_stop(bed.io, 0, bed.errbuf, sizeof(bed.errbuf)), 0);
	ck_assert_int_eq(bed_take_down(&bed), 0);
}
END_TEST

START_TEST(no_more_are_started_than_allowed)
{
	struct told told = {0};
	struct haul_io_opts opts;
	struct haul_io_stats st;
	struct bed bed;

	bed_open(&bed, ONE);
	opts = with(&bed, wait_for_the_gate, &told);
	opts.burst = 4;
	opts.max_in_flight = 10;
	bed_start(&bed, &opts);
	bed_send(&bed, 0, 0, 0, 40);
	/* At most one burst above the limit, then no more although packets wait. */
	WAIT_UNTIL(bed_stats(&bed, 0, 0).in_flight == 12);
	st = bed_stats(&bed, 0, 0);
	WAIT_UNTIL(bed_stats(&bed, 0, 0).held_polls > st.held_polls + 1000);
	ck_assert_uint_gt(bed_stats(&bed, 0, 0).empty_polls, st.empty_polls + 1000);
	ck_assert_uint_eq(bed_stats(&bed, 0, 0).rx_packets, 12);
	ck_assert_int_eq(haul_spawn_on(haul_carrier(bed.rt, 0), NULL, open_gate, &told, NULL), 0);
	WAIT_UNTIL(bed_stats(&bed, 0, 0).rx_packets == 40);
	bed_close(&bed, HAUL_FOREVER);
	ck_assert_uint_eq(told.parked, 40);
}
END_TEST

START_TEST(no_stack_is_a_drop_with_its_reason)
{
	const struct haul_coro_opts coro = {.stack_size = (size_t)1 << 40};
	struct told told = {0};
	struct haul_io_opts opts;
	struct haul_io_stats st;
	struct bed bed;

	bed_open(&bed, ONE);
	opts = with(&bed, in_order, &told);
	opts.coro = &coro;
	bed_start(&bed, &opts);
	bed_send(&bed, 0, 0, 0, 100);
	WAIT_UNTIL(bed_stats(&bed, 0, 0).rx_packets == 100);
	ck_assert_int_eq(haul_io_stop(bed.io, 0, bed.errbuf, sizeof(bed.errbuf)), 0);
	st = bed_stats(&bed, 0, HAUL_ALL);
	ck_assert_uint_eq(st.dropped[HAUL_DROP_NO_COROUTINE], 100);
	ck_assert_uint_eq(told.next, 0);
	ck_assert_int_eq(bed_take_down(&bed), 0);
}
END_TEST

static uint16_t nothing(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	return 0;
}

/* A coroutine that sends and is not a handler. */
struct sender {
	struct bed *bed;
	struct haul_coro *coro;
	uint32_t number;
	int result;
};

static void *send_one(void *arg)
{
	struct sender *s = arg;
	struct rte_mbuf *pkt = bed_packet(s->bed, s->number);

	s->result = haul_send(haul_io_txq(s->bed->io, 0, 0), pkt);
	if (s->result != 0)
		rte_pktmbuf_free(pkt);
	return NULL;
}

#define SENDERS (BED_RING + BED_BUFFER + 200)

START_TEST(senders_wait_for_a_full_nic)
{
	static struct sender senders[SENDERS];
	struct haul_io_opts opts;
	struct haul_io_stats st;
	unsigned i, sent = 0;
	struct bed bed;

	/* Without a receiver the ring fills, then the queue before it, then senders wait. */
	bed_open(&bed, ONE);
	opts = bed_io_opts(&bed);
	opts.source = nothing;
	bed_start(&bed, &opts);
	for (i = 0; i < SENDERS; i++) {
		senders[i] = (struct sender){.bed = &bed, .number = i, .result = 1};
		ck_assert_int_eq(haul_spawn_on(haul_carrier(bed.rt, 0), &senders[i].coro, send_one,
					 &senders[i], NULL),
			0);
	}
	WAIT_UNTIL(bed_stats(&bed, 0, 0).tx_packets == BED_RING);
	/* Cancels two waiting senders, the first and a middle one; a served sender stays served. */
	haul_cancel(senders[SENDERS - 200].coro);
	haul_cancel(senders[SENDERS - 100].coro);
	ck_assert_int_eq(haul_join(senders[SENDERS - 200].coro, NULL, HAUL_FOREVER), 0);
	ck_assert_int_eq(haul_join(senders[SENDERS - 100].coro, NULL, HAUL_FOREVER), 0);
	ck_assert_int_eq(senders[SENDERS - 200].result, -ECANCELED);
	ck_assert_int_eq(senders[SENDERS - 100].result, -ECANCELED);
	/* The end wakes the others: each still has its packet, or the queue has taken it. */
	ck_assert_int_eq(haul_io_stop(bed.io, 0, bed.errbuf, sizeof(bed.errbuf)), 0);
	for (i = 0; i < SENDERS; i++) {
		if (i != SENDERS - 200 && i != SENDERS - 100)
			ck_assert_int_eq(haul_join(senders[i].coro, NULL, HAUL_FOREVER), 0);
		ck_assert(senders[i].result == 0 || senders[i].result == -ECANCELED);
		sent += senders[i].result == 0;
	}
	st = bed_stats(&bed, 0, HAUL_ALL);
	ck_assert_uint_eq(st.tx_packets, BED_RING);
	ck_assert_uint_eq(st.tx_packets + st.dropped[HAUL_DROP_STOPPING], sent);
	ck_assert_int_eq(bed_take_down(&bed), 0);
}
END_TEST

START_TEST(nothing_can_be_sent_after_the_end)
{
	struct sender s = {.result = 1};
	struct haul_io_opts opts;
	struct bed bed;

	bed_open(&bed, ONE);
	opts = bed_io_opts(&bed);
	opts.source = nothing;
	bed_start(&bed, &opts);
	ck_assert_int_eq(haul_io_stop(bed.io, 0, bed.errbuf, sizeof(bed.errbuf)), 0);
	s.bed = &bed;
	ck_assert_int_eq(haul_spawn_on(haul_carrier(bed.rt, 0), &s.coro, send_one, &s, NULL), 0);
	ck_assert_int_eq(haul_join(s.coro, NULL, HAUL_FOREVER), 0);
	ck_assert_int_eq(s.result, -ECANCELED);
	ck_assert_int_eq(bed_take_down(&bed), 0);
}
END_TEST

static void keep_going(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	if (haul_sleep(HAUL_US * (bed_number(pkt) % 50)) == 0 && haul_send(rx->peer, pkt) == 0)
		return;
	haul_drop(rx, &pkt, 1, HAUL_DROP_STOPPING);
}

START_TEST(stops_under_traffic_with_the_books_in_order)
{
	struct haul_io_opts opts;
	struct haul_io_stats a, b;
	struct bed bed;

	bed_open(&bed, TWO);
	opts = with(&bed, keep_going, NULL);
	bed_start(&bed, &opts);
	bed_send(&bed, 0, 0, 0, 400);
	bed_send(&bed, 1, 1, 0, 400);
	WAIT_UNTIL(bed_stats(&bed, 0, 0).rx_packets > 20000 &&
		bed_stats(&bed, 1, 1).rx_packets > 20000);
	ck_assert_int_eq(haul_io_stop(bed.io, HAUL_S, bed.errbuf, sizeof(bed.errbuf)), 0);
	a = bed_stats(&bed, 0, HAUL_ALL);
	b = bed_stats(&bed, 1, HAUL_ALL);
	/* All received packets were sent on or dropped; each test sender put in 400. */
	ck_assert_uint_eq(a.rx_packets + b.rx_packets + 800,
		a.tx_packets + b.tx_packets + a.dropped[HAUL_DROP_STOPPING] +
			b.dropped[HAUL_DROP_STOPPING]);
	ck_assert_int_eq(bed_take_down(&bed), 0);
}
END_TEST

static atomic_uint began;

static void *spins(void *arg)
{
	while (haul_maybe_yield(false))
		;
	return NULL;
}

static void waits_for_its_cancel(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	began++;
	while (haul_park(HAUL_FOREVER) == 0)
		;
	rte_pktmbuf_free(pkt);
}

/* Carrier 0 already has packets when the start finds that carrier 1 has a poller. */
START_TEST(a_start_that_fails_receives_nothing)
{
	struct haul_io_opts opts;
	struct haul_coro *poller;
	struct rte_mbuf *pkts[3];
	struct haul_queue q;
	struct bed bed;
	bool too_early;

	began = 0;
	bed_open(&bed, ONE);
	opts = with(&bed, waits_for_its_cancel, NULL);
	q = haul_port_queue(bed.ports[0], 0);
	for (unsigned i = 0; i < 3; i++)
		pkts[i] = bed_packet(&bed, i);
	ck_assert_uint_eq(rte_eth_tx_burst(q.port_id, q.queue_id, pkts, 3), 3);
	ck_assert_int_eq(
		haul_poller_register(haul_carrier(bed.rt, 1), &poller, spins, NULL, NULL), 0);
	ck_assert_int_eq(
		haul_io_start(&bed.io, bed.rt, &opts, bed.errbuf, sizeof(bed.errbuf)), -EBUSY);
	too_early = began > 0;
	haul_cancel(poller);
	ck_assert_int_eq(haul_join(poller, NULL, HAUL_FOREVER), 0);
	/* Starts anew. */
	bed_start(&bed, &opts);
	WAIT_UNTIL(began == 3);
	bed_close(&bed, 0);
	ck_assert(!too_early);
}
END_TEST

BED_MAIN("io_packet", {handlers_start_in_order}, {handlers_sleep_while_others_run},
	{sleeping_handlers_are_cancelled_at_the_end}, {handlers_that_end_in_time_are_not_cancelled},
	{packets_sent_at_the_end_go_out}, {a_handler_that_does_not_end_is_named},
	{no_more_are_started_than_allowed}, {no_stack_is_a_drop_with_its_reason},
	{senders_wait_for_a_full_nic}, {nothing_can_be_sent_after_the_end},
	{stops_under_traffic_with_the_books_in_order}, {a_start_that_fails_receives_nothing})
