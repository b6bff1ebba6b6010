/* SPDX-License-Identifier: BSD-3-Clause */
/* Overload control: more packets than handlers can serve. Nothing here depends on how fast this
 * machine is: counts are compared, and waits have no limit. */
#include <stdatomic.h>
#include <string.h>

#include <rte_ethdev.h>
#include <rte_ether.h>
#include <rte_ip.h>

#include <haul/driver.h>

#include "io_bed.h"

#define ONE ((const char *const[]){"ring:", NULL})
#define TARGET (100 * HAUL_US)
#define INTERVAL HAUL_MS

enum { OTHER, FIRST, GREEDY, KINDS };

/* Written by one carrier, read after it has stopped. */
struct told {
	uint64_t work_ns;
	uint32_t others; /* of 2,000 packets; 0: 400 */
	uint64_t handled[KINDS];
	uint64_t sent[KINDS];
	uint32_t last[KINDS]; /* number of the last packet, by kind */
	bool disordered;
	atomic_bool open;
};

/* An IPv4 packet with its number behind the header. The kind is in the source's address. */
static struct rte_mbuf *packet(struct bed *bed, unsigned kind, uint32_t number)
{
	struct rte_mbuf *pkt = rte_pktmbuf_alloc(bed->pool);
	struct rte_ether_hdr *eth;
	struct rte_ipv4_hdr *ip;

	if (!pkt)
		return NULL;
	eth = (struct rte_ether_hdr *)rte_pktmbuf_append(pkt, 60);
	memset(eth, 0, 60);
	eth->ether_type = rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV4);
	ip = (struct rte_ipv4_hdr *)(eth + 1);
	ip->version_ihl = 0x45;
	ip->next_proto_id = kind == FIRST ? IPPROTO_ICMP : IPPROTO_UDP;
	ip->src_addr = rte_cpu_to_be_32(
		0x0a000000 + 256 * kind + (kind == OTHER ? number % 16 : 1)); /* others are many */
	memcpy(ip + 1, &number, sizeof(number));
	return pkt;
}

static const struct rte_ipv4_hdr *ip_of(const struct rte_mbuf *pkt)
{
	return rte_pktmbuf_mtod_offset(pkt, const struct rte_ipv4_hdr *, RTE_ETHER_HDR_LEN);
}

static unsigned kind_of(const struct rte_mbuf *pkt)
{
	return rte_be_to_cpu_32(ip_of(pkt)->src_addr) >> 8 & 3;
}

static void note(struct told *told, const struct rte_mbuf *pkt)
{
	unsigned kind = kind_of(pkt);
	uint32_t number;

	memcpy(&number, ip_of(pkt) + 1, sizeof(number));
	told->disordered |= told->handled[kind] > 0 && number <= told->last[kind];
	told->last[kind] = number;
	told->handled[kind]++;
}

static void work(uint64_t ns)
{
	uint64_t end = haul_now() + ns;

	while (haul_now() < end)
		rte_pause();
}

static void serve(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	struct told *told = rx->arg;

	note(told, pkt);
	work(told->work_ns);
	haul_drop(rx, &pkt, 1, HAUL_DROP_CONSUMED);
}

static void serve_burst(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	struct told *told = rx->arg;

	for (uint16_t i = 0; i < n; i++)
		note(told, pkts[i]);
	work(n * told->work_ns);
	haul_drop(rx, pkts, n, HAUL_DROP_CONSUMED);
}

/* Waits in between, so handlers pile up in the run queue and in flight. */
static void serve_in_parts(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	struct told *told = rx->arg;

	note(told, pkt);
	work(told->work_ns / 2);
	haul_yield();
	work(told->work_ns / 2);
	haul_drop(rx, &pkt, 1, HAUL_DROP_CONSUMED);
}

/*
 * Sends n packets as fast as the ring takes them: of 2,000, one of the first class, some of many
 * sources, the others of one. The ring has one producer: the handlers send nothing.
 */
static void flood(struct bed *bed, struct told *told, uint32_t n)
{
	struct haul_queue queue = haul_port_queue(bed->ports[0], 0);
	uint32_t gap = 2000 / (told->others ? told->others : 400);

	for (uint32_t i = 1; i <= n; i++) {
		unsigned kind = i % 2000 == 0 ? FIRST : i % gap == 1 ? OTHER : GREEDY;
		struct rte_mbuf *pkt;

		while (!(pkt = packet(bed, kind, i)))
			rte_delay_us_sleep(50); /* until buffers are free */
		while (rte_eth_tx_burst(queue.port_id, queue.queue_id, &pkt, 1) == 0)
			rte_delay_us_sleep(50); /* until there is room */
		told->sent[kind]++;
	}
}

