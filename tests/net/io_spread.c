/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ports with one queue for two carriers: flows are spread over both carriers, each flow stays on
 * one, in order, and nothing is lost. A MAC address tells flows apart. Packets sent on port 1 come
 * back on it.
 */
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include <rte_ethdev.h>

#include "io_flows.h"

#define PACKETS 20000

static struct {
	atomic_int carrier_of[FLOWS]; /* the carrier's number + 1; 0: not known */
	atomic_bool wrong;
	atomic_uint handled[2];
	atomic_uint remote; /* handlers that began away from home */
} s;

static unsigned flow_of(uint32_t number)
{
	return number % FLOWS;
}

static void note(const struct haul_rx *rx, const struct rte_mbuf *pkt)
{
	unsigned flow = flow_of(bed_number(pkt));
	int known = 0;

	s.handled[rx->carrier]++;
	if (!atomic_compare_exchange_strong(&s.carrier_of[flow], &known, (int)rx->carrier + 1) &&
		known != (int)rx->carrier + 1)
		s.wrong = true;
}

static void forward(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	if (rx->port == 1) {
		rte_pktmbuf_free(pkt);
		return;
	}
	note(rx, pkt);
	if (strcmp(haul_coro_name(haul_self()),
		    rx->carrier == 0 ? "port 0 queue 0" : "port 0 carrier 1") != 0)
		s.wrong = true;
	s.remote += haul_carrier_id(haul_carrier_self()) != rx->carrier;
	flows_work(bed_number(pkt) * 2654435761u % 5 * HAUL_US);
	if (haul_send(rx->peer, pkt) != 0)
		haul_drop(rx, &pkt, 1, HAUL_DROP_STOPPING);
}

static void forward_burst(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	if (rx->port == 1) {
		rte_pktmbuf_free_bulk(pkts, n);
		return;
	}
	for (uint16_t i = 0; i < n; i++)
		note(rx, pkts[i]);
	haul_tx_burst(rx->peer, pkts, n);
}

/* All packets are received and forwarded on the right carriers, or dropped and counted. */
static void run(struct haul_io_opts *opts, enum haul_steal steal, bool to_the_end)
{
	const struct flows flows = {.of = flow_of, .burst = 64};
	struct haul_io_stats in, out, target;
	struct bed bed;

	memset(&s, 0, sizeof(s));
	flows_open(&bed, 1, steal, &flows);
	flows_run(&bed, opts, PACKETS);
	if (to_the_end)
		WAIT_UNTIL(bed_stats(&bed, 1, HAUL_ALL).rx_packets == PACKETS);
	ck_assert(flows_stop(&bed));
	in = bed_stats(&bed, 0, HAUL_ALL);
	out = bed_stats(&bed, 1, HAUL_ALL);
	target = bed_stats(&bed, 0, 1);
	ck_assert_uint_eq(in.in_flight, 0);
	/* The counters of each queue agree on the drops. */
	ck_assert_uint_le(s.handled[0] + s.handled[1], in.rx_packets);
	ck_assert_uint_le(out.tx_packets, s.handled[0] + s.handled[1]);
	ck_assert(!s.wrong);
	if (to_the_end) {
		ck_assert_uint_eq(s.handled[0] + s.handled[1], PACKETS);
		ck_assert_uint_eq(target.rx_packets, s.handled[1]);
		ck_assert_uint_eq(out.tx_packets, PACKETS);
	}
	ck_assert_msg(bed_take_down(&bed) == 0, "%s", bed.errbuf);
}

static const struct haul_poll_policy policies[] = {
	{.how = HAUL_POLL_SPIN}, {.how = HAUL_POLL_SLEEP, .ns = 100 * HAUL_US}};

START_TEST(flows_are_spread_in_order)
{
	run(&(struct haul_io_opts){.on_packet = forward, .policy = policies[_i % 2]},
		_i / 2 ? HAUL_STEAL_GLOBAL : HAUL_STEAL_OFF, true);
	ck_assert_uint_gt(s.handled[0], 0);
	ck_assert_uint_gt(s.handled[1], 0);
	if (_i / 2 == 0)
		ck_assert_uint_eq(s.remote, 0);
}
END_TEST

START_TEST(bursts_are_spread_on_request)
{
	run(&(struct haul_io_opts){.on_burst = forward_burst,
		    .count_bytes = true,
		    .policy = policies[_i],
		    .spread = HAUL_SPREAD_ALL},
		HAUL_STEAL_OFF, false);
	ck_assert_uint_gt(s.handled[0], 0);
	ck_assert_uint_gt(s.handled[1], 0);
}
END_TEST

