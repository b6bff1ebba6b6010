/* SPDX-License-Identifier: BSD-3-Clause */
/* Datagrams that are larger than the MTU, both ways, on ports of a test. */
#include "host_bed.h"

#include <haul-dpdk/flow.h>
#include <rte_ip.h>
#include <rte_udp.h>

#include "base/random.h"
#include "support/suite.h"

#define MTU 1500u
#define LARGEST 65507u /* of IPv4 */

static struct haul_reassembly *table; /* of the network */

static uint8_t byte_at(size_t i, size_t len)
{
	return (uint8_t)(i * 7 + len + i / 251);
}

/* A payload in segments of up to `part` bytes, the first of which is empty for part < 100. */
static struct rte_mbuf *make(size_t len, size_t part)
{
	struct rte_mbuf *first = rte_pktmbuf_alloc(haul_test_pool(bed)), *m = first;

	for (size_t i = 0; i < len;) {
		size_t n = len - i < part ? len - i : part;
		char *at;

		if (m == first && part < 100)
			n = 0;
		at = rte_pktmbuf_append(m, (uint16_t)n);
		for (size_t k = 0; k < n; k++)
			at[k] = (char)byte_at(i + k, len);
		i += n;
		if (m != first)
			rte_pktmbuf_chain(first, m);
		m = rte_pktmbuf_alloc(haul_test_pool(bed));
	}
	if (m != first)
		rte_pktmbuf_free(m);
	return first;
}

/* True if m, from an offset on, is the payload of that length. */
static bool has(struct rte_mbuf *m, uint32_t at, size_t len)
{
	static uint8_t copy[LARGEST];

	if (rte_pktmbuf_pkt_len(m) < at + len)
		return false;
	for (size_t i = 0; i < len; i++) {
		const uint8_t *b = rte_pktmbuf_read(m, at + (uint32_t)i, 1, copy);

		if (*b != byte_at(i, len))
			return false;
	}
	return true;
}

static unsigned in_use(void)
{
	return rte_mempool_in_use_count(haul_test_pool(bed));
}

/* The next datagram on the wire, whole; NULL: there is none, or a fragment is wrong. */
static struct rte_mbuf *receive(unsigned *frames)
{
	struct haul_test_frame frame;

	for (*frames = 1; haul_test_take(bed, 0, &frame, haul_in(HAUL_MS)) == 0; ++*frames) {
		if (rte_pktmbuf_pkt_len(frame.pkt) > MTU + 14 ||
			haul_reassemble(table, NULL, 0, &frame.pkt) != HAUL_NET_OK) {
			rte_pktmbuf_free(frame.pkt);
			return NULL;
		}
		if (frame.pkt)
			return frame.pkt;
	}
	return NULL;
}

static bool knows(const char *peer, const char *own)
{
	struct haul_addr a = addr(peer);
	uint8_t mac[6];
	struct said s;

	return haul_host_neighbour(bed_host, 0, &a, mac, 0) == -EAGAIN &&
		next(0, &s, haul_in(HAUL_MS)) && feed_answer(0, peer, peer_mac, own) &&
		pass(HAUL_MS);
}

static int send_large(const char *peer, size_t len, size_t part, uint64_t deadline)
{
	struct haul_addr a = addr(peer);
	struct rte_mbuf *m = make(len, part);
	uint16_t nb_segs = m->nb_segs;
	int err = haul_host_send_udp(bed_host, m, &a, 1000, 2000, deadline);

	if (err &&
		(rte_pktmbuf_pkt_len(m) != len || m->nb_segs != nb_segs || !has(m, 0, len) ||
			rte_mbuf_refcnt_read(m) != 1))
		wrong = "an error has changed the payload";
	if (err)
		rte_pktmbuf_free(m);
	return err;
}

static bool arrives(size_t len, unsigned at_least)
{
	unsigned frames;
	struct rte_mbuf *m = receive(&frames);
	struct haul_pkt pkt;
	bool right = m && haul_net_parse(&pkt, m) == HAUL_NET_OK && pkt.proto == HAUL_PROTO_UDP &&
		pkt.payload_len == len && pkt.udp->dgram_cksum != 0 && frames >= at_least &&
		has(m, (uint32_t)(pkt.payload - rte_pktmbuf_mtod(m, uint8_t *)), len);

	rte_pktmbuf_free(m);
	return right;
}

