/* SPDX-License-Identifier: BSD-3-Clause */
/* Burst handlers and sources: their arguments, counters, refused options. */
#include <errno.h>
#include <string.h>

#include <haul/driver.h>

#include "io_bed.h"

#define TWO ((const char *const[]){"ring:", "ring:", NULL})
#define THREE ((const char *const[]){"ring:", "ring:", "ring:", NULL})

static void ignore(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	rte_pktmbuf_free_bulk(pkts, n);
}

static void ignore_one(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	rte_pktmbuf_free(pkt);
}

static uint16_t nothing(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	return 0;
}

static void *start_here(void *arg)
{
	struct bed *bed = arg;
	struct haul_io_opts opts = bed_io_opts(bed);
	struct haul_io *io = NULL;

	opts.on_burst = ignore;
	return (void *)(intptr_t)haul_io_start(
		&io, bed->rt, &opts, bed->errbuf, sizeof(bed->errbuf));
}

START_TEST(refuses_options_with_a_line)
{
	struct bed bed;
	const struct haul_coro_opts order = {.order_key = HAUL_ORDER_KEYS + 1};
	struct haul_port *none[2] = {NULL, NULL};
	const unsigned no_port[] = {1, 2};
	struct haul_io_opts wrong[12];
	struct haul_coro *co;
	void *result;
	unsigned i;

	bed_open(&bed, TWO);
	for (i = 0; i < 12; i++) {
		wrong[i] = bed_io_opts(&bed);
		wrong[i].on_burst = ignore;
	}
	wrong[0].on_burst = NULL;
	wrong[1].on_packet = ignore_one;
	wrong[2].on_packet = ignore_one;
	wrong[2].source = nothing;
	wrong[3].burst = 513;
	wrong[4].nb_ports = 0;
	wrong[5].pool = NULL;
	wrong[6].ports = NULL;
	wrong[7].ports = none;
	wrong[8].send_order = (enum haul_send_order)2;
	wrong[9].spread = (enum haul_io_spread)3;
	wrong[10].coro = &order;
	wrong[11].peers = no_port;
	for (i = 0; i < 12; i++) {
		struct haul_io *io = NULL;

		bed.errbuf[0] = '\0';
		ck_assert_int_eq(
			haul_io_start(&io, bed.rt, &wrong[i], bed.errbuf, sizeof(bed.errbuf)),
			-EINVAL);
		ck_assert_ptr_null(io);
		ck_assert_ptr_nonnull(strstr(bed.errbuf, "haul_io_start: "));
		ck_assert_ptr_null(strchr(bed.errbuf, '\n'));
	}
	ck_assert_int_eq(haul_spawn_on(haul_carrier(bed.rt, 0), &co, start_here, &bed, NULL), 0);
	ck_assert_int_eq(haul_join(co, &result, HAUL_FOREVER), 0);
	ck_assert_int_eq((intptr_t)result, -EPERM);
	ck_assert_ptr_nonnull(strstr(bed.errbuf, "called on a carrier"));
	ck_assert_int_eq(bed_take_down(&bed), 0);
}
END_TEST

static void *spin(void *arg)
{
	while (haul_maybe_yield(false))
		;
	return NULL;
}

START_TEST(refuses_a_carrier_that_has_a_poller)
{
	struct haul_io_opts opts;
	struct haul_coro *poller;
	struct haul_io *io = NULL;
	struct bed bed;

	bed_open(&bed, TWO);
	opts = bed_io_opts(&bed);
	opts.on_burst = ignore;
	ck_assert_int_eq(
		haul_poller_register(haul_carrier(bed.rt, 1), &poller, spin, NULL, NULL), 0);
	ck_assert_int_eq(haul_io_start(&io, bed.rt, &opts, bed.errbuf, sizeof(bed.errbuf)), -EBUSY);
	ck_assert_ptr_nonnull(strstr(bed.errbuf, "carrier 1"));
	haul_cancel(poller);
	haul_join(poller, NULL, HAUL_FOREVER);
	/* Carrier 0's poller is gone too: now all can be started, but only once. */
	bed_start(&bed, &opts);
	ck_assert_int_eq(haul_io_start(&io, bed.rt, &opts, bed.errbuf, sizeof(bed.errbuf)), -EBUSY);
	bed_send(&bed, 0, 0, 0, 100);
	WAIT_UNTIL(bed_stats(&bed, 0, 0).rx_packets == 100);
	bed_close(&bed, 0);
}
END_TEST

