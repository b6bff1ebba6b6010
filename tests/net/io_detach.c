/* SPDX-License-Identifier: BSD-3-Clause */
/* A port is taken out while packets of others flow: these go on, nothing is lost but what was on
 * its way to that port, and its device is closed. It comes back, and all is as before. */
#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include <haul-dpdk/capture.h>
#include <haul-dpdk/port_config.h>
#include <haul-dpdk/port_info.h>

#include "io/state.h" /* whether pollers run, and what a full port does */
#include "io_bed.h"
#include "sched/state/coroutine.h" /* HAUL_STEALING */

#define TWO ((const char *const[]){"ring:", "ring:", NULL})
#define ONE_IS_EMPTY ((const char *const[]){"ring:", "empty:", NULL})

static struct {
	atomic_uint handled[2]; /* by port */
	atomic_uint count, waits, failed; /* packets; handlers that send; that could not */
	atomic_bool hold, held;
	atomic_uint calls; /* of a PMD that is gone */
} k;

static struct haul_io_opts begin_with(
	struct bed *bed, const char *const *specs, unsigned queues, enum haul_steal steal)
{
	memset(&k, 0, sizeof(k));
	bed_open_with(bed, specs, queues, steal);
	return bed_io_opts(bed);
}

static struct haul_io_opts begin(struct bed *bed, unsigned queues, enum haul_steal steal)
{
	return begin_with(bed, TWO, queues, steal);
}

/* Where a packet goes: NULL: nowhere. Each is handled twice on average. */
static struct haul_txq *next(const struct haul_rx *rx)
{
	unsigned n = k.count++ % 4;

	k.handled[rx->port]++;
	return n == 0 ? rx->reply : n == 1 ? rx->peer : NULL;
}

static void forward_burst(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	for (uint16_t i = 0; i < n; i++) {
		struct haul_txq *to = next(rx);

		if (to)
			haul_tx_burst(to, &pkts[i], 1);
		else
			haul_drop(rx, &pkts[i], 1, HAUL_DROP_CONSUMED);
	}
}

static void forward(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	struct haul_txq *to = next(rx);

	k.waits++;
	if (!to) {
		haul_drop(rx, &pkt, 1, HAUL_DROP_CONSUMED);
	} else if (haul_send(to, pkt) != 0) {
		k.failed++;
		haul_drop(rx, &pkt, 1, HAUL_DROP_STOPPING);
	}
	k.waits--;
}

static int try_detach(struct bed *bed, unsigned port)
{
	bed->errbuf[0] = '\0';
	return haul_io_detach_port(bed->io, port, HAUL_FOREVER, bed->errbuf, sizeof(bed->errbuf));
}

static void detach(struct bed *bed, unsigned port)
{
	ck_assert_msg(try_detach(bed, port) == 0, "%s", bed->errbuf);
	ck_assert(!haul_io_is_attached(bed->io, port));
}

static int try_attach(struct bed *bed, unsigned port, uint64_t timeout_ns)
{
	bed->errbuf[0] = '\0';
	return haul_io_attach_port(bed->io, port, timeout_ns, bed->errbuf, sizeof(bed->errbuf));
}

/* Packets come to a port until n more were handled. */
static void feed(struct bed *bed, unsigned port, unsigned n)
{
	unsigned before = k.handled[port];

	for (unsigned i = 0; k.handled[port] < before + n; i++)
		bed_send(bed, port, i % BED_CARRIERS, i, 200);
}

/* Packets still come from that port, and none from the other. */
static void check_flow(struct bed *bed, unsigned port)
{
	uint64_t received, refused;

	WAIT_UNTIL(bed_stats(bed, !port, HAUL_ALL).in_flight == 0);
	feed(bed, port, 1000);
	received = bed_stats(bed, !port, HAUL_ALL).rx_packets;
	refused = bed_stats(bed, !port, HAUL_ALL).dropped[HAUL_DROP_TX_REFUSED];
	feed(bed, port, 1000);
	bed_send(bed, !port, 0, 1, 2000); /* more than the transmit queue holds */
	WAIT_UNTIL(bed_stats(bed, !port, HAUL_ALL).dropped[HAUL_DROP_TX_REFUSED] >= refused + 2000);
	ck_assert_uint_eq(bed_stats(bed, !port, HAUL_ALL).rx_packets, received);
}

