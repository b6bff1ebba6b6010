/* SPDX-License-Identifier: BSD-3-Clause */
#include "flow_bed.h"

#include <errno.h>
#include <netinet/icmp6.h>
#include <stdio.h>
#include <string.h>

#include <rte_ether.h>
#include <rte_icmp.h>
#include <rte_ip.h>
#include <rte_udp.h>

#include "io/state.h"
#include "net/dpdk.h"

struct haul_test *flow_test;
struct haul_host *flow_host;
const char *flow_wrong;
const char *const flow_peers[2] = {"10.0.0.7", "fd00::7"};

void (*flow_on_datagram)(struct rte_mbuf *m, const struct haul_pkt *pkt);
unsigned flow_left;
uint8_t flow_sent_to[6];

static char line[256];
static struct haul_coro *network;

struct haul_addr flow_addr(const char *text)
{
	struct haul_addr a = {0};

	haul_addr_parse(&a, text);
	return a;
}

/* The network. */

struct job {
	struct rte_mbuf *m;
	struct order order;
};

static void feed(struct rte_mbuf *m, uint32_t carrier)
{
	if (haul_test_feed_pkt(flow_test, 0, carrier, m))
		flow_wrong = "a packet could not be fed";
}

/* The interface of whoever a packet was sent to. */
static struct haul_net_if called(const struct haul_pkt *pkt, const uint8_t *target)
{
	struct haul_net_if nif = {.ip4_prefix = 24, .ip6_prefix = 64};

	memcpy(nif.mac, (uint8_t[]){2, 0, 0, 0, 0, 9}, 6);
	if (pkt->ip_version == 6)
		memcpy(nif.ip6, target ? target : hauli_ip6_dst(pkt->ip6), 16);
	else
		memcpy(nif.ip4, target ? target : (const uint8_t *)&pkt->ip4->dst_addr, 4);
	return nif;
}

/* Turns pkt, a parsed packet of the host, into the reply with that change, and feeds it. */
static void reply(struct rte_mbuf *m, unsigned change, uint32_t carrier)
{
	struct haul_pkt pkt;
	struct haul_net_if nif;
	uint16_t len;

	if (haul_net_parse(&pkt, m) != HAUL_NET_OK) {
		flow_wrong = "the host has sent a packet that is flow_wrong";
		rte_pktmbuf_free(m);
		return;
	}
	nif = called(&pkt, NULL);
	if (change == 1)
		(pkt.ip_version == 6 ? nif.ip6 : nif.ip4)[3] ^= 1;
	if (change == 2)
		pkt.udp->dst_port ^= 1;
	if (change == 3)
		pkt.udp->src_port = rte_cpu_to_be_16(900); /* no flow's */
	haul_udp_reply(&nif, &pkt);
	/* sets the checksum */
	len = pkt.payload_len;
	haul_udp_set_payload(&pkt, pkt.payload, len);
	feed(m, carrier);
}

/* An ICMP message about m, whose data it becomes. */
static void icmp(struct rte_mbuf *m, enum what what, unsigned router, uint32_t carrier)
{
	struct haul_pkt pkt;
	struct haul_head head = {0};
	bool ip6;
	uint8_t *at;
	static const uint8_t types[2][WHATS + 1][2] = {{[REFUSED] = {3, 3},
							       [UNREACHABLE] = {3, 1},
							       [TOO_BIG] = {3, 4},
							       [CUT] = {3, 3},
							       [EXCEEDED] = {11, 0}},
		{[REFUSED] = {1, 4},
			[UNREACHABLE] = {1, 3},
			[TOO_BIG] = {2, 0},
			[CUT] = {1, 4},
			[EXCEEDED] = {3, 0}}};

	if (haul_net_parse(&pkt, m) != HAUL_NET_OK) {
		flow_wrong = "the host has sent a packet that is flow_wrong";
		rte_pktmbuf_free(m);
		return;
	}
	ip6 = pkt.ip_version == 6;
	memcpy(head.src_mac, &pkt.eth->dst_addr, 6);
	memcpy(head.dst_mac, &pkt.eth->src_addr, 6);
	head.dst = haul_pkt_src(&pkt);
	head.src = what == REFUSED ? haul_pkt_dst(&pkt) : flow_addr(ip6 ? "fd00::77" : "10.0.0.77");
	if (what != REFUSED)
		head.src.bytes[ip6 ? 15 : 3] = (uint8_t)router;
	rte_pktmbuf_adj(m, (uint16_t)((uint8_t *)pkt.l3 - (uint8_t *)pkt.eth));
	if (what == CUT)
		rte_pktmbuf_trim(m, (uint16_t)(rte_pktmbuf_pkt_len(m) - (ip6 ? 47 : 27)));
	/* As an echo request, and then of another type. */
	if (haul_build_echo(&pkt, m, &head, HAUL_ECHO_REQUEST, 0, 0, 0)) {
		flow_wrong = "an ICMP message cannot be built";
		rte_pktmbuf_free(m);
		return;
	}
	at = (uint8_t *)pkt.icmp;
	memcpy(at, types[ip6][what], 2);
	{
		/* The checksum of type and code alone changes. */
		uint32_t sum = (uint16_t)~pkt.icmp->icmp_cksum, old = ip6 ? 128 : 8;

		sum += (uint16_t)~old + (uint32_t)(at[0] | at[1] << 8);
		sum = (sum & 0xffff) + (sum >> 16);
		sum = (sum & 0xffff) + (sum >> 16);
		pkt.icmp->icmp_cksum = (uint16_t)~sum;
	}
	feed(m, carrier);
}