/* Packets per port and carrier, in the expected order. */
struct seen {
	uint32_t next[BED_PORTS_MAX][BED_CARRIERS];
	bool wrong;
};

static void take_in_order(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	struct seen *seen = rx->arg;
	uint16_t i;

	seen->wrong |= haul_carrier_id(haul_carrier_self()) != rx->carrier || n == 0 || n > 32;
	for (i = 0; i < n; i++)
		seen->wrong |= bed_number(pkts[i]) != seen->next[rx->port][rx->carrier]++;
	rte_pktmbuf_free_bulk(pkts, n);
}

START_TEST(bursts_come_whole_and_in_order)
{
	struct haul_io_opts opts;
	struct seen seen = {0};
	struct bed bed;
	unsigned p, c;

	bed_open(&bed, THREE);
	opts = bed_io_opts(&bed);
	opts.on_burst = take_in_order;
	opts.count_bytes = true;
	opts.arg = &seen;
	bed_start(&bed, &opts);
	ck_assert_str_eq(haul_io_notice(bed.io), "");
	for (p = 0; p < 3; p++)
		for (c = 0; c < BED_CARRIERS; c++)
			bed_send(&bed, p, c, 0, 1000 * (p + 1) + c);
	for (p = 0; p < 3; p++)
		for (c = 0; c < BED_CARRIERS; c++)
			WAIT_UNTIL(bed_stats(&bed, p, c).rx_packets == 1000 * (p + 1) + c);
	ck_assert_int_eq(haul_io_stop(bed.io, 0, bed.errbuf, sizeof(bed.errbuf)), 0);
	ck_assert(!seen.wrong);
	for (p = 0; p < 3; p++) {
		struct haul_io_stats st = bed_stats(&bed, p, HAUL_ALL);

		ck_assert_uint_eq(st.rx_packets, 2000 * (p + 1) + 1);
		ck_assert_uint_eq(st.tx_packets, st.rx_packets);
		ck_assert_uint_eq(st.tx_bytes, st.rx_bytes);
		ck_assert_uint_ge(st.rx_bytes, 60 * st.rx_packets);
		ck_assert_uint_gt(st.polls, st.empty_polls);
		for (c = 0; c < BED_CARRIERS; c++)
			ck_assert_uint_eq(seen.next[p][c], 1000 * (p + 1) + c);
	}
	ck_assert_int_eq(bed_take_down(&bed), 0);
}
END_TEST

static void to_peer(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	struct seen *seen = rx->arg;

	seen->next[rx->port][rx->carrier] += n;
	/* Once across, then they are freed. */
	if (rx->port == 0)
		haul_tx_burst(rx->peer, pkts, n);
	else
		rte_pktmbuf_free_bulk(pkts, n);
}

START_TEST(the_peer_is_the_paired_port)
{
	struct haul_io_opts opts;
	struct seen seen = {0};
	struct bed bed;

	bed_open(&bed, THREE);
	opts = bed_io_opts(&bed);
	opts.on_burst = to_peer;
	opts.arg = &seen;
	bed_start(&bed, &opts);
	bed_send(&bed, 0, 1, 0, 500);
	WAIT_UNTIL(bed_stats(&bed, 1, 1).rx_packets == 500);
	ck_assert_uint_eq(bed_stats(&bed, 1, 0).rx_packets, 0);
	ck_assert_uint_eq(bed_stats(&bed, 2, HAUL_ALL).rx_packets, 0);
	bed_close(&bed, 0);
	ck_assert_uint_eq(seen.next[0][1], 500);
	ck_assert_uint_eq(seen.next[1][1], 500);
}
END_TEST