/* It comes back, with all its queues. What was counted goes on. */
static void attach(struct bed *bed, unsigned port)
{
	struct haul_io_stats before = bed_stats(bed, port, HAUL_ALL);
	struct rte_eth_stats last, now;

	ck_assert_int_eq(haul_port_get_stats(bed->ports[port], &last), 0);
	ck_assert_msg(try_attach(bed, port, HAUL_FOREVER) == 0, "%s", bed->errbuf);
	ck_assert(haul_io_is_attached(bed->io, port));
	ck_assert_int_eq(try_attach(bed, port, HAUL_FOREVER), 0); /* nothing to do */
	ck_assert_str_eq(haul_port_fault(bed->ports[port]), "");
	/* A port that is full waits, as before. */
	for (unsigned c = 0; c < bed->io->nb_pollers; c++)
		ck_assert(!bed->io->pollers[c]->txs[port].detached);
	if (bed->io->stage != HAULI_IO_RUNS)
		return;
	for (unsigned i = 0; i < 2; i++)
		if (haul_io_is_attached(bed->io, i))
			feed(bed, i, 100);
	WAIT_UNTIL(bed_stats(bed, port, HAUL_ALL).rx_packets >= before.rx_packets + 100);
	WAIT_UNTIL(bed_stats(bed, port, HAUL_ALL).tx_packets > before.tx_packets);
	ck_assert_int_eq(haul_port_get_stats(bed->ports[port], &now), 0);
	ck_assert_uint_ge(now.ipackets, last.ipackets + 100);
}

static uint16_t count_call(void *queue, struct rte_mbuf **pkts, uint16_t n)
{
	k.calls++;
	return 0;
}

/* From now on calls of the PMD of a port that is gone are counted. */
static void detach_and_watch(struct bed *bed, unsigned port)
{
	uint16_t id = haul_port_queue(bed->ports[port], 0).port_id;

	detach(bed, port);
	rte_eth_fp_ops[id].rx_pkt_burst = rte_eth_fp_ops[id].tx_pkt_burst = count_call;
}

/* The device is gone from DPDK, and the port says so. */
static void check_port(struct bed *bed, unsigned i, uint16_t id)
{
	struct haul_port *port = bed->ports[i];
	struct haul_port_info info;
	struct haul_queue_info queue;
	struct rte_eth_stats st;
	char *err = bed->errbuf;
	size_t len = sizeof(bed->errbuf);

	ck_assert(!rte_eth_dev_is_valid_port(id));
	ck_assert_int_eq(haul_port_get_info(port, &info), -ENODEV);
	ck_assert_int_eq(haul_port_get_queue_info(port, 0, true, &queue), -ENODEV);
	ck_assert_int_eq(haul_port_get_xstats(port, NULL, 0), -ENODEV);
	ck_assert_int_eq(haul_port_set_promiscuous(port, true, err, len), -ENODEV);
	ck_assert_int_eq(haul_port_get_stats(port, &st), 0);
	ck_assert_uint_gt(st.ipackets, 0);
	haul_port_reset_stats(port);
	haul_port_reset_stats(port);
	ck_assert_int_eq(haul_port_get_stats(port, &st), 0);
	ck_assert_uint_eq(st.ipackets, 0);
	ck_assert_str_eq(haul_port_fault(port), "");
	ck_assert_int_eq(haul_port_start(port, err, len), -ENODEV);
	ck_assert_str_eq(err, "port 'ring:': it was detached");
	ck_assert_int_eq(haul_port_stop(port, err, len), -ENODEV);
	ck_assert_int_eq(haul_port_set_mtu(port, 1400, err, len), -ENODEV);
}

