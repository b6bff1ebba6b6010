/* SPDX-License-Identifier: BSD-3-Clause */
/* A host on ports of a test takes fragments for its addresses, and answers in fragments. */
#include "host_bed.h"

#include "support/suite.h"

#define LEN 4000u

/* Feeds an echo request of LEN bytes in fragments, the last of them first. Returns their number. */
static int feed_large(const char *from, const char *to, unsigned port)
{
	struct haul_head head = {.src = addr(from), .dst = addr(to), .may_fragment = true};
	struct rte_mbuf *frags[HAUL_FRAGMENTS_MAX], *m = rte_pktmbuf_alloc(haul_test_pool(bed));
	struct haul_pkt pkt;
	int n;

	own_mac(port, head.dst_mac);
	memcpy(head.src_mac, peer_mac, 6);
	for (unsigned i = 0; i < LEN / 1000; i++) {
		struct rte_mbuf *part = rte_pktmbuf_alloc(haul_test_pool(bed));

		memset(rte_pktmbuf_append(part, 1000), 'a' + (int)i, 1000);
		rte_pktmbuf_chain(m, part);
	}
	if (haul_build_echo(&pkt, m, &head, HAUL_ECHO_REQUEST, 7, 1, 0))
		return -1;
	n = haul_fragment(&pkt, 1500, haul_test_pool(bed), frags);
	for (int i = n - 1; i >= 0; i--)
		if (haul_test_feed_pkt(bed, port, i % 2 ? 1 : 0, frags[i]))
			return -1;
	return n;
}

/* The fragments of the reply become whole again. */
static bool is_answered(unsigned port, int n)
{
	struct haul_reassembly *table;
	struct haul_test_frame frame;
	struct haul_pkt pkt;
	bool right = haul_reassembly_create(&table, NULL) == 0;

	for (int i = 0; right && i < n; i++) {
		right = haul_test_take(bed, port, &frame, haul_in(HAUL_MS)) == 0 &&
			rte_pktmbuf_pkt_len(frame.pkt) <= 1514 &&
			haul_reassemble(table, NULL, 0, &frame.pkt) == HAUL_NET_OK &&
			(frame.pkt != NULL) == (i == n - 1);
	}
	if (right) {
		right = haul_net_parse(&pkt, frame.pkt) == HAUL_NET_OK && pkt.payload_len == LEN &&
			pkt.payload[0] == 'a';
		rte_pktmbuf_free(frame.pkt);
	}
	haul_reassembly_destroy(table);
	return right;
}

static void large_pings(void *arg)
{
	struct haul_reassembly_stats st;
	int n;

	(void)arg;
	FAIL_UNLESS(begin());
	n = feed_large("10.0.0.7", "10.0.0.1", 0);
	FAIL_UNLESS(n == 3 && is_answered(0, n));
	n = feed_large("fd00::7", "fd00::1", 0);
	FAIL_UNLESS(n == 3 && is_answered(0, n));
	n = feed_large("10.1.0.7", "10.1.0.1", 1);
	FAIL_UNLESS(n == 3 && is_answered(1, n));
	haul_reassembly_get_stats(bed_fragments, &st);
	FAIL_UNLESS(st.whole == 3 && st.fragments == 9 && st.fragments_held == 0);
	/* An address of the other port, and nobody's: the handler's, one by one. */
	FAIL_UNLESS(feed_large("10.0.0.7", "10.1.0.1", 0) == 3);
	FAIL_UNLESS(feed_large("10.0.0.7", "10.0.0.99", 0) == 3);
	FAIL_UNLESS(pass(HAUL_MS));
	haul_reassembly_get_stats(bed_fragments, &st);
	FAIL_UNLESS(st.fragments == 9);
	/* Without its host, too. */
	haul_host_stop(bed_host);
	FAIL_UNLESS(feed_large("10.0.0.7", "10.0.0.1", 0) == 3);
	FAIL_UNLESS(pass(HAUL_MS));
	haul_reassembly_get_stats(bed_fragments, &st);
	FAIL_UNLESS(st.fragments == 9);
}

START_TEST(fragments)
{
	ck_assert_int_eq(haul_reassembly_create(&bed_fragments, NULL), 0);
	start(NULL, _i);
	run(large_pings, NULL);
	haul_reassembly_destroy(bed_fragments);
	bed_fragments = NULL;
}
END_TEST

SUITE_MAIN("fragments for a host", {fragments, 2})