static void twice(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	struct seen *seen = rx->arg;
	uint16_t i;

	/* More packets each time, until the ring and the queue before it are full. */
	for (i = 0; i < n; i++) {
		struct rte_mbuf *more[8];
		uint16_t k;

		for (k = 0; k < 8; k++) {
			more[k] = rte_pktmbuf_alloc(pkts[i]->pool);
			if (!more[k])
				break;
			rte_pktmbuf_append(more[k], 60);
		}
		haul_tx_burst(rx->reply, more, k);
	}
	seen->next[0][0] += n;
	haul_tx_burst(rx->reply, pkts, n);
}

START_TEST(a_full_nic_keeps_then_drops_and_counts)
{
	struct haul_io_opts opts;
	struct seen seen = {0};
	struct haul_io_stats st;
	struct bed bed;

	bed_open(&bed, TWO);
	opts = bed_io_opts(&bed);
	opts.on_burst = twice;
	opts.count_bytes = true;
	opts.arg = &seen;
	bed_start(&bed, &opts);
	bed_send(&bed, 0, 0, 0, 32);
	WAIT_UNTIL(bed_stats(&bed, 0, HAUL_ALL).dropped[HAUL_DROP_TX_FULL] > 10000);
	ck_assert_int_eq(haul_io_stop(bed.io, 0, bed.errbuf, sizeof(bed.errbuf)), 0);
	st = bed_stats(&bed, 0, HAUL_ALL);
	/* All packets came back but those in the ring. */
	ck_assert_uint_ge(st.tx_packets, st.rx_packets);
	ck_assert_uint_le(st.tx_packets - st.rx_packets, BED_RING);
	ck_assert_uint_ge(st.tx_bytes, 60 * st.tx_packets);
	ck_assert_int_eq(bed_take_down(&bed), 0);
}
END_TEST

static uint16_t make(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	struct bed *bed = rx->arg;

	if (rte_pktmbuf_alloc_bulk(bed->pool, pkts, n) != 0)
		return 0;
	for (uint16_t i = 0; i < n; i++)
		rte_pktmbuf_append(pkts[i], 60);
	return n;
}

START_TEST(a_source_stops_at_a_full_nic)
{
	struct haul_io_opts opts;
	struct haul_io_stats st;
	struct bed bed;
	unsigned c;

	bed_open(&bed, TWO);
	opts = bed_io_opts(&bed);
	opts.source = make;
	opts.arg = &bed;
	bed_start(&bed, &opts);
	for (c = 0; c < BED_CARRIERS; c++)
		WAIT_UNTIL(bed_stats(&bed, 1, c).tx_packets == BED_RING);
	ck_assert_int_eq(haul_io_stop(bed.io, 0, bed.errbuf, sizeof(bed.errbuf)), 0);
	st = bed_stats(&bed, 0, HAUL_ALL);
	ck_assert_uint_eq(st.rx_packets, 0);
	ck_assert_uint_eq(st.tx_packets, BED_CARRIERS * BED_RING);
	/* Packets of the last burst of each carrier, which did not fit; no further burst was
	 * requested. */
	ck_assert_uint_le(st.dropped[HAUL_DROP_STOPPING], BED_CARRIERS * 32);
	ck_assert_uint_eq(st.dropped[HAUL_DROP_TX_FULL], 0);
	ck_assert_int_eq(bed_take_down(&bed), 0);
}
END_TEST

#define MADE 10000

/* Written by one carrier each. */
static struct {
	_Alignas(64) uint32_t made, handled;
	bool out_of_order;
} beside[BED_CARRIERS];

static uint16_t make_some(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	uint32_t left = MADE - beside[rx->carrier].made;
	uint16_t i;

	if (rx->port != 0)
		return 0;
	n = (uint16_t)RTE_MIN(n, left);
	for (i = 0; i < n; i++) {
		pkts[i] = bed_packet(rx->arg, beside[rx->carrier].made);
		if (!pkts[i])
			break;
		beside[rx->carrier].made++;
	}
	return i;
}