static const struct way {
	haul_burst_fn *on_burst;
	haul_packet_fn *on_packet;
	enum haul_poll_how how;
	enum haul_steal steal;
	enum haul_send_order order;
	unsigned queues;
	bool count_bytes, times;
} ways[] = {
	{forward_burst, NULL, HAUL_POLL_SPIN, HAUL_STEAL_OFF, HAUL_ORDER_FLOW, 2, false, false},
	{forward_burst, NULL, HAUL_POLL_SLEEP, HAUL_STEAL_CLUSTER, HAUL_ORDER_FLOW, 3, true, true},
	{NULL, forward, HAUL_POLL_SPIN, HAUL_STEAL_OFF, HAUL_ORDER_FLOW, 3, false, true},
	{NULL, forward, HAUL_POLL_SLEEP, HAUL_STEAL_CLUSTER, HAUL_ORDER_ANY, 2, true, false},
	{NULL, forward, HAUL_POLL_SPIN, HAUL_STEAL_OFF, HAUL_ORDER_FLOW, 1, false, false},
	{forward_burst, NULL, HAUL_POLL_SPIN, HAUL_STEAL_OFF, HAUL_ORDER_FLOW, 1, false, true},
};

static uint64_t polls_of(const struct bed *bed, unsigned port)
{
	struct haul_queue_stats st;

	ck_assert(haul_io_get_queue_stats(bed->io, port, 0, &st));
	return st.polls;
}

static void start_way(struct bed *bed, const struct way *way, const char *const *specs)
{
	struct haul_io_opts opts =
		begin_with(bed, specs, way->queues, HAUL_STEALING ? way->steal : HAUL_STEAL_OFF);

	opts.on_burst = way->on_burst;
	opts.on_packet = way->on_packet;
	opts.policy.how = way->how;
	opts.send_order = way->order;
	opts.count_bytes = way->count_bytes;
	opts.times = way->times;
	opts.spread = HAUL_SPREAD_ALL;
	bed_start(bed, &opts);
}

static void run_way(const struct way *way, unsigned port)
{
	struct bed bed;
	uint64_t polls;
	const char *why;
	uint16_t id;

	start_way(&bed, way, TWO);
	feed(&bed, 0, 1000);
	feed(&bed, 1, 1000);
	id = haul_port_queue(bed.ports[port], 0).port_id;
	ck_assert(haul_io_is_attached(bed.io, port));
	detach_and_watch(&bed, port);
	polls = polls_of(&bed, port);
	check_flow(&bed, !port);
	ck_assert_uint_eq(polls_of(&bed, port), polls);
	check_port(&bed, port, id);
	detach(&bed, port); /* nothing to do */
	attach(&bed, port);
	detach(&bed, port);
	attach(&bed, port);
	ck_assert(haul_io_is_healthy(bed.io, &why));
	bed_close(&bed, HAUL_S);
	ck_assert_uint_eq(k.waits + k.failed + k.calls, 0);
}

