/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What does a question over UDP cost, and its reply? 32 are under way. The port is a ring, on which
 * what is sent comes back, and the handler is the server, too: it exchanges addresses and ports of
 * a question. The bare loop does all that by hand, with bursts of DPDK, in one function: it builds
 * the headers and both checksums, checks those of the reply, and finds the question by its port.
 *
 * And what does a datagram cost that comes back? 32 go round: the handler as the other end turns
 * them, too. They are echoed by functions of a listener, by opened flows, or by the handler.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ethdev.h>
#include <rte_ip.h>
#include <rte_udp.h>

#include <haul-dpdk/flow.h>
#include <haul-dpdk/host.h>

#include "harness/bed.h"
#include "harness/harness.h"

#define UNDER_WAY 32
#define SERVER_PORT 53
#define LISTENED 7 /* the host's port */
#define FIRST_CLIENT 2000 /* ports of the other end */
#define PACKETS UINT64_C(1) /* handlers are coroutines */
#define LEN 32 /* bytes of payload */
#define BURST 32

struct frame {
	struct rte_ether_hdr eth;
	struct rte_ipv4_hdr ip;
	struct rte_udp_hdr udp;
	unsigned char payload[LEN];
} __attribute__((packed, aligned(2)));

static const struct haul_net_if server = {
	.mac = {2, 0, 0, 0, 0, 9}, .ip4 = {10, 0, 0, 9}, .ip4_prefix = 24};
static const unsigned char data[LEN];
static struct haul_host *host;
static uint64_t left; /* questions that have not begun, or echoes */
static struct haul_sem ended; /* a unit for each datagram that goes round no more */
static bool packets, echoes; /* handlers are coroutines; they echo */
static char why[256];

/* A question becomes its reply. The sums of the checksums stay the same. */
static void turn(struct frame *f)
{
	struct rte_ether_addr mac = f->eth.src_addr;
	rte_be32_t ip = f->ip.src_addr;
	rte_be16_t port = f->udp.src_port;

	f->eth.src_addr = f->eth.dst_addr;
	f->eth.dst_addr = mac;
	f->ip.src_addr = f->ip.dst_addr;
	f->ip.dst_addr = ip;
	f->udp.src_port = f->udp.dst_port;
	f->udp.dst_port = port;
}

static bool is_question(const struct frame *f)
{
	return f->eth.ether_type == RTE_BE16(RTE_ETHER_TYPE_IPV4) &&
		(f->udp.dst_port == RTE_BE16(SERVER_PORT) || f->udp.src_port == RTE_BE16(LISTENED));
}

static void serve(struct haul_rx *rx, struct rte_mbuf *m)
{
	struct haul_pkt pkt;

	if (is_question(rte_pktmbuf_mtod(m, struct frame *)))
		turn(rte_pktmbuf_mtod(m, struct frame *));
	else if (haul_net_parse(&pkt, m) != HAUL_NET_OK ||
		haul_net_answer(&server, &pkt) != HAUL_NET_OK) {
		haul_drop(rx, &m, 1, HAUL_DROP_CONSUMED);
		return;
	}
	if (packets)
		haul_send_or_drop(rx, rx->reply, m);
	else
		haul_tx_burst(rx->reply, &m, 1);
}

static void on_burst(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	for (uint16_t i = 0; i < n; i++)
		if (!haul_host_takes(host, rx, pkts[i]))
			serve(rx, pkts[i]);
}

/* As a coroutine would that knows no flows. */
static void echo_packet(struct haul_rx *rx, struct rte_mbuf *m)
{
	static const struct haul_net_if nif = {
		.mac = {2, 0, 0, 0, 0, 1}, .ip4 = {10, 0, 0, 1}, .ip4_prefix = 24};
	struct haul_pkt pkt;

	if (haul_net_parse(&pkt, m) != HAUL_NET_OK || haul_net_for_us(&nif, &pkt) != HAUL_NET_OK ||
		pkt.proto != HAUL_PROTO_UDP || left == 0 ||
		haul_udp_reply(&nif, &pkt) != HAUL_NET_OK) {
		haul_drop(rx, &m, 1, HAUL_DROP_CONSUMED);
		haul_sem_post(&ended);
		return;
	}
	left--;
	haul_send_or_drop(rx, rx->reply, m);
}