static void sizes(const char *peer, unsigned headers)
{
	static const size_t parts[] = {2000, 1000, 99, 1};
	struct hauli_random random;
	unsigned before = in_use();

	hauli_random_init(&random, headers);
	for (unsigned i = 0; i < 200; i++) {
		/* Around multiples of what a fragment holds, and any. */
		size_t len = i % 2 ? 1 + hauli_random_below(&random, 20000)
				   : (size_t)(1 + i % 14) * (MTU - headers + 8) + i % 31;
		size_t part = len > 5000 ? 2000 : parts[i / 2 % 4];

		if (part == 1 && len > 3000)
			part = 50;
		FAIL_UNLESS(send_large(peer, len, part, i % 3 ? 0 : haul_in(HAUL_S)) == 0);
		FAIL_UNLESS(arrives(len, (unsigned)((len + MTU - 1) / MTU)));
	}
	FAIL_UNLESS(send_large(peer, LARGEST, 2000, haul_in(HAUL_S)) == 0);
	FAIL_UNLESS(arrives(LARGEST, 44));
	FAIL_UNLESS(in_use() == before);
	FAIL_UNLESS(send_large(peer, LARGEST + 30, 2000, haul_in(HAUL_S)) == -EMSGSIZE);
	/* The largest one that fits says "don't fragment", as before. */
	FAIL_UNLESS(send_large(peer, MTU - headers, 2000, 0) == 0);
	{
		struct haul_test_frame frame;

		FAIL_UNLESS(haul_test_take(bed, 0, &frame, haul_in(HAUL_MS)) == 0);
		FAIL_UNLESS(rte_pktmbuf_pkt_len(frame.pkt) == MTU + 14);
		FAIL_UNLESS(headers > 28 || rte_pktmbuf_mtod(frame.pkt, uint8_t *)[20] == 0x40);
		rte_pktmbuf_free(frame.pkt);
	}
}

/* No mbuf for the fragments, then for a part of them. */
static void empty_pool(const char *peer)
{
	static struct rte_mbuf *held[1 << 16];
	unsigned n = 0;
	struct rte_mbuf *m = make(4000, 2000);
	struct haul_addr a = addr(peer);

	while (n < 1 << 16 && (held[n] = rte_pktmbuf_alloc(haul_test_pool(bed))))
		n++;
	for (unsigned left = 0; left < 3; left++) {
		FAIL_UNLESS(haul_host_send_udp(bed_host, m, &a, 1, 2, 0) == -ENOBUFS);
		FAIL_UNLESS(rte_pktmbuf_pkt_len(m) == 4000 && has(m, 0, 4000));
		rte_pktmbuf_free(held[--n]);
	}
	FAIL_UNLESS(haul_host_send_udp(bed_host, m, &a, 1, 2, 0) == 0);
	while (n > 0)
		rte_pktmbuf_free(held[--n]);
	FAIL_UNLESS(arrives(4000, 3));
}

/* The queue has room for a part of the fragments. */
static void full_queue(const char *peer)
{
	struct haul_test_frame frame;
	unsigned before = in_use();
	int err = 0;

	for (unsigned i = 0; i < 1000 && !err; i++)
		err = send_large(peer, 20000, 2000, 0);
	FAIL_UNLESS(err == -EAGAIN);
	while (haul_test_take(bed, 0, &frame, haul_in(HAUL_MS)) == 0)
		rte_pktmbuf_free(frame.pkt);
	FAIL_UNLESS(in_use() == before);
}

static void large_datagrams(void *arg)
{
	(void)arg;
	FAIL_UNLESS(begin());
	FAIL_UNLESS(knows("10.0.0.7", "10.0.0.1") && knows("fd00::7", "fd00::1"));
	sizes("10.0.0.7", 28);
	sizes("fd00::7", 48);
	empty_pool("10.0.0.7");
	full_queue("fd00::7");
}

/* A question of a flow, which comes back in fragments, the last one first. */
static void echo(struct haul_flow *flow, size_t len)
{
	struct rte_mbuf *frags[HAUL_FRAGMENTS_MAX], *m = make(len, 2000);
	struct haul_net_if nif = {.mac = {2, 0, 0, 0, 0, 7}};
	struct haul_pkt pkt;
	unsigned frames;
	int n;

	FAIL_UNLESS(haul_flow_send(flow, m, haul_in(HAUL_S)) == 0);
	m = receive(&frames);
	FAIL_UNLESS(m && haul_net_parse(&pkt, m) == HAUL_NET_OK && pkt.payload_len == len);
	if (pkt.ip_version == 4)
		memcpy(nif.ip4, &pkt.ip4->dst_addr, 4);
	else
		memcpy(nif.ip6, addr("fd00::7").bytes, 16);
	haul_udp_reply(&nif, &pkt);
	n = haul_fragment(&pkt, MTU, haul_test_pool(bed), frags);
	FAIL_UNLESS(n > 0);
	for (int i = n - 1; i >= 0; i--)
		FAIL_UNLESS(haul_test_feed_pkt(bed, 0, (unsigned)i % CARRIERS, frags[i]) == 0);
	FAIL_UNLESS(haul_flow_recv(flow, &m, haul_in(HAUL_S)) == 0);
	FAIL_UNLESS(rte_pktmbuf_pkt_len(m) == len && has(m, 0, len));
	rte_pktmbuf_free(m);
}