static uint64_t sum(const uint64_t of[KINDS])
{
	return of[OTHER] + of[FIRST] + of[GREEDY];
}

static struct haul_io_stats run(struct told *told, struct haul_io_opts how, uint32_t n,
	struct haul_overload_stats *overload)
{
	struct haul_io_opts opts;
	struct haul_io_stats st;
	struct bed bed;

	bed_open_with(&bed, ONE, 1, HAUL_STEAL_OFF);
	opts = bed_io_opts(&bed);
	opts.on_packet = how.on_packet;
	opts.on_burst = how.on_burst;
	opts.max_in_flight = how.max_in_flight;
	opts.overload = how.overload;
	opts.arg = told;
	opts.spread = HAUL_SPREAD_OFF;
	bed_start(&bed, &opts);
	flood(&bed, told, n);
	WAIT_UNTIL(bed_stats(&bed, 0, 0).rx_packets == n);
	ck_assert_msg(haul_io_stop(bed.io, HAUL_FOREVER, bed.errbuf, sizeof(bed.errbuf)) == 0, "%s",
		bed.errbuf);
	st = bed_stats(&bed, 0, HAUL_ALL);
	haul_io_get_overload(bed.io, 0, HAUL_ALL, overload);
	ck_assert_msg(bed_take_down(&bed) == 0, "%s", bed.errbuf);
	ck_assert_uint_eq(sum(told->handled), st.dropped[HAUL_DROP_CONSUMED]);
	ck_assert_uint_eq(n,
		sum(told->handled) + st.dropped[HAUL_DROP_LATE] + st.dropped[HAUL_DROP_OVER_SHARE]);
	ck_assert(!told->disordered);
	return st;
}

static const struct haul_overload ON = {.target_ns = TARGET, .interval_ns = INTERVAL};

/* The way of handlers, by _i. */
static struct haul_io_opts way(int i)
{
	return (struct haul_io_opts){.on_packet = i == 0 ? serve
			: i == 1                         ? serve_in_parts
							 : NULL,
		.on_burst = i == 2 ? serve_burst : NULL,
		.overload = ON};
}

START_TEST(without_it_all_are_served)
{
	struct told told = {.work_ns = 20 * HAUL_US};
	struct haul_overload_stats overload;
	struct haul_io_opts how = way(_i);
	struct haul_io_stats st;

	how.overload.target_ns = 0;
	st = run(&told, how, 5000, &overload);
	ck_assert_uint_eq(st.dropped[HAUL_DROP_LATE] + st.dropped[HAUL_DROP_OVER_SHARE], 0);
	ck_assert_uint_eq(
		overload.episodes + overload.first + overload.other + overload.late_ns, 0);
	ck_assert(!overload.is_late);
}
END_TEST

START_TEST(the_excess_is_dropped_and_the_first_class_is_not)
{
	struct told told = {.work_ns = 20 * HAUL_US};
	struct haul_overload_stats overload;
	struct haul_io_stats st = run(&told, way(_i), 300000, &overload);

	ck_assert_uint_gt(st.dropped[HAUL_DROP_LATE] + st.dropped[HAUL_DROP_OVER_SHARE], 0);
	ck_assert_uint_ge(overload.episodes, 1);
	ck_assert_uint_gt(overload.late_ns, 0);
	ck_assert(!overload.is_late);
	ck_assert_uint_ge(overload.first + overload.other,
		st.dropped[HAUL_DROP_LATE] + st.dropped[HAUL_DROP_OVER_SHARE]);
	/* Those whose source floods lose their class: no more than that. */
	ck_assert_uint_ge(told.handled[FIRST] + overload.demoted, told.sent[FIRST]);
	ck_assert_uint_gt(sum(told.handled), told.handled[FIRST]);
}
END_TEST

/* Sixteen sources with a fifth of the packets, beside one with the others. */
START_TEST(the_source_that_floods_loses_most)
{
	struct told told = {.work_ns = 20 * HAUL_US};
	struct haul_overload_stats overload;
	struct haul_io_stats st = run(&told, way(0), 1000000, &overload);

	ck_assert_uint_gt(st.dropped[HAUL_DROP_OVER_SHARE], st.dropped[HAUL_DROP_LATE]);
	ck_assert_uint_gt(told.handled[OTHER] * told.sent[GREEDY],
		2 * told.handled[GREEDY] * told.sent[OTHER]);
}
END_TEST