static void note(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	if (bed_number(pkt) != beside[rx->carrier].handled)
		beside[rx->carrier].out_of_order = true;
	beside[rx->carrier].handled++;
	haul_drop(rx, &pkt, 1, HAUL_DROP_CONSUMED);
}

static void note_all(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	for (uint16_t i = 0; i < n; i++)
		note(rx, pkts[i]);
}

static void send_beside(haul_burst_fn *on_burst, haul_packet_fn *on_packet, enum haul_poll_how how)
{
	struct haul_io_opts opts;
	struct haul_io_stats st;
	struct bed bed;
	unsigned c;

	memset(beside, 0, sizeof(beside));
	bed_open(&bed, TWO);
	opts = bed_io_opts(&bed);
	opts.source = make_some;
	opts.on_burst = on_burst;
	opts.on_packet = on_packet;
	opts.policy.how = how;
	opts.arg = &bed;
	bed_start(&bed, &opts);
	for (c = 0; c < BED_CARRIERS; c++)
		WAIT_UNTIL(bed_stats(&bed, 0, c).dropped[HAUL_DROP_CONSUMED] == MADE);
	ck_assert_int_eq(haul_io_stop(bed.io, 0, bed.errbuf, sizeof(bed.errbuf)), 0);
	st = bed_stats(&bed, 0, HAUL_ALL);
	ck_assert_uint_eq(st.rx_packets, BED_CARRIERS * MADE);
	ck_assert_uint_eq(st.tx_packets, BED_CARRIERS * MADE);
	for (c = 0; c < BED_CARRIERS; c++)
		ck_assert(!beside[c].out_of_order);
	ck_assert_int_eq(bed_take_down(&bed), 0);
}

START_TEST(a_source_sends_beside_a_burst_handler)
{
	send_beside(note_all, NULL, HAUL_POLL_SPIN);
	send_beside(note_all, NULL, HAUL_POLL_SLEEP);
}
END_TEST

START_TEST(a_source_sends_beside_coroutines)
{
	send_beside(NULL, note, HAUL_POLL_SPIN);
	send_beside(NULL, note, HAUL_POLL_SLEEP);
}
END_TEST

START_TEST(carriers_without_a_queue_get_no_poller)
{
	struct haul_io_opts opts;
	const char *why;
	struct bed bed;

	/* A file has one queue. */
	bed_open(&bed, ((const char *const[]){"ring:", "pcap:tx=/dev/null", NULL}));
	opts = bed_io_opts(&bed);
	opts.on_burst = ignore;
	bed_start(&bed, &opts);
	ck_assert_ptr_nonnull(strstr(haul_io_notice(bed.io), "1 of 2 carriers"));
	ck_assert_ptr_nonnull(strstr(haul_io_notice(bed.io), "pcap:tx=/dev/null"));
	ck_assert_ptr_nonnull(haul_io_txq(bed.io, 0, 0));
	ck_assert_ptr_null(haul_io_txq(bed.io, 0, 1));
	ck_assert_uint_eq(bed_stats(&bed, 0, 1).polls, 0);
	ck_assert(haul_io_is_healthy(bed.io, &why));
	bed_send(&bed, 0, 0, 0, 10);
	WAIT_UNTIL(bed_stats(&bed, 0, 0).rx_packets == 10);
	bed_close(&bed, 0);
}
END_TEST

START_TEST(stops_and_starts_again_on_the_same_ports)
{
	struct haul_io_opts opts;
	struct bed bed;
	const char *why;
	unsigned i;

	bed_open(&bed, TWO);
	opts = bed_io_opts(&bed);
	opts.on_burst = ignore;
	for (i = 0; i < 5; i++) {
		bed_start(&bed, &opts);
		ck_assert(haul_io_is_healthy(bed.io, &why));
		bed_send(&bed, 0, i % 2, 0, 200);
		WAIT_UNTIL(bed_stats(&bed, 0, HAUL_ALL).rx_packets == 200);
		ck_assert_int_eq(haul_io_stop(bed.io, 0, bed.errbuf, sizeof(bed.errbuf)), 0);
		ck_assert_int_eq(haul_io_stop(bed.io, 0, bed.errbuf, sizeof(bed.errbuf)), 0);
		/* A stopped poller set is no longer healthy, and reports it. */
		ck_assert(!haul_io_is_healthy(bed.io, &why));
		ck_assert_ptr_nonnull(strstr(why, "has ended"));
		if (i < 4)
			ck_assert_int_eq(haul_io_free(bed.io, bed.errbuf, sizeof(bed.errbuf)), 0);
	}
	ck_assert_int_eq(bed_take_down(&bed), 0);
}
END_TEST