static void large_flows(void *arg)
{
	static const char *const peers[] = {"10.0.0.7", "fd00::7"};
	struct rte_mbuf *m;
	struct haul_addr a;
	struct haul_flow *flow;

	(void)arg;
	FAIL_UNLESS(begin());
	FAIL_UNLESS(knows("10.0.0.7", "10.0.0.1") && knows("fd00::7", "fd00::1"));
	for (unsigned v = 0; v < 2; v++) {
		a = addr(peers[v]);
		FAIL_UNLESS(haul_flow_open(&flow, bed_host, &a, 7, NULL) == 0);
		for (size_t len = 10; len < 16000; len += 1451)
			echo(flow, len);
		haul_flow_close(flow);
		FAIL_UNLESS(haul_flow_open(&flow, bed_host, &a, 7,
				    &(struct haul_flow_opts){.no_fragments = true}) == 0);
		m = make(1500, 1500);
		FAIL_UNLESS(haul_flow_send(flow, m, haul_in(HAUL_S)) == -EMSGSIZE);
		FAIL_UNLESS(has(m, 0, 1500));
		rte_pktmbuf_free(m);
		haul_flow_close(flow);
	}
}

struct asked {
	char question[5000], reply[9000];
	int n;
	struct haul_coro *co;
};

static void *ask(void *arg)
{
	struct asked *q = arg;
	struct haul_addr a = addr("10.0.0.7");

	q->n = haul_request(bed_host, &a, 7, q->question, sizeof(q->question), q->reply,
		sizeof(q->reply), NULL, haul_in(HAUL_S));
	return NULL;
}

/* The reply to a large question is cut to the room that the caller has. */
static void large_requests(void *arg)
{
	static struct asked q;
	struct haul_net_if nif = {.mac = {2, 0, 0, 0, 0, 7}};
	struct rte_mbuf *m;
	struct haul_pkt pkt;
	unsigned frames;

	(void)arg;
	FAIL_UNLESS(begin());
	FAIL_UNLESS(knows("10.0.0.7", "10.0.0.1"));
	memset(q.question, 'q', sizeof(q.question));
	memset(q.reply, 0, sizeof(q.reply));
	FAIL_UNLESS(haul_spawn(&q.co, ask, &q, NULL) == 0);
	m = receive(&frames);
	FAIL_UNLESS(m && frames == 4 && haul_net_parse(&pkt, m) == HAUL_NET_OK);
	memcpy(nif.ip4, &pkt.ip4->dst_addr, 4);
	haul_udp_reply(&nif, &pkt);
	FAIL_UNLESS(haul_test_feed_pkt(bed, 0, HAUL_ANY, m) == 0); /* without fragments */
	FAIL_UNLESS(haul_join(q.co, NULL, HAUL_FOREVER) == 0);
	FAIL_UNLESS(q.n == sizeof(q.question) && !memcmp(q.question, q.reply, sizeof(q.question)));
}

static void refused(void *arg)
{
	(void)arg;
	FAIL_UNLESS(begin());
	FAIL_UNLESS(knows("10.0.0.7", "10.0.0.1"));
	FAIL_UNLESS(send_large("10.0.0.7", MTU - 28, 2000, 0) == 0);
	FAIL_UNLESS(arrives(MTU - 28, 1));
	FAIL_UNLESS(send_large("10.0.0.7", MTU - 27, 2000, 0) == -EMSGSIZE);
}

static void try_out(const struct haul_host_opts *opts, int number, void (*body)(void *))
{
	ck_assert_int_eq(haul_reassembly_create(&table, NULL), 0);
	ck_assert_int_eq(haul_reassembly_create(&bed_fragments, NULL), 0);
	start(opts, number);
	run(body, NULL);
	haul_reassembly_destroy(bed_fragments);
	haul_reassembly_destroy(table);
	bed_fragments = NULL;
}

START_TEST(datagrams_leave_in_fragments)
{
	try_out(NULL, _i, large_datagrams);
}
END_TEST

START_TEST(flows_have_large_packets_both_ways)
{
	try_out(NULL, _i, large_flows);
}
END_TEST

START_TEST(a_request_may_be_large)
{
	try_out(NULL, _i, large_requests);
}
END_TEST

START_TEST(fragments_may_be_refused)
{
	try_out(&(struct haul_host_opts){.no_fragments = true}, _i, refused);
}
END_TEST

SUITE_MAIN("large datagrams", {datagrams_leave_in_fragments, 2},
	{flows_have_large_packets_both_ways, 2}, {a_request_may_be_large, 2},
	{fragments_may_be_refused, 2})