static void answer(struct rte_mbuf *m, const struct order *o)
{
	switch (o->what) {
	case NOTHING:
		rte_pktmbuf_free(m);
		break;
	case TWICE:
	case REPLY:
		for (uint32_t i = o->what == TWICE ? 2 : o->times ? o->times : 1; i > 1; i--)
			reply(rte_pktmbuf_copy(m, haul_test_pool(flow_test), 0, UINT32_MAX), 0,
				o->carrier);
		reply(m, 0, o->carrier);
		break;
	case BOTH:
		reply(rte_pktmbuf_copy(m, haul_test_pool(flow_test), 0, UINT32_MAX), 0, o->carrier);
		icmp(m, REFUSED, 77, o->carrier);
		break;
	case FORGED:
		for (unsigned i = 1; i < 4; i++)
			reply(rte_pktmbuf_copy(m, haul_test_pool(flow_test), 0, UINT32_MAX), i,
				o->carrier);
		reply(m, 0, o->carrier);
		break;
	default:
		icmp(m, (enum what)o->what, 77, o->carrier);
		break;
	}
}

static void *answer_later(void *arg)
{
	struct job *job = arg;

	if (haul_sleep(job->order.delay))
		rte_pktmbuf_free(job->m);
	else
		answer(job->m, &job->order);
	free(job);
	return NULL;
}

static void on_datagram(struct rte_mbuf *m, const struct haul_pkt *pkt)
{
	struct job *job = malloc(sizeof(*job));

	job->m = m;
	memset(&job->order, 0, sizeof(job->order));
	job->order.carrier = HAUL_ANY;
	if (pkt->payload_len >= sizeof(job->order))
		memcpy(&job->order, pkt->payload, sizeof(job->order));
	if (job->order.delay == 0)
		answer_later(job);
	else
		haul_spawn(NULL, answer_later, job, NULL);
}

void flow_icmp(struct rte_mbuf *m, enum what what, uint32_t carrier)
{
	icmp(m, what, 77, carrier);
}

int flow_begin(const struct haul_addr *from, uint16_t from_port, uint16_t port, const void *data,
	size_t len, uint32_t carrier)
{
	const struct rte_ether_addr mac = haul_port_mac(haul_test_io(flow_test)->ports[0]);
	struct rte_mbuf *m = rte_pktmbuf_alloc(haul_test_pool(flow_test));
	struct haul_head head = {.src_mac = {2, 0, 0, 0, 0, 9},
		.src = *from,
		.dst = flow_addr(from->version == 6 ? "fd00::1" : "10.0.0.1")};
	struct haul_pkt pkt;

	if (!m)
		return -ENOMEM;
	memcpy(head.dst_mac, &mac, 6);
	memcpy(rte_pktmbuf_append(m, (uint16_t)len), data, len);
	if (haul_build_udp(&pkt, m, &head, from_port, port, 0))
		flow_wrong = "a datagram cannot be built";
	feed(m, carrier);
	return 0;
}

static bool is_silent(const uint8_t *ip, bool ip6)
{
	return ip[ip6 ? 15 : 3] == SILENT;
}

static bool is_too_far(const struct haul_pkt *pkt)
{
	if (pkt->proto == HAUL_PROTO_ICMP)
		return ((const uint8_t *)&pkt->ip4->dst_addr)[3] == FAR &&
			pkt->ip4->time_to_live < FAR_HOPS;
	return pkt->proto == HAUL_PROTO_ICMP6 && hauli_ip6_dst(pkt->ip6)[15] == FAR &&
		pkt->ip6->hop_limits < FAR_HOPS;
}