static void on_packet(struct haul_rx *rx, struct rte_mbuf *m)
{
	const struct frame *f = rte_pktmbuf_mtod(m, struct frame *);

	if (echoes && f->udp.dst_port == RTE_BE16(LISTENED))
		echo_packet(rx, m);
	else if (!haul_host_takes(host, rx, m))
		serve(rx, m);
}

static int haul_setup(uint64_t param)
{
	const struct haul_io_opts opts = {.on_burst = param & PACKETS ? NULL : on_burst,
		.on_packet = param & PACKETS ? on_packet : NULL};
	int err = perf_bed_hold("ring:", NULL);

	packets = param & PACKETS;

	if (err)
		return err;
	perf_must(haul_host_create(&host, NULL, why, sizeof(why)), "haul_host_create");
	perf_must(haul_host_add_address(host, 0, "10.0.0.1/24", why, sizeof(why)), why);
	perf_bed_io_start(&opts);
	perf_must(haul_host_start(host, perf_bed()->io, why, sizeof(why)), why);
	return 0;
}

static void haul_teardown(void)
{
	haul_host_stop(host);
	perf_bed_io_stop();
	haul_host_free(host);
	perf_bed_release();
}

static struct haul_addr to(void)
{
	return haul_addr_from(4, server.ip4);
}

static void *ask_by_flow(void *arg)
{
	struct haul_addr peer = to();
	struct haul_flow *flow;

	perf_must(haul_flow_open(&flow, host, &peer, SERVER_PORT, NULL), "haul_flow_open");
	while (left > 0) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(perf_bed()->pool);

		left--;
		memcpy(rte_pktmbuf_append(m, LEN), data, LEN);
		perf_must(haul_flow_send(flow, m, HAUL_FOREVER), "haul_flow_send");
		perf_must(haul_flow_recv(flow, &m, HAUL_FOREVER), "haul_flow_recv");
		rte_pktmbuf_free(m);
	}
	haul_flow_close(flow);
	return arg;
}

static void *ask_by_request(void *arg)
{
	struct haul_addr peer = to();
	unsigned char reply[LEN];

	while (left > 0) {
		left--;
		if (haul_request(host, &peer, SERVER_PORT, data, LEN, reply, LEN, NULL,
			    HAUL_FOREVER) != LEN)
			perf_must(-EIO, "haul_request");
	}
	return arg;
}

static uint64_t ask(haul_fn *fn, uint64_t n)
{
	struct haul_carrier *c = haul_carrier(perf_bed()->rt, 0);
	struct haul_coro *cos[UNDER_WAY];
	uint64_t start = perf_now();

	left = n;
	for (unsigned i = 0; i < UNDER_WAY; i++)
		perf_must(haul_spawn_on(c, &cos[i], fn, NULL, NULL), "haul_spawn_on");
	for (unsigned i = 0; i < UNDER_WAY; i++)
		haul_join(cos[i], NULL, HAUL_FOREVER);
	return perf_now() - start;
}

static uint64_t flow_run(uint64_t n)
{
	return ask(ask_by_flow, n);
}

static uint64_t request_run(uint64_t n)
{
	return ask(ask_by_request, n);
}

/* Echoes. */

static void echo(struct haul_flow *flow, void *arg)
{
	struct rte_mbuf *m;

	(void)arg;
	while (haul_flow_recv(flow, &m, HAUL_FOREVER) == 0) {
		if (left == 0) {
			rte_pktmbuf_free(m);
			haul_sem_post(&ended);
			continue;
		}
		left--;
		perf_must(haul_flow_send(flow, m, HAUL_FOREVER), "haul_flow_send");
	}
	haul_flow_close(flow);
}

