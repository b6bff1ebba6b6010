/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flows on a port with one queue for two carriers, in real time: haul spreads packets by their
 * flow, so flows on both carriers have local ports whose replies come to them; and with stealing
 * handlers, which take replies on whatever carrier they run. The port is a ring, on which what is
 * sent comes back, and the handler is the other end, too. That begins flows, too, with packets
 * which take any way.
 */
#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include <rte_ip.h>
#include <rte_udp.h>

#include <haul-dpdk/flow.h>

#include "io_bed.h"

#define ASKERS 40
#define QUESTIONS 50

#define SERVICE 7 /* the host's port */
#define CLIENTS 40
#define FIRST_CLIENT 2000 /* port */
#define DATAGRAMS 50 /* of each */

static const struct haul_net_if server = {
	.mac = {2, 0, 0, 0, 0, 9}, .ip4 = {10, 0, 0, 9}, .ip4_prefix = 24};
static struct haul_host *host;
static atomic_uint right, stolen;
static bool thieves;
static struct {
	atomic_uint begun, answers;
	atomic_ullong seen; /* bits of the datagrams answered */
} clients[CLIENTS];

/* An answer of the service, to a client. */
static bool is_answer(const struct haul_pkt *pkt)
{
	unsigned i = rte_be_to_cpu_16(pkt->udp->dst_port) - FIRST_CLIENT;
	unsigned long long bit;

	if (pkt->udp->src_port != rte_cpu_to_be_16(SERVICE))
		return false;
	if (i < CLIENTS && pkt->payload_len == 1 && pkt->payload[0] < DATAGRAMS) {
		bit = 1ULL << pkt->payload[0];
		clients[i].answers += !(atomic_fetch_or(&clients[i].seen, bit) & bit);
	}
	return true;
}

static void on_packet(struct haul_rx *rx, struct rte_mbuf *m)
{
	enum haul_verdict v;
	struct haul_pkt pkt;

	/* So that there is something to steal, from one of the two. */
	if (thieves && rx->carrier == 0)
		rte_delay_us_block(20); /* its load */
	if (thieves && haul_carrier_id(haul_carrier_self()) != rx->carrier)
		stolen++;
	if (haul_host_takes(host, rx, m))
		return;
	v = haul_net_parse(&pkt, m);
	if (v == HAUL_NET_OK)
		v = haul_net_for_us(&server, &pkt);
	if (v == HAUL_NET_OK && pkt.proto == HAUL_PROTO_UDP && is_answer(&pkt)) {
		haul_drop(rx, &m, 1, HAUL_DROP_CONSUMED);
		return;
	}
	if (v == HAUL_NET_OK)
		v = pkt.proto == HAUL_PROTO_UDP ? haul_udp_reply(&server, &pkt)
						: haul_net_answer(&server, &pkt);
	if (v == HAUL_NET_OK)
		haul_send_or_drop(rx, rx->reply, m);
	else
		haul_drop_verdict(rx, m, v);
}

static void *ask(void *arg)
{
	uint32_t number = (uint32_t)(uintptr_t)arg, reply;
	struct haul_addr to = haul_addr_from(4, server.ip4);

	for (uint32_t i = 0; i < QUESTIONS; i++, number++) {
		int n = haul_request(host, &to, 53, &number, sizeof(number), &reply, sizeof(reply),
			&(struct haul_request_opts){.first_ns = 60 * HAUL_S}, HAUL_FOREVER);

		right += n == sizeof(reply) && reply == number;
	}
	return NULL;
}

static void start(struct bed *bed, enum haul_steal steal)
{
	struct haul_io_opts opts;

	right = stolen = 0;
	thieves = steal != HAUL_STEAL_OFF;
	bed_open_with(bed, (const char *const[]){"ring:", NULL}, 1, steal);
	opts = bed_io_opts(bed);
	opts.on_packet = on_packet;
	ck_assert_int_eq(haul_host_create(&host, NULL, bed->errbuf, sizeof(bed->errbuf)), 0);
	ck_assert_int_eq(
		haul_host_add_address(host, 0, "10.0.0.1/24", bed->errbuf, sizeof(bed->errbuf)), 0);
	bed_start(bed, &opts);
	ck_assert_msg(haul_host_start(host, bed->io, bed->errbuf, sizeof(bed->errbuf)) == 0, "%s",
		bed->errbuf);
}

static void run(enum haul_steal steal, struct haul_flow_stats *st)
{
	struct haul_coro *cos[ASKERS];
	struct bed bed;

	start(&bed, steal);
	for (unsigned i = 0; i < ASKERS; i++)
		ck_assert_int_eq(haul_spawn_on(haul_carrier(bed.rt, i % BED_CARRIERS), &cos[i], ask,
					 (void *)(uintptr_t)(i * QUESTIONS), NULL),
			0);
	for (unsigned i = 0; i < ASKERS; i++)
		haul_join(cos[i], NULL, HAUL_FOREVER);
	haul_flow_get_stats(host, HAUL_ALL, st);
	haul_host_stop(host);
	bed_close(&bed, 0);
	haul_host_free(host);
	ck_assert_uint_eq(right, ASKERS * QUESTIONS);
	ck_assert_uint_eq(st->received, ASKERS * QUESTIONS);
	ck_assert_uint_eq(st->open + st->full + st->lost + st->strangers, 0);
}

