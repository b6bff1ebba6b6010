/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stolen handlers: all packets come in on one of two carriers, and the packets that handlers send
 * are checked where they come back. A MAC address tells flows apart. And burst handlers, which keep
 * their carrier from stealing.
 */
#include <stdatomic.h>
#include <string.h>

#include <rte_ethdev.h>

#include "base/clock.h"
#include "io_flows.h"
#include "sched/state/self.h"
#include "sched/steal/steal.h"

#define PACKETS 20000

static struct {
	uint32_t left; /* packets that left through the other carrier's queue */
	atomic_uint remote; /* handlers that began away from home */
	struct bed *bed;
	atomic_uint bursts;
	atomic_bool searches, parked; /* at the begin of a burst */
	bool came; /* a packet came while the poller looked parked; carrier 0's */
} s;

static unsigned flow_of(uint32_t number)
{
	return number % 3 ? number % FLOWS : 0; /* flow 0 is a third of all */
}

/* Now and then ends without sending. */
static void forward(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	uint32_t number = bed_number(pkt);

	if (rx->port == 1) {
		rte_pktmbuf_free(pkt);
		return;
	}
	s.remote += haul_carrier_self() != haul_coro_home(haul_self());
	flows_work((1 + number * 2654435761u % 20) * HAUL_US);
	if (number % 100 == 99)
		haul_drop(rx, &pkt, 1, HAUL_DROP_UNSUPPORTED);
	else if (haul_send(rx->peer, pkt) != 0)
		haul_drop(rx, &pkt, 1, HAUL_DROP_STOPPING);
}

static void run(struct haul_io_opts *opts)
{
	const struct flows flows = {.of = flow_of, .disorder = opts->send_order == HAUL_ORDER_ANY};
	struct haul_io_stats st;
	struct bed bed;

	memset(&s, 0, sizeof(s));
	flows_open(&bed, BED_CARRIERS, HAUL_STEAL_GLOBAL, &flows);
	opts->on_packet = forward;
	flows_run(&bed, opts, PACKETS);
	WAIT_UNTIL(bed_stats(&bed, 1, HAUL_ALL).rx_packets == PACKETS - PACKETS / 100);
	ck_assert(flows_stop(&bed));
	st = bed_stats(&bed, 0, HAUL_ALL);
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
	ck_assert_uint_gt(s.remote, 0);
	ck_assert_uint_eq(s.left, 0); /* through the queue of the thief */
}
END_TEST

START_TEST(any_order_goes_out_where_handlers_run)
{
	run(&(struct haul_io_opts){.policy = policies[_i], .send_order = HAUL_ORDER_ANY});
	ck_assert_uint_gt(s.remote, 0);
	ck_assert_uint_gt(s.left, 0);
}
END_TEST

START_TEST(pinned_handlers_stay)
{
	const struct haul_coro_opts pinned = {.pinned = true};

	run(&(struct haul_io_opts){.coro = &pinned});
	ck_assert_uint_eq(s.remote, 0);
	ck_assert_uint_eq(s.left, 0);
}
END_TEST

static void works_long(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	s.searches = hauli_self()->steal.thief.search != 0;
	s.parked = hauli_self()->mail.inbox.sleeps;
	rte_pktmbuf_free_bulk(pkts, n);
	s.bursts++;
}

/* Puts this carrier into the state after it was sent a search; it naps when a packet comes. */
static void *naps_when_a_packet_comes(void *arg)
{
	struct haul_carrier *c = hauli_self();
	int token;

	while ((token = hauli_help_take_token(&c->steal.group->policy.help)) < 0)
		haul_yield(); /* the other carrier has it and searches */
	hauli_steal_search(c, &c->steal.group->searches[token]);
	c->steal.thief.nap_until += hauli_ticks_from_ns(HAUL_S);
	ck_assert_int_eq(haul_send(haul_io_txq(s.bed->io, 0, 0), bed_packet(s.bed, 0)), 0);
	return NULL;
}

static uint16_t receive_when_parked(
	uint16_t port, uint16_t queue, struct rte_mbuf **pkts, uint16_t n, uint16_t max, void *arg)
{
	if (n > 0 || s.came || !hauli_inbox_is_asleep(&hauli_self()->mail.inbox))
		return n;
	s.came = true;
	pkts[0] = bed_packet(s.bed, 0);
	return 1;
}

static void open_for_bursts(struct bed *bed)
{
	memset(&s, 0, sizeof(s));
	bed_open_with(bed, (const char *const[]){"ring:", NULL}, BED_CARRIERS, HAUL_STEAL_GLOBAL);
	s.bed = bed;
}

static void start_for_bursts(struct bed *bed, struct haul_poll_policy policy)
{
	struct haul_io_opts opts = bed_io_opts(bed);

	opts.on_burst = works_long;
	opts.policy = policy;
	bed_start(bed, &opts);
}

START_TEST(a_burst_handler_does_not_search)
{
	struct haul_coro *co;
	struct bed bed;

	open_for_bursts(&bed);
	start_for_bursts(&bed, policies[0]);
	ck_assert_int_eq(haul_spawn_on(haul_carrier(bed.rt, 0), &co, naps_when_a_packet_comes, NULL,
				 &(struct haul_coro_opts){.pinned = true}),
		0);
	ck_assert_int_eq(haul_join(co, NULL, HAUL_FOREVER), 0);
	WAIT_UNTIL(s.bursts == 1);
	bed_close(&bed, HAUL_FOREVER);
	ck_assert(!s.searches);
}
END_TEST

/* The recheck before the wait finds packets. */
START_TEST(a_burst_handler_is_not_asleep)
{
	const struct rte_eth_rxtx_callback *rx;
	struct haul_queue q;
	struct bed bed;

	open_for_bursts(&bed);
	q = haul_port_queue(bed.ports[0], 0);
	rx = rte_eth_add_rx_callback(q.port_id, q.queue_id, receive_when_parked, NULL);
	ck_assert_ptr_nonnull(rx);
	start_for_bursts(&bed, policies[1]);
	WAIT_UNTIL(s.bursts == 1);
	ck_assert_int_eq(haul_io_stop(bed.io, HAUL_FOREVER, bed.errbuf, sizeof(bed.errbuf)), 0);
	rte_eth_remove_rx_callback(q.port_id, q.queue_id, rx);
	ck_assert_msg(bed_take_down(&bed) == 0, "%s", bed.errbuf);
	ck_assert(!s.parked);
}
END_TEST

BED_MAIN("io_steal", {flows_keep_their_order, 2}, {any_order_goes_out_where_handlers_run, 2},
	{pinned_handlers_stay}, {a_burst_handler_does_not_search}, {a_burst_handler_is_not_asleep})