/* Each of the sixteen sends one of 8,000 packets: they do not wait behind those that are late. */
START_TEST(small_sources_are_served_beside_a_flood)
{
	struct told told = {.work_ns = 20 * HAUL_US, .others = 4};
	struct haul_overload_stats overload;

	(void)run(&told, way(_i), 300000, &overload);
	/* All of them, if the machine is quiet; a carrier that is preempted gets a backlog. */
	ck_assert_uint_gt(told.handled[OTHER] * told.sent[GREEDY],
		2 * told.handled[GREEDY] * told.sent[OTHER]);
}
END_TEST

START_TEST(what_a_carrier_can_serve_is_not_dropped)
{
	struct told told = {0};
	struct haul_overload_stats overload;
	struct haul_io_opts how = way(_i);
	struct haul_io_stats st;

	/* A second: no machine that runs tests needs that long for a ring of nothing. */
	how.overload = (struct haul_overload){.target_ns = HAUL_S, .interval_ns = HAUL_S};
	st = run(&told, how, 50000, &overload);
	ck_assert_uint_eq(st.dropped[HAUL_DROP_LATE] + st.dropped[HAUL_DROP_OVER_SHARE], 0);
}
END_TEST

static void hold(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	struct told *told = rx->arg;

	note(told, pkt);
	while (!told->open)
		haul_yield();
	haul_drop(rx, &pkt, 1, HAUL_DROP_CONSUMED);
}

static enum haul_class first_by_source(struct haul_rx *rx, const struct rte_mbuf *pkt)
{
	return kind_of(pkt) == FIRST ? HAUL_CLASS_FIRST : HAUL_CLASS_OTHER;
}

/* One packet, if there is room for it. */
static void offer(struct bed *bed, unsigned kind, uint32_t i, struct told *told)
{
	struct haul_queue queue = haul_port_queue(bed->ports[0], 0);
	struct rte_mbuf *pkt = packet(bed, kind, i);

	if (!pkt)
		return;
	if (rte_eth_tx_burst(queue.port_id, queue.queue_id, &pkt, 1) == 1)
		told->sent[kind]++;
	else
		rte_pktmbuf_free(pkt);
}

/* At max_in_flight packets of the first class begin all the same, up to a quarter more, and others
 * are dropped, instead of being kept in the NIC. */
START_TEST(at_the_limit_of_handlers_the_first_class_has_a_reserve)
{
	struct told told = {0};
	struct haul_io_opts opts;
	struct haul_overload_stats overload;
	struct bed bed;
	bool was_late = false;
	uint64_t most = 0;
	uint32_t i;

	bed_open_with(&bed, ONE, 1, HAUL_STEAL_OFF);
	opts = bed_io_opts(&bed);
	opts.on_packet = hold;
	opts.max_in_flight = 40;
	opts.burst = 8;
	opts.overload = ON;
	opts.overload.classify = first_by_source;
	opts.arg = &told;
	opts.spread = HAUL_SPREAD_OFF;
	bed_start(&bed, &opts);
	for (i = 1; bed_stats(&bed, 0, 0).in_flight < 48; i++) {
		bool is_shed = bed_stats(&bed, 0, 0).dropped[HAUL_DROP_LATE] > 0;

		most = RTE_MAX(most, is_shed ? 0 : bed_stats(&bed, 0, 0).in_flight);
		/* Others do not end, so that the queue stays late. */
		offer(&bed, is_shed && i % 8 == 0 && told.sent[FIRST] < 8 ? FIRST : OTHER, i,
			&told);
		haul_io_get_overload(bed.io, 0, 0, &overload);
		was_late |= overload.is_late;
	}
	ck_assert_uint_le(most, 40 + 8);
	ck_assert(was_late);
	told.open = true;
	bed_close(&bed, HAUL_FOREVER);
	ck_assert_uint_eq(told.handled[FIRST], told.sent[FIRST]);
	ck_assert_uint_ge(told.handled[FIRST], 1);
}
END_TEST

BED_MAIN("io_overload", {without_it_all_are_served, 3},
	{the_excess_is_dropped_and_the_first_class_is_not, 3}, {the_source_that_floods_loses_most},
	{small_sources_are_served_beside_a_flood, 3}, {what_a_carrier_can_serve_is_not_dropped, 3},
	{at_the_limit_of_handlers_the_first_class_has_a_reserve})