static int listen_setup(uint64_t param)
{
	int err = haul_setup(param);

	echoes = false;
	return err ? err : haul_flow_listen(host, LISTENED, echo, NULL, NULL);
}

static int handler_setup(uint64_t param)
{
	echoes = true;
	return haul_setup(param);
}

/* The other end sends the first ones, from a port each. */
static void *begin_echoes(void *arg)
{
	struct haul_txq *txq = haul_io_txq(perf_bed()->io, 0, 0);
	const struct rte_ether_addr mac = haul_port_mac(perf_bed()->port);

	for (uint16_t i = 0; i < UNDER_WAY; i++) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(perf_bed()->pool);
		struct haul_head head = {.src_mac = {2, 0, 0, 0, 0, 9},
			.src = haul_addr_from(4, server.ip4),
			.dst = haul_addr_from(4, (const uint8_t[]){10, 0, 0, 1})};
		struct haul_pkt pkt;

		memcpy(head.dst_mac, echoes ? (const uint8_t[]){2, 0, 0, 0, 0, 1} : mac.addr_bytes,
			6);
		memcpy(rte_pktmbuf_append(m, LEN), data, LEN);
		perf_must(haul_build_udp(&pkt, m, &head, (uint16_t)(FIRST_CLIENT + i), LISTENED, 0),
			"haul_build_udp");
		perf_must(haul_send(txq, m), "haul_send");
	}
	for (unsigned i = 0; i < UNDER_WAY; i++)
		perf_must(haul_sem_wait(&ended, HAUL_FOREVER), "haul_sem_wait");
	return arg;
}

static uint64_t echo_run(uint64_t n)
{
	struct haul_coro *co;
	uint64_t start = perf_now();

	left = n;
	perf_must(haul_spawn_on(haul_carrier(perf_bed()->rt, 0), &co, begin_echoes, NULL, NULL),
		"haul_spawn_on");
	haul_join(co, NULL, HAUL_FOREVER);
	return perf_now() - start;
}

static void *echo_by_flow(void *arg)
{
	struct haul_addr peer = to();
	struct rte_mbuf *m = rte_pktmbuf_alloc(perf_bed()->pool);
	struct haul_flow *flow;

	perf_must(haul_flow_open(&flow, host, &peer, SERVER_PORT, NULL), "haul_flow_open");
	memcpy(rte_pktmbuf_append(m, LEN), data, LEN);
	for (;;) {
		perf_must(haul_flow_send(flow, m, HAUL_FOREVER), "haul_flow_send");
		perf_must(haul_flow_recv(flow, &m, HAUL_FOREVER), "haul_flow_recv");
		if (left == 0)
			break;
		left--;
	}
	rte_pktmbuf_free(m);
	haul_flow_close(flow);
	return arg;
}

static uint64_t open_run(uint64_t n)
{
	return ask(echo_by_flow, n);
}

/* By hand. */

static int bare_setup(uint64_t param)
{
	(void)param;
	return perf_bed_hold("ring:", NULL);
}

static struct rte_mbuf *build(uint16_t port)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(perf_bed()->pool);
	struct frame *f = (void *)rte_pktmbuf_append(m, sizeof(*f));

	*f = (struct frame){
		.eth = {.dst_addr = {{2, 0, 0, 0, 0, 9}},
			.src_addr = {{2, 0, 0, 0, 0, 1}},
			.ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV4)},
		.ip = {.version_ihl = RTE_IPV4_VHL_DEF,
			.total_length = RTE_BE16(20 + 8 + LEN),
			.fragment_offset = RTE_BE16(RTE_IPV4_HDR_DF_FLAG),
			.time_to_live = 64,
			.next_proto_id = IPPROTO_UDP,
			.src_addr = RTE_BE32(RTE_IPV4(10, 0, 0, 1)),
			.dst_addr = RTE_BE32(RTE_IPV4(10, 0, 0, 9))},
		.udp = {.src_port = rte_cpu_to_be_16(port),
			.dst_port = RTE_BE16(SERVER_PORT),
			.dgram_len = RTE_BE16(8 + LEN)},
	};
	memcpy(f->payload, data, LEN);
	f->ip.hdr_checksum = rte_ipv4_cksum(&f->ip);
	f->udp.dgram_cksum = rte_ipv4_udptcp_cksum(&f->ip, &f->udp);
	return m;
}

