/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stages of a packet's time: each packet is in the histogram of each stage that it went through,
 * with burst handlers, coroutines, stolen ones and RPS targets; times contain what handlers do. And
 * the share of time: its parts add up to the time elapsed, and a reader sees the part that goes on.
 */
#include <stdatomic.h>
#include <string.h>

#include "io_flows.h"

#define ONE ((const char *const[]){"ring:", NULL})
#define PACKETS 5000
#define LONG (5 * HAUL_MS)

static struct haul_hist h; /* too large for a stack */

static struct {
	atomic_uint handled;
	atomic_bool go;
	atomic_bool runs;
} s;

static struct haul_hist *stage_of(
	const struct bed *bed, unsigned port, unsigned carrier, enum haul_stage stage)
{
	haul_io_get_times(bed->io, port, carrier, stage, &h);
	return &h;
}

static uint64_t count(const struct bed *bed, unsigned port, enum haul_stage stage)
{
	return haul_hist_count(stage_of(bed, port, HAUL_ALL, stage));
}

static void stop(struct bed *bed)
{
	ck_assert_msg(haul_io_stop(bed->io, HAUL_FOREVER, bed->errbuf, sizeof(bed->errbuf)) == 0,
		"%s", bed->errbuf);
}

static void end(struct bed *bed)
{
	ck_assert_msg(bed_take_down(bed) == 0, "%s", bed->errbuf);
}

static void open_with(struct bed *bed, struct haul_io_opts more)
{
	struct haul_io_opts opts;

	memset(&s, 0, sizeof(s));
	bed_open(bed, ONE);
	opts = bed_io_opts(bed);
	opts.on_burst = more.on_burst;
	opts.on_packet = more.on_packet;
	opts.times = more.times;
	opts.policy = more.policy;
	bed_start(bed, &opts);
}

/* Numbers below PACKETS go around once more. */
static void again_by_burst(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	for (uint16_t i = 0; i < n; i++) {
		uint32_t number = bed_number(pkts[i]) + PACKETS;

		s.handled++;
		memcpy(rte_pktmbuf_mtod(pkts[i], char *) + 14, &number, sizeof(number));
		if (number < 2 * PACKETS)
			haul_tx_burst(rx->reply, &pkts[i], 1);
		else
			rte_pktmbuf_free(pkts[i]);
	}
}

static void again(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	uint32_t number = bed_number(pkt) + PACKETS;

	s.handled++;
	memcpy(rte_pktmbuf_mtod(pkt, char *) + 14, &number, sizeof(number));
	if (number >= 2 * PACKETS || haul_send(rx->reply, pkt) != 0)
		rte_pktmbuf_free(pkt);
}

START_TEST(each_stage_has_each_packet)
{
	const struct haul_io_opts opts = {.on_burst = _i ? again_by_burst : NULL,
		.on_packet = _i ? NULL : again,
		.times = true};
	struct haul_io_stats st;
	struct bed bed;

	open_with(&bed, opts);
	bed_send(&bed, 0, 0, 0, PACKETS);
	bed_send(&bed, 0, 1, 0, PACKETS);
	WAIT_UNTIL(
		s.handled + bed_stats(&bed, 0, HAUL_ALL).dropped[HAUL_DROP_TX_FULL] == 4 * PACKETS);
	stop(&bed);
	for (int c = -1; c < BED_CARRIERS; c++) {
		haul_io_get_stats(bed.io, 0, c, &st);
		ck_assert_uint_eq(
			haul_hist_count(stage_of(&bed, 0, c, HAUL_STAGE_START)), st.rx_packets);
		ck_assert_uint_eq(
			haul_hist_count(stage_of(&bed, 0, c, HAUL_STAGE_HANDLER)), st.rx_packets);
		ck_assert_uint_eq(
			haul_hist_count(stage_of(&bed, 0, c, HAUL_STAGE_TRANSMIT)), st.tx_packets);
		ck_assert_uint_gt(haul_hist_max(&h), 0);
		/* A ring's PMD gives no timestamp. */
		ck_assert_uint_eq(haul_hist_count(stage_of(&bed, 0, c, HAUL_STAGE_ARRIVAL)), 0);
	}
	end(&bed);
}
END_TEST

START_TEST(nothing_is_recorded_unless_asked_for)
{
	struct bed bed;

	open_with(&bed, (struct haul_io_opts){.on_packet = again});
	bed_send(&bed, 0, 0, 0, PACKETS);
	WAIT_UNTIL(s.handled == 2 * PACKETS);
	stop(&bed);
	for (unsigned stage = 0; stage < HAUL_STAGES; stage++)
		ck_assert_uint_eq(count(&bed, 0, (enum haul_stage)stage), 0);
	end(&bed);
}
END_TEST

static void compute(uint64_t ns)
{
	uint64_t until = haul_now() + ns;

	while (haul_now() < until)
		;
}