static void on_frame(struct rte_mbuf *m)
{
	struct haul_pkt pkt;
	struct haul_net_if nif;
	const uint8_t *target = NULL;

	if (haul_net_parse(&pkt, m) != HAUL_NET_OK) {
		rte_pktmbuf_free(m);
		return;
	}
	if (pkt.proto == HAUL_PROTO_UDP) {
		memcpy(flow_sent_to, &pkt.eth->dst_addr, 6);
		(flow_on_datagram ? flow_on_datagram : on_datagram)(m, &pkt);
		return;
	}
	if (pkt.proto == HAUL_PROTO_ARP)
		target = (const uint8_t *)pkt.arp + 24;
	else if (pkt.proto == HAUL_PROTO_ND)
		target = (const uint8_t *)pkt.l4 + 8;
	if (target && is_silent(target, pkt.proto == HAUL_PROTO_ND)) {
		rte_pktmbuf_free(m);
		return;
	}
	if (is_too_far(&pkt)) {
		unsigned hops = pkt.ip_version == 6 ? pkt.ip6->hop_limits : pkt.ip4->time_to_live;

		if (hops == 3)
			rte_pktmbuf_free(m);
		else
			icmp(m, EXCEEDED, 200 + hops, HAUL_ANY);
		return;
	}
	nif = called(&pkt, target);
	if (haul_net_answer(&nif, &pkt) == HAUL_NET_OK)
		feed(m, HAUL_ANY);
	else
		rte_pktmbuf_free(m);
}

static void *run_network(void *arg)
{
	struct haul_test_frame frame;

	while (haul_test_take(flow_test, 0, &frame, HAUL_FOREVER) == 0)
		on_frame(frame.pkt);
	return arg;
}

/* The host. */

static void on_packet(struct haul_rx *rx, struct rte_mbuf *m)
{
	struct haul_pkt pkt;

	if (haul_host_takes(flow_host, rx, m))
		return;
	/* Not what neighbours say. */
	if (haul_net_parse(&pkt, m) == HAUL_NET_OK && pkt.ip_version &&
		pkt.proto != HAUL_PROTO_ND &&
		!(pkt.proto == HAUL_PROTO_ICMP6 && pkt.icmp->icmp_type == ND_NEIGHBOR_ADVERT))
		__atomic_add_fetch(&flow_left, 1, __ATOMIC_RELAXED);
	haul_drop(rx, &m, 1, HAUL_DROP_OWN);
}

static void on_burst(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	for (uint16_t i = 0; i < n; i++)
		on_packet(rx, pkts[i]);
}

static void (*body)(void);

static void run_body(void *arg)
{
	const struct haul_coro_opts opts = {.name = "network"};

	(void)arg;
	FAIL_UNLESS(haul_host_add_address(flow_host, 0, "10.0.0.1/24", line, sizeof(line)) == 0);
	FAIL_UNLESS(haul_host_add_address(flow_host, 0, "fd00::1/64", line, sizeof(line)) == 0);
	FAIL_UNLESS(haul_host_start(flow_host, haul_test_io(flow_test), line, sizeof(line)) == 0);
	FAIL_UNLESS(haul_spawn(&network, run_network, NULL, &opts) == 0);
	body();
	haul_cancel(network);
	haul_join(network, NULL, HAUL_FOREVER);
}

void flow_run(void (*of_test)(void), bool bursts)
{
	const struct haul_io_opts io = {.on_packet = bursts ? NULL : on_packet,
		.on_burst = bursts ? on_burst : NULL,
		.drop_names = {"handler"}};
	const struct haul_test_opts test = {.carriers = CARRIERS};

	flow_wrong = NULL;
	body = of_test;
	ck_assert_msg(haul_host_create(&flow_host, NULL, line, sizeof(line)) == 0, "%s", line);
	ck_assert_msg(haul_test_start(&flow_test, &io, &test, line, sizeof(line)) == 0, "%s", line);
	ck_assert_int_eq(haul_test_run(flow_test, run_body, NULL), 0);
	haul_host_stop(flow_host);
	ck_assert_msg(haul_test_stop(flow_test, HAUL_FOREVER, line, sizeof(line)) == 0, "%s", line);
	haul_host_free(flow_host);
	ck_assert_pstr_eq(flow_wrong, NULL);
}

struct haul_flow_stats flow_stats(void)
{
	struct haul_flow_stats st;

	haul_flow_get_stats(flow_host, HAUL_ALL, &st);
	return st;
}

static struct rte_mbuf *question(const struct order *o)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(haul_test_pool(flow_test));

	memcpy(rte_pktmbuf_append(m, sizeof(*o)), o, sizeof(*o));
	return m;
}

int flow_say(struct haul_flow *flow, struct order o)
{
	struct rte_mbuf *m = question(&o);
	int err = haul_flow_send(flow, m, haul_in(10 * HAUL_S));

	if (err)
		rte_pktmbuf_free(m);
	return err;
}

/* The number of the next reply, or an error. */
int flow_number(struct haul_flow *flow, uint64_t deadline)
{
	struct rte_mbuf *pkt;
	struct order o;
	int err = haul_flow_recv(flow, &pkt, deadline);

	if (err)
		return err;
	if (rte_pktmbuf_pkt_len(pkt) != sizeof(o))
		return -EBADMSG;
	memcpy(&o, rte_pktmbuf_mtod(pkt, void *), sizeof(o));
	rte_pktmbuf_free(pkt);
	return (int)o.number;
}

int flow_open(struct haul_flow **flow, const char *to, const struct haul_flow_opts *opts)
{
	struct haul_addr a = flow_addr(to);

	return haul_flow_open(flow, flow_host, &a, SERVER, opts);
}
