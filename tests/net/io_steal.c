/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handlers that are stolen: all packets come in on one of two carriers, and what they send is
 * looked at where it comes back. Flows are told apart by a MAC address.
 */
#include <stdatomic.h>
#include <string.h>

#include "io_flows.h"

#define PACKETS 20000

static struct {
	uint32_t left; /* how many have, through the queue of the other carrier */
	atomic_uint away; /* handlers that began elsewhere */
} s;

static unsigned flow_of(uint32_t number)
{
	return number % 3 ? number % FLOWS : 0; /* flow 0 is a third of all */
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
	flows_work((1 + number * 2654435761u % 20) * HAUL_US);
	if (number % 100 == 99)
		haul_drop(rx, &pkt, 1, HAUL_DROP_UNSUPPORTED);
	else if (haul_send(rx->peer, pkt) != 0)
		haul_drop(rx, &pkt, 1, HAUL_DROP_STOPPING);
}

static void run(struct haul_io_opts *opts)
{
	const struct flows flows = {.of = flow_of, .disorder = opts->order == HAUL_ORDER_ANY};
	struct haul_io_stats st;
	struct bed bed;

	memset(&s, 0, sizeof(s));
	flows_open(&bed, BED_CARRIERS, HAUL_STEAL_GLOBAL, &flows);
	opts->on_packet = forward;
	flows_run(&bed, opts, PACKETS);
	WAIT_UNTIL(bed_stats(&bed, 1, -1).rx_packets == PACKETS - PACKETS / 100);
	ck_assert(flows_stop(&bed));
	st = bed_stats(&bed, 0, -1);
	ck_assert_uint_eq(st.rx_packets, PACKETS);
	ck_assert_uint_eq(st.in_flight, 0);
	ck_assert_uint_eq(st.dropped[HAUL_DROP_UNSUPPORTED], PACKETS / 100);
	s.left = (uint32_t)bed_stats(&bed, 1, 1).tx_packets;
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
