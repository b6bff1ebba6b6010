/* SPDX-License-Identifier: BSD-3-Clause */
/* Odd packets and addresses of flows, on ports of a test, in virtual time. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_ip.h>

#include "flow_bed.h"
#include "io/state.h"

#define PORT 7
#define LEN 6u

static unsigned received, segments;
static bool is_good;

static void check(struct haul_flow *flow, void *arg)
{
	struct rte_mbuf *m;

	(void)arg;
	while (haul_flow_recv(flow, &m, HAUL_FOREVER) == 0) {
		char copy[LEN];
		const char *at = rte_pktmbuf_read(m, 0, LEN, copy);

		is_good = rte_pktmbuf_pkt_len(m) == LEN && at && !memcmp(at, "abcdef", LEN);
		segments = m->nb_segs;
		received++;
		rte_pktmbuf_free(m);
	}
	haul_flow_close(flow);
}

static struct rte_mbuf *segment(const char *data, uint16_t len)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(haul_test_pool(flow_test));

	if (m)
		memcpy(rte_pktmbuf_append(m, len), data, len);
	return m;
}

/* A datagram whose segments are these, with junk behind it: the IP header says that it belongs to
 * the packet, the UDP header does not. */
static bool feed(
	const char *from, const char *to, const uint16_t lens[], unsigned nb, unsigned nb_junk)
{
	const struct rte_ether_addr mac = haul_port_mac(haul_test_io(flow_test)->ports[0]);
	struct haul_head head = {
		.src_mac = {2, 0, 0, 0, 0, 9}, .src = flow_addr(from), .dst = flow_addr(to)};
	struct rte_mbuf *m = NULL, *more;
	const char *data = "abcdef";
	struct haul_pkt pkt;
	uint16_t len;

	for (unsigned i = 0; i < nb; data += lens[i++]) {
		more = segment(data, lens[i]);
		if (!more || (m && rte_pktmbuf_chain(m, more)))
			return false;
		m = m ? m : more;
	}
	memcpy(head.dst_mac, &mac, 6);
	if (haul_build_udp(&pkt, m, &head, 2000, PORT, 0))
		return false;
	for (unsigned i = 0; i < nb_junk; i++) {
		more = segment("0123456789", 10);
		if (!more || rte_pktmbuf_chain(m, more))
			return false;
	}
	len = (uint16_t)(rte_pktmbuf_pkt_len(m) - ((uint8_t *)pkt.l3 - (uint8_t *)pkt.eth));
	if (pkt.ip_version == 4) {
		pkt.ip4->total_length = rte_cpu_to_be_16(len);
		pkt.ip4->hdr_checksum = 0;
		pkt.ip4->hdr_checksum = rte_ipv4_cksum(pkt.ip4);
	} else {
		pkt.ip6->payload_len = rte_cpu_to_be_16((uint16_t)(len - sizeof(*pkt.ip6)));
	}
	return haul_test_feed_pkt(flow_test, 0, HAUL_ANY, m) == 0;
}

static void junk(void)
{
	static const char *const ends[2][2] = {{"10.0.0.7", "10.0.0.1"}, {"fd00::7", "fd00::1"}};
	static const struct {
		uint16_t lens[3];
		unsigned nb;
	} cases[] = {{{6}, 1}, {{2, 4}, 2}, {{0, 1, 5}, 3}};

	received = 0;
	FAIL_UNLESS(haul_flow_listen(flow_host, PORT, check, NULL, NULL) == 0);
	for (unsigned i = 0; i < 2 * 3 * 4; i++) {
		const uint16_t *lens = cases[i / 2 % 3].lens;
		unsigned nb = cases[i / 2 % 3].nb;

		is_good = false;
		FAIL_UNLESS(feed(ends[i % 2][0], ends[i % 2][1], lens, nb, i / 6));
		FAIL_UNLESS(haul_sleep(HAUL_MS) == 0); /* virtual time */
		FAIL_UNLESS(received == i + 1 && is_good && segments == nb);
	}
}

START_TEST(what_is_behind_a_datagram_is_cut)
{
	flow_run(junk, _i);
}
END_TEST

/* In IPv6 packets, an IPv4-mapped address is nobody's. */
static void mapped(void)
{
	static const uint16_t len = LEN;
	struct haul_addr to = flow_addr("::ffff:10.0.0.7");
	struct haul_flow *flow;
	char reply[8];
	uint64_t ns;

	flow_left = received = 0;
	FAIL_UNLESS(haul_flow_listen(flow_host, PORT, check, NULL, NULL) == 0);
	FAIL_UNLESS(feed("fd00::7", "::ffff:10.0.0.1", &len, 1, 0));
	FAIL_UNLESS(haul_sleep(HAUL_MS) == 0); /* virtual time */
	FAIL_UNLESS(received == 0 && flow_left == 1);
	FAIL_UNLESS(feed("::ffff:10.0.0.7", "fd00::1", &len, 1, 0));
	FAIL_UNLESS(haul_sleep(HAUL_MS) == 0); /* virtual time */
	FAIL_UNLESS(received == 0 && flow_stats().accepted == 0);
	FAIL_UNLESS(haul_flow_open(&flow, flow_host, &to, SERVER, NULL) == -EINVAL);
	FAIL_UNLESS(haul_request(flow_host, &to, SERVER, "x", 1, reply, sizeof(reply), NULL,
			    HAUL_FOREVER) == -EINVAL);
	FAIL_UNLESS(haul_ping(flow_host, &to, &ns, HAUL_FOREVER) == -EINVAL);
	FAIL_UNLESS(flow_stats().opened == 0);
}

START_TEST(mapped_addresses_are_refused)
{
	flow_run(mapped, _i);
}
END_TEST

/* A client that cannot be answered begins no flow. */
static void nowhere(void)
{
	static const uint16_t len = LEN;
	static const char *const from[] = {"10.0.0.255", "255.255.255.255", "0.0.0.0", "127.0.0.1",
		"224.0.0.1", "10.0.0.1", "::", "::1", "fd00::1"};
	unsigned n = sizeof(from) / sizeof(from[0]);

	received = 0;
	FAIL_UNLESS(haul_flow_listen(flow_host, PORT, check, NULL, NULL) == 0);
	for (unsigned i = 0; i < n; i++)
		FAIL_UNLESS(
			feed(from[i], strchr(from[i], ':') ? "fd00::1" : "10.0.0.1", &len, 1, 0));
	FAIL_UNLESS(haul_sleep(HAUL_MS) == 0); /* virtual time */
	FAIL_UNLESS(received == 0 && flow_stats().accepted == 0);
	FAIL_UNLESS(feed("192.0.2.1", "10.0.0.1", &len, 1, 0)); /* without a route: one may come */
	FAIL_UNLESS(haul_sleep(HAUL_MS) == 0); /* virtual time */
	FAIL_UNLESS(received == 1 && flow_stats().accepted == 1);
}

START_TEST(sources_that_no_other_host_has_begin_no_flow)
{
	flow_run(nowhere, _i);
}
END_TEST

SUITE_MAIN("odd packets of flows", {what_is_behind_a_datagram_is_cut, 2},
	{mapped_addresses_are_refused, 2}, {sources_that_no_other_host_has_begin_no_flow, 2})