static struct rte_mbuf *kept;

static void keep_first(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	if (!kept) {
		kept = pkts[0];
		rte_pktmbuf_free_bulk(pkts + 1, n - 1u);
	} else {
		rte_pktmbuf_free_bulk(pkts, n);
	}
}

START_TEST(a_kept_packet_is_missed_at_the_end)
{
	struct haul_io_opts opts;
	struct bed bed;

	bed_open(&bed, TWO);
	opts = bed_io_opts(&bed);
	opts.on_burst = keep_first;
	bed_start(&bed, &opts);
	bed_send(&bed, 0, 0, 0, 100);
	WAIT_UNTIL(bed_stats(&bed, 0, HAUL_ALL).rx_packets == 100);
	ck_assert_int_eq(haul_io_stop(bed.io, 0, bed.errbuf, sizeof(bed.errbuf)), 0);
	ck_assert_int_eq(bed_take_down(&bed), -EIO);
	ck_assert_msg(
		strstr(bed.errbuf, "1 of 8192 packet buffers did not come back"), "%s", bed.errbuf);
	kept = NULL;
}
END_TEST

static void drop_by_number(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	uint16_t i;

	for (i = 0; i < n; i++)
		haul_drop(
			rx, &pkts[i], 1, (enum haul_drop)(bed_number(pkts[i]) % HAUL_DROP_REASONS));
}

START_TEST(drops_are_counted_by_reason)
{
	struct haul_io_opts opts;
	struct haul_io_stats st;
	struct bed bed;
	unsigned i;

	bed_open(&bed, TWO);
	opts = bed_io_opts(&bed);
	opts.on_burst = drop_by_number;
	opts.drop_names[1] = "blocked";
	bed_start(&bed, &opts);
	bed_send(&bed, 1, 0, 0, 10 * HAUL_DROP_REASONS + 1);
	WAIT_UNTIL(bed_stats(&bed, 1, HAUL_ALL).rx_packets == 10 * HAUL_DROP_REASONS + 1);
	ck_assert_int_eq(haul_io_stop(bed.io, 0, bed.errbuf, sizeof(bed.errbuf)), 0);
	st = bed_stats(&bed, 1, HAUL_ALL);
	for (i = 0; i < HAUL_DROP_REASONS; i++) {
		ck_assert_uint_eq(st.dropped[i], i == 0 ? 11 : 10);
		ck_assert_str_ne(haul_drop_name((enum haul_drop)i), "?");
	}
	ck_assert_str_eq(haul_drop_name(HAUL_DROP_REASONS), "?");
	ck_assert_str_eq(haul_io_drop_name(bed.io, HAUL_DROP_CONSUMED), "consumed");
	ck_assert_ptr_null(haul_io_drop_name(bed.io, HAUL_DROP_OWN));
	ck_assert_str_eq(haul_io_drop_name(bed.io, HAUL_DROP_OWN + 1), "blocked");
	ck_assert_int_eq(bed_take_down(&bed), 0);
}
END_TEST

static volatile bool seen, missed;

static uint16_t look(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	if (!*(struct haul_io *volatile *)rx->arg)
		missed = true;
	seen = true;
	return 0;
}