START_TEST(spreading_brings_replies_to_the_carrier_that_asks)
{
	struct haul_flow_stats st;

	run(HAUL_STEAL_OFF, &st);
	/* One in 256 is passed on: of two carriers eight draws are all wrong. */
	ck_assert_uint_lt(st.handed_over, ASKERS * QUESTIONS / 50);
}
END_TEST

START_TEST(replies_that_thieves_take_reach_their_flows)
{
	struct haul_flow_stats st;

	do
		run(HAUL_STEAL_CLUSTER, &st);
	while (stolen == 0); /* on a busy machine */
	ck_assert_uint_gt(st.handed_over, 0);
}
END_TEST

/* Of the host's, in the order of arrivals; a stolen one, too. */
static void serve(struct haul_flow *flow, void *arg)
{
	unsigned i = haul_flow_peer_port(flow) - FIRST_CLIENT;
	struct rte_mbuf *m;

	(void)arg;
	clients[i].begun++;
	while (haul_flow_recv(flow, &m, HAUL_FOREVER) == 0) {
		if (thieves)
			rte_delay_us_block(5); /* its load */
		if (haul_flow_send(flow, m, HAUL_FOREVER))
			rte_pktmbuf_free(m);
	}
	haul_flow_close(flow);
}

static struct rte_mbuf *datagram(struct bed *bed, unsigned i, uint8_t number)
{
	const struct rte_ether_addr mac = haul_port_mac(bed->ports[0]);
	struct haul_head head = {.src_mac = {2, 0, 0, 0, 0, 9},
		.src = haul_addr_from(4, server.ip4),
		.dst = haul_addr_from(4, (const uint8_t[]){10, 0, 0, 1})};
	struct rte_mbuf *m = rte_pktmbuf_alloc(bed->pool);
	struct haul_pkt pkt;

	if (!m)
		return NULL;
	memcpy(head.dst_mac, &mac, 6);
	*(uint8_t *)rte_pktmbuf_append(m, 1) = number;
	return haul_build_udp(&pkt, m, &head, (uint16_t)(FIRST_CLIENT + i), SERVICE, 0) ? NULL : m;
}

/* Sends all datagrams of the clients, and waits for their answers. */
static void *be_clients(void *arg)
{
	struct bed *bed = arg;
	unsigned answers;

	for (uint8_t k = 0; k < DATAGRAMS; k++) {
		for (unsigned i = 0; i < CLIENTS; i++) {
			struct rte_mbuf *m = datagram(bed, i, k);

			if (!m || haul_send(haul_io_txq(bed->io, 0, 0), m))
				return "a datagram was not sent";
		}
		do {
			haul_sleep(100 * HAUL_US); /* between looks */
			answers = 0;
			for (unsigned i = 0; i < CLIENTS; i++)
				answers += clients[i].answers;
		} while (answers < CLIENTS * (k + 1U));
	}
	return NULL;
}

static void listen_for(enum haul_steal steal, struct haul_flow_stats *st)
{
	struct haul_coro *co;
	struct bed bed;
	void *why;

	memset(clients, 0, sizeof(clients));
	start(&bed, steal);
	ck_assert_int_eq(haul_flow_listen(host, SERVICE, serve, NULL, NULL), 0);
	ck_assert_int_eq(haul_spawn_on(haul_carrier(bed.rt, 0), &co, be_clients, &bed, NULL), 0);
	haul_join(co, &why, HAUL_FOREVER);
	ck_assert_pstr_eq(why, NULL);
	haul_flow_get_stats(host, HAUL_ALL, st);
	haul_host_stop(host);
	bed_close(&bed, 0);
	haul_host_free(host);
	for (unsigned i = 0; i < CLIENTS; i++)
		ck_assert_uint_eq(clients[i].begun, 1);
	ck_assert_uint_eq(st->accepted, CLIENTS);
	ck_assert_uint_eq(st->received, CLIENTS * DATAGRAMS);
	ck_assert_uint_eq(st->full + st->lost + st->strangers + st->refused, 0);
}

START_TEST(spreading_brings_packets_to_the_carrier_of_their_flow)
{
	struct haul_flow_stats st;

	listen_for(HAUL_STEAL_OFF, &st);
	ck_assert_uint_eq(st.handed_over, 0);
}
END_TEST

START_TEST(packets_that_thieves_take_begin_no_second_flow)
{
	struct haul_flow_stats st;

	do
		listen_for(HAUL_STEAL_CLUSTER, &st);
	while (stolen == 0); /* on a busy machine */
	ck_assert_uint_gt(st.handed_over, 0);
}
END_TEST

BED_MAIN("flow_spread", {spreading_brings_replies_to_the_carrier_that_asks, 1},
	{replies_that_thieves_take_reach_their_flows, 5},
	{spreading_brings_packets_to_the_carrier_of_their_flow, 1},
	{packets_that_thieves_take_begin_no_second_flow, 5})