START_TEST(spread_off_uses_one_carrier)
{
	run(&(struct haul_io_opts){.on_packet = forward, .spread = HAUL_SPREAD_OFF}, HAUL_STEAL_OFF,
		true);
	ck_assert_uint_eq(s.handled[1], 0);
}
END_TEST

START_TEST(stops_amid_traffic)
{
	for (unsigned i = 0; i < 5; i++)
		run(&(struct haul_io_opts){.on_packet = forward}, HAUL_STEAL_OFF, false);
}
END_TEST

/* A port of two queues beside one of a single queue: with spreading each carrier polls one of the
 * two, without it one carrier polls both. */
START_TEST(each_queue_is_polled)
{
	struct haul_port_opts one = {.queues = 1};
	struct haul_io_opts opts;
	struct haul_queue_stats st;
	struct bed bed;

	bed_open(&bed, (const char *const[]){"null:", NULL});
	one.pool = bed.pool;
	ck_assert_int_eq(haul_port_open(&bed.ports[bed.nb_ports++], "ring:", &one, bed.errbuf,
				 sizeof(bed.errbuf)),
		0);
	ck_assert_int_eq(haul_port_start(bed.ports[1], bed.errbuf, sizeof(bed.errbuf)), 0);
	opts = bed_io_opts(&bed);
	opts.on_burst = forward_burst;
	opts.spread = _i == 0 ? HAUL_SPREAD_OFF : HAUL_SPREAD_ALL;
	bed_start(&bed, &opts);
	for (unsigned q = 0; q < 2; q++) {
		do {
			ck_assert(haul_io_get_queue_stats(bed.io, 0, q, &st));
			usleep(1000); /* between looks */
		} while (st.rx_packets == 0);
		ck_assert_uint_eq(st.carrier, opts.spread == HAUL_SPREAD_ALL ? q : 0);
	}
	ck_assert(!haul_io_get_queue_stats(bed.io, 0, 2, &st));
	bed_close(&bed, 0);
}
END_TEST

#define HANDED_OVER 4096

static struct {
	struct bed bed;
	atomic_bool waits, handed_over;
	uint64_t sent, most; /* carrier 0's: before its last call, and between two calls */
} crowd;

static uint64_t taken_by_pmd(void)
{
	struct rte_eth_stats st = {0};

	rte_eth_stats_get(haul_port_queue(crowd.bed.ports[1], 0).port_id, &st);
	return st.opackets;
}

/* Carrier 0 is in a handler while carrier 1 hands packets over to it. */
static void hand_over(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	struct rte_mbuf *pkt;

	rte_pktmbuf_free_bulk(pkts, n);
	if (rx->port == 1)
		return;
	if (rx->carrier == 1 && crowd.waits && !crowd.handed_over) {
		for (unsigned i = 0; i < HANDED_OVER; i++) {
			pkt = rte_pktmbuf_alloc(crowd.bed.pool);
			haul_tx_burst(rx->peer, &pkt, 1);
		}
		crowd.handed_over = true;
	}
	if (rx->carrier != 0)
		return;
	crowd.waits = true;
	while (!crowd.handed_over)
		sched_yield();
	crowd.most = RTE_MAX(crowd.most, taken_by_pmd() - crowd.sent);
	crowd.sent = taken_by_pmd();
}

/* However much the others hand over, a poller goes on to receive. */
START_TEST(a_proxy_sends_a_bounded_number_in_a_cycle)
{
	struct haul_port_opts one = {.queues = 1};
	struct haul_io_opts opts;

	bed_open(&crowd.bed, (const char *const[]){"null:", NULL});
	one.pool = crowd.bed.pool;
	ck_assert_int_eq(haul_port_open(&crowd.bed.ports[crowd.bed.nb_ports++], "null:", &one,
				 crowd.bed.errbuf, sizeof(crowd.bed.errbuf)),
		0);
	ck_assert_int_eq(
		haul_port_start(crowd.bed.ports[1], crowd.bed.errbuf, sizeof(crowd.bed.errbuf)), 0);
	opts = bed_io_opts(&crowd.bed);
	opts.on_burst = hand_over;
	opts.spread = HAUL_SPREAD_ALL;
	bed_start(&crowd.bed, &opts);
	WAIT_UNTIL(taken_by_pmd() == HANDED_OVER);
	bed_close(&crowd.bed, 0);
	ck_assert_uint_gt(crowd.most, 0);
	ck_assert_uint_le(crowd.most, HANDED_OVER / 4);
}
END_TEST

BED_MAIN("io_spread", {a_proxy_sends_a_bounded_number_in_a_cycle}, {flows_are_spread_in_order, 4},
	{bursts_are_spread_on_request, 2}, {spread_off_uses_one_carrier}, {stops_amid_traffic},
	{each_queue_is_polled, 2})