/* The state of a question; NULL: it is none's. */
static struct {
	bool waits;
} states[UNDER_WAY];

static bool is_reply(const struct rte_mbuf *m)
{
	const struct frame *f = rte_pktmbuf_mtod(m, const struct frame *);
	unsigned i = rte_be_to_cpu_16(f->udp.dst_port) - 1024U;

	return m->data_len == sizeof(*f) && f->ip.version_ihl == RTE_IPV4_VHL_DEF &&
		f->ip.src_addr == RTE_BE32(RTE_IPV4(10, 0, 0, 9)) && i < UNDER_WAY &&
		states[i].waits && rte_raw_cksum(&f->ip, sizeof(f->ip)) == 0xffff &&
		rte_ipv4_udptcp_cksum(&f->ip, &f->udp) == 0xffff; /* over the checksum, too */
}

static uint64_t bare_run(uint64_t n)
{
	struct haul_queue q = haul_port_queue(perf_bed()->port, 0);
	struct rte_mbuf *in[BURST], *out[2 * BURST];
	uint64_t start = perf_now(), begun = 0, done = 0;

	while (done < n) {
		uint16_t got = rte_eth_rx_burst(q.port_id, q.queue_id, in, BURST), nb = 0, sent;

		for (uint16_t i = 0; i < got; i++) {
			struct frame *f = rte_pktmbuf_mtod(in[i], struct frame *);

			if (is_question(f)) {
				turn(f);
				out[nb++] = in[i];
			} else if (is_reply(in[i])) {
				states[rte_be_to_cpu_16(f->udp.dst_port) - 1024U].waits = false;
				rte_pktmbuf_free(in[i]);
				done++;
			} else {
				rte_pktmbuf_free(in[i]);
			}
		}
		for (unsigned i = 0; i < UNDER_WAY && begun < n && nb < BURST; i++) {
			if (states[i].waits)
				continue;
			states[i].waits = true;
			out[nb++] = build((uint16_t)(1024 + i));
			begun++;
		}
		sent = nb ? rte_eth_tx_burst(q.port_id, q.queue_id, out, nb) : 0;
		if (sent < nb)
			perf_must(-ENOBUFS, "rte_eth_tx_burst");
	}
	return perf_now() - start;
}

static const struct perf_case cases[] = {
	{
		.name = "requests/flow",
		.question = "a question and its reply; each",
		.sides = {{"haul flow", haul_setup, flow_run, haul_teardown}},
	},
	{
		.name = "requests/request",
		.question = "a question from a port of its own, and its reply; each",
		.sides = {{"haul_request", haul_setup, request_run, haul_teardown}},
	},
	{
		.name = "requests/bare",
		.question = "a question and its reply; each",
		.sides = {{"bare loop", bare_setup, bare_run, perf_bed_release}},
	},
	{
		.name = "echoes/burst",
		.question = "a datagram echoed, and turned by the other end; each",
		.sides = {{"listening flow", listen_setup, echo_run, haul_teardown},
			{"opened flow", haul_setup, open_run, haul_teardown}},
	},
	{
		.name = "echoes/coroutine",
		.question = "the same with coroutines as handlers; each",
		.param = PACKETS,
		.sides = {{"listening flow", listen_setup, echo_run, haul_teardown},
			{"opened flow", haul_setup, open_run, haul_teardown},
			{"handler", handler_setup, echo_run, haul_teardown}},
	},
	{0},
};

int main(int argc, char **argv)
{
	return perf_main(argc, argv, cases);
}