START_TEST(the_first_call_of_a_handler_sees_io)
{
	struct haul_io_opts opts;
	struct bed bed;

	bed_open(&bed, TWO);
	bed.io = NULL;
	opts = bed_io_opts(&bed);
	opts.source = look;
	opts.arg = &bed.io;
	bed_start(&bed, &opts);
	WAIT_UNTIL(seen);
	ck_assert(!missed);
	ck_assert_int_eq(haul_io_stop(bed.io, 0, bed.errbuf, sizeof(bed.errbuf)), 0);
	ck_assert_int_eq(bed_take_down(&bed), 0);
}
END_TEST

/* Frames from bed_send() are unicast; the last is sent to a group. */
static void drop_by_verdict(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	uint16_t i;

	for (i = 0; i < n; i++) {
		unsigned number = bed_number(pkts[i]);

		if (number == 3)
			rte_pktmbuf_mtod(pkts[i], uint8_t *)[0] |= 1;
		haul_drop_verdict(rx, pkts[i],
			number == 0           ? HAUL_NET_MALFORMED
				: number == 1 ? HAUL_NET_NOT_FOR_US
					      : HAUL_NET_UNSUPPORTED);
	}
}

START_TEST(drops_are_counted_by_verdict)
{
	struct haul_io_opts opts;
	struct haul_io_stats st;
	struct bed bed;

	bed_open(&bed, TWO);
	opts = bed_io_opts(&bed);
	opts.on_burst = drop_by_verdict;
	bed_start(&bed, &opts);
	bed_send(&bed, 1, 0, 0, 4);
	WAIT_UNTIL(bed_stats(&bed, 1, HAUL_ALL).rx_packets == 4);
	ck_assert_int_eq(haul_io_stop(bed.io, 0, bed.errbuf, sizeof(bed.errbuf)), 0);
	st = bed_stats(&bed, 1, HAUL_ALL);
	ck_assert_uint_eq(st.dropped[HAUL_DROP_MALFORMED], 1);
	ck_assert_uint_eq(st.dropped[HAUL_DROP_NOT_FOR_US], 2);
	ck_assert_uint_eq(st.dropped[HAUL_DROP_UNSUPPORTED], 1);
	ck_assert_int_eq(bed_take_down(&bed), 0);
}
END_TEST

static void drop_too_many(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	struct rte_mbuf *own = rte_pktmbuf_alloc(pkts[0]->pool);

	haul_drop(rx, pkts, n, HAUL_DROP_MALFORMED);
	haul_drop(rx, &own, 1, HAUL_DROP_MALFORMED);
}

START_TEST(a_wrong_ledger_is_an_error_with_a_line)
{
	struct haul_io_opts opts;
	struct bed bed;

	bed_open(&bed, TWO);
	opts = bed_io_opts(&bed);
	opts.on_burst = drop_too_many;
	bed_start(&bed, &opts);
	bed_send(&bed, 1, 1, 0, 1);
	WAIT_UNTIL(bed_stats(&bed, 1, HAUL_ALL).rx_packets == 1);
	ck_assert_int_eq(haul_io_stop(bed.io, 0, bed.errbuf, sizeof(bed.errbuf)), -EIO);
	ck_assert_msg(strstr(bed.errbuf, "port 1 (ring:), carrier 1: received 1 packets"), "%s",
		bed.errbuf);
	ck_assert_ptr_null(strchr(bed.errbuf, '\n'));
	ck_assert_int_eq(bed_take_down(&bed), 0);
}
END_TEST

BED_MAIN("io_burst", {refuses_options_with_a_line}, {refuses_a_carrier_that_has_a_poller},
	{bursts_come_whole_and_in_order}, {the_peer_is_the_paired_port},
	{a_full_nic_keeps_then_drops_and_counts}, {a_source_stops_at_a_full_nic},
	{a_source_sends_beside_a_burst_handler}, {a_source_sends_beside_coroutines},
	{carriers_without_a_queue_get_no_poller}, {stops_and_starts_again_on_the_same_ports},
	{a_kept_packet_is_missed_at_the_end}, {drops_are_counted_by_reason},
	{drops_are_counted_by_verdict}, {the_first_call_of_a_handler_sees_io},
	{a_wrong_ledger_is_an_error_with_a_line})
