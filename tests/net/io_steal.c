/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handlers that are stolen: all packets come in on one of two carriers, and what they send is
 * looked at where it comes back. Flows are told apart by a MAC address.
 */
#include <stdatomic.h>

#include <rte_ethdev.h>

#include "io_bed.h"

#define PACKETS 20000
#define FLOWS 24
#define SOURCE_MAC 11 /* where its last byte is */

static struct {
	uint32_t next[FLOWS]; /* packet number to leave next, at least */
	uint32_t left; /* how many have */
	bool checks;
	atomic_uint away; /* handlers that began elsewhere */
	bool wrong;
} s;

static unsigned flow_of(uint32_t number)
{
	return number % 3 ? number % FLOWS : 0; /* flow 0 is a third of all */
}

/* The poller's thread of the queue: what port 1 has sent comes back on it. */
static uint16_t look(
	uint16_t port, uint16_t queue, struct rte_mbuf **pkts, uint16_t n, uint16_t max, void *arg)
{
	for (uint16_t i = 0; i < n && s.checks; i++) {
		uint32_t number = bed_number(pkts[i]);

		s.wrong |= number < s.next[flow_of(number)];
		s.next[flow_of(number)] = number + 1;
	}
	return n;
}

static void work(uint64_t ns)
{
	uint64_t until = haul_now() + ns;

	while (haul_now() < until)
		;
}

/* Ends without sending, now and then. */
static void forward(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	uint32_t number = bed_number(pkt);

	if (rx->port == 1) {
		rte_pktmbuf_free(pkt);
		return;
	}
	s.away += haul_carrier_self() != haul_coro_home(haul_self());
	work((1 + number * 2654435761u % 20) * HAUL_US);
	if (number % 100 == 99)
		haul_drop(rx, &pkt, 1, HAUL_DROP_UNSUPPORTED);
	else if (haul_send(rx->peer, pkt) != 0)
		haul_drop(rx, &pkt, 1, HAUL_DROP_STOPPING);
}

static void *generate(void *arg)
{
	struct bed *bed = arg;

	for (uint32_t i = 0; i < PACKETS; i++) {
		struct rte_mbuf *pkt = bed_packet(bed, i);

		rte_pktmbuf_mtod(pkt, char *)[SOURCE_MAC] = (char)flow_of(i);
		ck_assert_int_eq(haul_send(haul_io_txq(bed->io, 0, 0), pkt), 0);
	}
	return NULL;
}

static void run(const struct haul_io_opts *with)
{
	struct haul_io_opts opts;
	struct haul_coro *co;
	struct bed bed;
	struct haul_io_stats st;
	struct haul_queue queue;
	const void *looks;

	memset(&s, 0, sizeof(s));
	bed_open_with(&bed, (const char *const[]){"ring:", "ring:", NULL}, BED_CARRIERS,
		HAUL_STEAL_GLOBAL);
	opts = bed_io_opts(&bed);
	opts.on_packet = forward;
	opts.order = with->order;
	opts.policy = with->policy;
	opts.coro = with->coro;
	s.checks = opts.order == HAUL_ORDER_FLOW;
	queue = haul_port_queue(bed.ports[1], 0);
	looks = rte_eth_add_rx_callback(queue.port_id, queue.queue_id, look, NULL);
	ck_assert_ptr_nonnull(looks);
	bed_start(&bed, &opts);
	ck_assert_int_eq(haul_spawn_on(haul_carrier(bed.rt, 0), &co, generate, &bed, NULL), 0);
	ck_assert_int_eq(haul_join(co, NULL), 0);
	WAIT_UNTIL(bed_stats(&bed, 1, -1).rx_packets == PACKETS - PACKETS / 100);
	ck_assert_msg(haul_io_stop(bed.io, HAUL_FOREVER, bed.errbuf, sizeof(bed.errbuf)) == 0, "%s",
		bed.errbuf);
	st = bed_stats(&bed, 0, -1);
	ck_assert_uint_eq(st.rx_packets, PACKETS);
	ck_assert_uint_eq(st.in_flight, 0);
	ck_assert_uint_eq(st.dropped[HAUL_DROP_UNSUPPORTED], PACKETS / 100);
	rte_eth_remove_rx_callback(queue.port_id, queue.queue_id, looks);
	s.left = (uint32_t)bed_stats(&bed, 1, 1).tx_packets;
	ck_assert(!s.wrong);
	ck_assert_msg(bed_take_down(&bed) == 0, "%s", bed.errbuf);
}

static const struct haul_poll_policy policies[] = {
	{.how = HAUL_POLL_SPIN}, {.how = HAUL_POLL_SLEEP, .ns = 100 * HAUL_US}};

START_TEST(flows_keep_their_order)
{
	run(&(struct haul_io_opts){.policy = policies[_i]});
	ck_assert_uint_gt(s.away, 0);
	ck_assert_uint_eq(s.left, 0); /* through the queue of the thief */
}
END_TEST

START_TEST(any_order_goes_out_where_handlers_run)
{
	run(&(struct haul_io_opts){.policy = policies[_i], .order = HAUL_ORDER_ANY});
	ck_assert_uint_gt(s.away, 0);
	ck_assert_uint_gt(s.left, 0);
}
END_TEST

START_TEST(pinned_handlers_stay)
{
	const struct haul_coro_opts pinned = {.pinned = true};

	run(&(struct haul_io_opts){.coro = &pinned});
	ck_assert_uint_eq(s.away, 0);
	ck_assert_uint_eq(s.left, 0);
}
END_TEST

BED_MAIN("io_steal", {flows_keep_their_order, 2}, {any_order_goes_out_where_handlers_run, 2},
	{pinned_handlers_stay})