START_TEST(the_others_go_on)
{
	for (unsigned i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		for (unsigned port = 0; port < 2; port++)
			run_way(&ways[i], port);
}
END_TEST

static int set_spec(struct bed *bed, const char *spec)
{
	bed->errbuf[0] = '\0';
	return haul_port_set_spec(bed->ports[1], spec, bed->errbuf, sizeof(bed->errbuf));
}

/* What is sent to the second port is taken, and nothing comes from it. */
static void check_sink(struct bed *bed)
{
	uint64_t sent = bed_stats(bed, 1, HAUL_ALL).tx_packets;
	uint64_t received = bed_stats(bed, 1, HAUL_ALL).rx_packets;

	feed(bed, 0, 1000);
	WAIT_UNTIL(bed_stats(bed, 1, HAUL_ALL).tx_packets >= sent + 100);
	ck_assert_uint_eq(bed_stats(bed, 1, HAUL_ALL).rx_packets, received);
}

/* No device, then one after the other. */
static void run_empty(const struct way *way)
{
	struct bed bed;
	struct rte_eth_stats st;
	const char *first, *why;

	start_way(&bed, way, ONE_IS_EMPTY);
	first = haul_port_spec(bed.ports[1]);
	ck_assert(!haul_io_is_attached(bed.io, 1));
	ck_assert_uint_eq(haul_port_queue(bed.ports[1], 0).port_id, RTE_MAX_ETHPORTS);
	ck_assert_int_eq(haul_port_get_stats(bed.ports[1], &st), 0);
	ck_assert_uint_eq(st.ipackets, 0);
	feed(&bed, 0, 1000);
	WAIT_UNTIL(bed_stats(&bed, 0, HAUL_ALL).in_flight == 0);
	ck_assert_uint_gt(bed_stats(&bed, 1, HAUL_ALL).dropped[HAUL_DROP_TX_REFUSED], 0);
	ck_assert_int_eq(try_attach(&bed, 1, HAUL_FOREVER), -ENODEV);
	ck_assert_str_eq(bed.errbuf,
		"haul_io_attach_port: port 'empty:': it has no device yet; give it another spec");
	ck_assert_int_eq(set_spec(&bed, "bad:"), -EINVAL);
	ck_assert_str_eq(haul_port_spec(bed.ports[1]), "empty:");
	ck_assert_int_eq(try_attach(&bed, 1, HAUL_FOREVER), -ENODEV); /* as before */
	ck_assert_int_eq(set_spec(&bed, "pci:ffff:ff:1f.7"), 0);
	ck_assert_int_lt(try_attach(&bed, 1, HAUL_FOREVER), 0); /* there is none */
	ck_assert_str_eq(haul_port_spec(bed.ports[1]), "empty:");
	ck_assert_int_eq(set_spec(&bed, "ring:"), 0);
	attach(&bed, 1);
	ck_assert_str_eq(haul_port_spec(bed.ports[1]), "ring:");
	ck_assert_str_eq(first, "empty:"); /* whoever had it still may read it */
	ck_assert_int_eq(set_spec(&bed, "null:"), -EBUSY);
	ck_assert_str_eq(bed.errbuf, "port 'ring:': it has a device; detach it first");
	detach(&bed, 1);
	ck_assert_int_eq(set_spec(&bed, "null:no-rx=1"), 0);
	ck_assert_msg(try_attach(&bed, 1, HAUL_FOREVER) == 0, "%s", bed.errbuf);
	check_sink(&bed);
	detach(&bed, 1);
	check_flow(&bed, 0);
	ck_assert_int_eq(set_spec(&bed, "ring:"), 0);
	attach(&bed, 1);
	ck_assert(haul_io_is_healthy(bed.io, &why));
	bed_close(&bed, HAUL_S);
	ck_assert_uint_eq(k.waits + k.failed + k.calls, 0);
}

START_TEST(a_device_comes_later)
{
	for (unsigned i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		run_empty(&ways[i]);
}
END_TEST

START_TEST(its_queues_may_move_and_carriers_be_spared)
{
	struct bed bed;
	struct haul_io_opts opts = begin(&bed, 3, HAUL_STEAL_OFF);
	const unsigned first = 0, both[] = {0, 1};
	struct haul_queue_stats st;
	uint64_t polls;

	opts.on_burst = forward_burst;
	bed_start(&bed, &opts);
	feed(&bed, 1, 100);
	detach(&bed, 1);
	ck_assert_int_eq(haul_io_move_queue(bed.io, 1, 0, 1, HAUL_FOREVER, NULL, 0), 0);
	ck_assert(haul_io_get_queue_stats(bed.io, 1, 0, &st));
	ck_assert_uint_eq(st.carrier, 1);
	ck_assert_int_eq(haul_io_use(bed.io, &first, 1, HAUL_FOREVER, NULL, 0), 0);
	check_flow(&bed, 0);
	ck_assert_int_eq(haul_io_use(bed.io, both, 2, HAUL_FOREVER, NULL, 0), 0);
	check_flow(&bed, 0);
	attach(&bed, 1);
	ck_assert(haul_io_get_queue_stats(bed.io, 1, 0, &st));
	polls = st.polls;
	ck_assert_int_eq(haul_io_move_queue(bed.io, 1, 0, !st.carrier, HAUL_FOREVER, NULL, 0), 0);
	feed(&bed, 1, 100);
	ck_assert(haul_io_get_queue_stats(bed.io, 1, 0, &st));
	ck_assert_uint_gt(st.polls, polls);
	bed_close(&bed, HAUL_S);
}
END_TEST

START_TEST(while_the_pollers_are_stopped)
{
	struct bed bed;
	struct haul_io_opts opts = begin(&bed, 2, HAUL_STEAL_OFF);
	struct haul_io *other;

	opts.on_burst = forward_burst;
	bed_start(&bed, &opts);
	feed(&bed, 1, 100);
	ck_assert_int_eq(haul_io_stop(bed.io, HAUL_S, bed.errbuf, sizeof(bed.errbuf)), 0);
	detach(&bed, 1);
	/* Others begin without it. */
	opts.stopped = true;
	ck_assert_int_eq(haul_io_start(&other, bed.rt, &opts, bed.errbuf, sizeof(bed.errbuf)), 0);
	ck_assert(haul_io_is_attached(other, 0) && !haul_io_is_attached(other, 1));
	ck_assert_int_eq(haul_io_free(other, bed.errbuf, sizeof(bed.errbuf)), 0);
	ck_assert_int_eq(haul_io_resume(bed.io, NULL, bed.errbuf, sizeof(bed.errbuf)), 0);
	check_flow(&bed, 0);
	ck_assert_int_eq(haul_io_stop(bed.io, HAUL_S, bed.errbuf, sizeof(bed.errbuf)), 0);
	ck_assert_int_eq(haul_io_resume(bed.io, NULL, bed.errbuf, sizeof(bed.errbuf)), 0);
	detach(&bed, 0); /* all are */
	ck_assert_int_eq(haul_io_stop(bed.io, HAUL_S, bed.errbuf, sizeof(bed.errbuf)), 0);
	attach(&bed, 0);
	attach(&bed, 1);
	ck_assert_int_eq(haul_io_resume(bed.io, NULL, bed.errbuf, sizeof(bed.errbuf)), 0);
	feed(&bed, 0, 100);
	feed(&bed, 1, 100);
	bed_close(&bed, HAUL_S);
}
END_TEST

/* Frames count once they are written. */
static bool is_captured(const struct haul_capture *capture, unsigned port, unsigned n)
{
	struct haul_capture_stats st;

	haul_capture_get_stats(capture, port, &st);
	return st.captured + st.dropped >= n;
}

START_TEST(beside_a_capture)
{
	struct haul_capture_opts to = {.file = "/dev/null", .carriers = BED_CARRIERS};
	struct haul_capture_stats st;
	struct haul_capture *capture;
	struct bed bed;
	struct haul_io_opts opts = begin(&bed, 2, HAUL_STEAL_OFF);

	opts.on_burst = forward_burst;
	bed_start(&bed, &opts);
	to.ports = bed.ports;
	to.nb_ports = bed.nb_ports;
	for (unsigned i = 0; i < 3; i++) { /* of the port, and when it is gone, or comes back */
		ck_assert_int_eq(
			haul_capture_open(&capture, &to, bed.errbuf, sizeof(bed.errbuf)), 0);
		ck_assert_int_eq(
			haul_capture_start(capture, bed.io, bed.errbuf, sizeof(bed.errbuf)), 0);
		if (i == 0) {
			feed(&bed, 1, 100);
			detach_and_watch(&bed, 1);
		}
		check_flow(&bed, 0);
		if (i == 2) {
			attach(&bed, 1);
			WAIT_UNTIL(is_captured(capture, 1, 100));
		}
		ck_assert_int_eq(haul_capture_stop(capture, bed.errbuf, sizeof(bed.errbuf)), 0);
		if (i == 2)
			detach(&bed, 1);
		check_flow(&bed, 0);
		ck_assert_int_eq(haul_capture_close(capture, HAUL_FOREVER, &st, bed.errbuf,
					 sizeof(bed.errbuf)),
			0);
		ck_assert_uint_gt(st.captured, 0);
	}
	bed_close(&bed, HAUL_S);
	ck_assert_uint_eq(k.calls, 0);
}
END_TEST

static void *keep_busy(void *arg)
{
	k.held = true;
	while (k.hold)
		;
	return NULL;
}

static void *detach_here(void *arg)
{
	return (void *)(intptr_t)try_detach(arg, 0);
}

static int run_on(struct bed *bed, haul_fn *fn, void *arg, struct haul_coro **co)
{
	const struct haul_coro_opts opts = {.pinned = true};

	return haul_spawn_on(haul_carrier(bed->rt, 1), co, fn, arg, &opts);
}

START_TEST(errors)
{
	struct bed bed;
	struct haul_io_opts opts = begin(&bed, 2, HAUL_STEAL_OFF);
	struct haul_coro *co;
	void *result;

	opts.on_burst = forward_burst;
	bed_start(&bed, &opts);
	feed(&bed, 1, 100);
	ck_assert_int_eq(try_detach(&bed, 2), -EINVAL);
	ck_assert_str_eq(bed.errbuf, "haul_io_detach_port: there is no port 2");
	ck_assert_int_eq(try_attach(&bed, 2, 0), -EINVAL);
	ck_assert_str_eq(bed.errbuf, "haul_io_attach_port: there is no port 2");
	ck_assert(!haul_io_is_attached(bed.io, 2));
	ck_assert_int_eq(run_on(&bed, detach_here, &bed, &co), 0);
	ck_assert_int_eq(haul_join(co, &result, HAUL_FOREVER), 0);
	ck_assert_int_eq((int)(intptr_t)result, -EPERM);
	ck_assert_str_eq(
		bed.errbuf, "haul_io_detach_port: called on a carrier; call it in another thread");
	/* A carrier does not answer (1, or one without a CPU): the port stays, also with those
	 * that did. */
	k.hold = true;
	ck_assert_int_eq(run_on(&bed, keep_busy, NULL, &co), 0);
	WAIT_UNTIL(k.held);
	ck_assert_int_eq(haul_io_detach_port(bed.io, 1, HAUL_MS, bed.errbuf, sizeof(bed.errbuf)),
		-ETIMEDOUT);
	ck_assert_msg(strstr(bed.errbuf, "haul_io_detach_port: carrier "), "%s", bed.errbuf);
	ck_assert(haul_io_is_attached(bed.io, 1));
	k.hold = false;
	ck_assert_int_eq(haul_join(co, NULL, HAUL_FOREVER), 0);
	feed(&bed, 1, 1000);
	ck_assert_int_eq(haul_io_move_queue(bed.io, 1, 0, 1, HAUL_FOREVER, NULL, 0), 0);
	feed(&bed, 1, 1000);
	ck_assert_int_eq(haul_io_move_queue(bed.io, 1, 0, 0, HAUL_FOREVER, NULL, 0), 0);
	detach(&bed, 1);
	check_flow(&bed, 0);
	/* Nor does a port come back without it: its device stays closed. */
	k.hold = true;
	k.held = false;
	ck_assert_int_eq(run_on(&bed, keep_busy, NULL, &co), 0);
	WAIT_UNTIL(k.held);
	ck_assert_int_eq(try_attach(&bed, 1, HAUL_MS), -ETIMEDOUT);
	ck_assert_msg(strstr(bed.errbuf, "haul_io_attach_port: carrier "), "%s", bed.errbuf);
	ck_assert(!haul_io_is_attached(bed.io, 1));
	ck_assert_int_eq(haul_port_start(bed.ports[1], bed.errbuf, sizeof(bed.errbuf)), -ENODEV);
	k.hold = false;
	ck_assert_int_eq(haul_join(co, NULL, HAUL_FOREVER), 0);
	attach(&bed, 1);
	bed_close(&bed, HAUL_S);
}
END_TEST

BED_MAIN("io_detach", {the_others_go_on}, {a_device_comes_later},
	{its_queues_may_move_and_carriers_be_spared}, {while_the_pollers_are_stopped},
	{beside_a_capture}, {errors})