static void sleep_and_send(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	haul_record(rx, HAUL_STAGE_ARRIVAL, 7, 2);
	if (haul_sleep(LONG) != 0 || bed_number(pkt) > 0 || haul_send(rx->reply, pkt) != 0) {
		rte_pktmbuf_free(pkt);
	} else {
		/* On the way to the NIC while this goes on. */
		compute(LONG);
	}
	s.handled++;
}

START_TEST(times_contain_what_handlers_do)
{
	struct bed bed;

	open_with(&bed, (struct haul_io_opts){.on_packet = sleep_and_send, .times = true});
	bed_send(&bed, 0, 1, 1, 20);
	WAIT_UNTIL(s.handled == 20);
	/* None is faster than its sleep. */
	ck_assert_uint_eq(haul_hist_count(stage_of(&bed, 0, 1, HAUL_STAGE_HANDLER)), 20);
	ck_assert_uint_ge(haul_hist_quantile(&h, 0), LONG);
	ck_assert_uint_eq(haul_hist_count(stage_of(&bed, 0, 1, HAUL_STAGE_ARRIVAL)), 40);
	ck_assert_uint_eq(haul_hist_max(&h), 7);
	/* Packet 0 goes around, and each time it leaves after its handler's computing. */
	bed_send(&bed, 0, 0, 0, 1);
	WAIT_UNTIL(haul_hist_max(stage_of(&bed, 0, 0, HAUL_STAGE_TRANSMIT)) >= LONG);
	ck_assert_msg(
		haul_io_stop(bed.io, 0, bed.errbuf, sizeof(bed.errbuf)) == 0, "%s", bed.errbuf);
	end(&bed);
}
END_TEST

static unsigned flow_of(uint32_t number)
{
	return number % FLOWS;
}

static void forward(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	if (rx->port == 1) {
		rte_pktmbuf_free(pkt);
		return;
	}
	s.handled += haul_carrier_id(haul_carrier_self()) != rx->carrier;
	flows_work((1 + bed_number(pkt) * 2654435761u % 20) * HAUL_US);
	if (haul_send(rx->peer, pkt) != 0)
		haul_drop(rx, &pkt, 1, HAUL_DROP_STOPPING);
}

static void forward_burst(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	if (rx->port == 1)
		rte_pktmbuf_free_bulk(pkts, n);
	else
		haul_tx_burst(rx->peer, pkts, n);
}

/* All packets come in on one carrier. Those of targets leave through their proxy. */
static void run_flows(struct haul_io_opts *opts, unsigned queues, enum haul_steal steal)
{
	const struct flows flows = {.of = flow_of,
		.burst = queues == 1 ? 64 : 0,
		.disorder = opts->send_order == HAUL_ORDER_ANY};
	struct haul_io_stats in, out;
	struct bed bed;

	memset(&s, 0, sizeof(s));
	opts->times = true;
	flows_open(&bed, queues, steal, &flows);
	flows_run(&bed, opts, PACKETS);
	WAIT_UNTIL(bed_stats(&bed, 1, HAUL_ALL).rx_packets == PACKETS);
	ck_assert(flows_stop(&bed));
	in = bed_stats(&bed, 0, HAUL_ALL);
	out = bed_stats(&bed, 1, HAUL_ALL);
	ck_assert_uint_eq(count(&bed, 0, HAUL_STAGE_START), in.rx_packets);
	ck_assert_uint_eq(count(&bed, 0, HAUL_STAGE_HANDLER), in.rx_packets);
	ck_assert_uint_eq(count(&bed, 1, HAUL_STAGE_TRANSMIT), out.tx_packets);
	ck_assert_uint_eq(out.tx_packets, PACKETS);
	end(&bed);
}

START_TEST(stolen_handlers_are_recorded)
{
	run_flows(&(struct haul_io_opts){.on_packet = forward,
			  .send_order = _i ? HAUL_ORDER_ANY : HAUL_ORDER_FLOW},
		BED_CARRIERS, HAUL_STEAL_GLOBAL);
	ck_assert_uint_gt(s.handled, 0); /* stolen ones */
}
END_TEST

START_TEST(packets_of_targets_are_recorded)
{
	struct haul_io_opts opts = {.spread = HAUL_SPREAD_ALL};

	if (_i)
		opts.on_burst = forward_burst;
	else
		opts.on_packet = forward;
	run_flows(&opts, 1, HAUL_STEAL_OFF);
}
END_TEST

static struct haul_io_share share_of(const struct bed *bed, unsigned carrier)
{
	struct haul_io_share share;

	haul_io_get_share(bed->io, carrier, &share);
	return share;
}

static const struct haul_poll_policy policies[] = {
	{.how = HAUL_POLL_SPIN}, {.how = HAUL_POLL_SLEEP, .ns = 20 * HAUL_MS}};

static void compute_long(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	compute(n * HAUL_MS);
	rte_pktmbuf_free_bulk(pkts, n);
}

static void compute_twice(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	compute(HAUL_MS / 2);
	haul_yield();
	compute(HAUL_MS / 2);
	rte_pktmbuf_free(pkt);
}

/* Policies by handlers. */
START_TEST(parts_add_up_to_the_time_elapsed)
{
	const struct haul_io_opts opts = {.policy = policies[_i % 2],
		.on_burst = _i / 2 ? compute_long : NULL,
		.on_packet = _i / 2 ? NULL : compute_twice};
	uint64_t before = haul_now(), began, sum;
	struct haul_io_share share;
	struct bed bed;

	open_with(&bed, opts);
	began = haul_now();
	bed_send(&bed, 0, 1, 0, 50);
	WAIT_UNTIL(share_of(&bed, 1).work_ns >= 50 * HAUL_MS);
	WAIT_UNTIL(share_of(&bed, 1).empty_ns > 0);
	WAIT_UNTIL(_i % 2 == 0 || share_of(&bed, 1).asleep_ns >= 20 * HAUL_MS);
	stop(&bed);
	share = share_of(&bed, 1);
	sum = share.work_ns + share.empty_ns + share.asleep_ns;
	/* The poller began after `before`, and ended before now. */
	ck_assert_uint_le(sum, haul_now() - before);
	ck_assert_uint_ge(sum, 50 * HAUL_MS);
	ck_assert_uint_ge(share.work_ns, 50 * HAUL_MS);
	ck_assert(_i % 2 || share.asleep_ns == 0);
	/* The other carrier got no packet. */
	share = share_of(&bed, 0);
	ck_assert_uint_le(share.work_ns, share.empty_ns + share.asleep_ns);
	ck_assert_uint_gt(began, before);
	end(&bed);
}
END_TEST

/* Sums of both runs; the time between them counts for neither. */
START_TEST(runs_add_up)
{
	const uint64_t pause = 50 * HAUL_MS;
	const struct haul_io_opts opts = {.on_packet = compute_twice, .times = true};
	uint64_t before = haul_now();
	struct haul_io_share first, both;
	struct bed bed;

	open_with(&bed, opts);
	bed_send(&bed, 0, 1, 0, 5);
	WAIT_UNTIL(haul_hist_count(stage_of(&bed, 0, 1, HAUL_STAGE_HANDLER)) == 5);
	stop(&bed);
	first = share_of(&bed, 1);
	compute(pause);
	both = share_of(&bed, 1);
	ck_assert_mem_eq(&first, &both, sizeof(both));
	ck_assert_msg(haul_io_resume(bed.io, NULL, bed.errbuf, sizeof(bed.errbuf)) == 0, "%s",
		bed.errbuf);
	bed_send(&bed, 0, 1, 0, 5);
	WAIT_UNTIL(haul_hist_count(stage_of(&bed, 0, 1, HAUL_STAGE_HANDLER)) == 10);
	stop(&bed);
	both = share_of(&bed, 1);
	ck_assert_uint_ge(both.work_ns, first.work_ns + 5 * HAUL_MS);
	ck_assert_uint_ge(both.empty_ns, first.empty_ns);
	ck_assert_uint_eq(both.asleep_ns, 0);
	ck_assert_uint_le(both.work_ns + both.empty_ns, haul_now() - before - pause);
	end(&bed);
}
END_TEST

static void *run_until_told(void *arg)
{
	s.runs = true;
	while (!s.go)
		;
	return NULL;
}

/* Neither the coroutine nor the sleep ends before the reader has seen it. */
START_TEST(a_reader_sees_what_goes_on)
{
	const struct haul_io_opts opts = {
		.on_packet = again, .policy = {.how = HAUL_POLL_SLEEP, .ns = 10 * HAUL_S}};
	struct haul_io_share share;
	struct haul_coro *co;
	uint64_t asleep;
	struct bed bed;

	open_with(&bed, opts);
	WAIT_UNTIL(share_of(&bed, 1).empty_ns > 0); /* the poller has begun */
	ck_assert_int_eq(
		haul_spawn_on(haul_carrier(bed.rt, 1), &co, run_until_told, NULL, NULL), 0);
	WAIT_UNTIL(s.runs && share_of(&bed, 1).work_ns >= 20 * HAUL_MS);
	share = share_of(&bed, 1);
	asleep = share.asleep_ns;
	WAIT_UNTIL(share_of(&bed, 1).work_ns >= share.work_ns + 20 * HAUL_MS);
	ck_assert_uint_eq(share_of(&bed, 1).asleep_ns, asleep);
	s.go = true;
	ck_assert_int_eq(haul_join(co, NULL, HAUL_FOREVER), 0);
	WAIT_UNTIL(share_of(&bed, 1).asleep_ns >= asleep + 50 * HAUL_MS);
	stop(&bed);
	end(&bed);
}
END_TEST

BED_MAIN("io_times", {each_stage_has_each_packet, .runs = 2},
	{nothing_is_recorded_unless_asked_for}, {times_contain_what_handlers_do},
	{stolen_handlers_are_recorded, .runs = 2}, {packets_of_targets_are_recorded, .runs = 2},
	{parts_add_up_to_the_time_elapsed, .runs = 4}, {runs_add_up}, {a_reader_sees_what_goes_on})
