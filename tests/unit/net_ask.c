/* SPDX-License-Identifier: BSD-3-Clause */
/* lib/net: questions and announcements of ARP and neighbour discovery, as Linux has them. */
#include <errno.h>
#include <string.h>

#include <haul/build.h>

#include "net_samples.h"
#include "support/suite.h"

static const struct haul_head peer = {
	.src_mac = {2, 0, 0, 0, 0, 1},
	.src = {4, {10, 0, 0, 1}},
	.dst = {4, {10, 0, 0, 2}},
};
static const struct haul_head peer6 = {
	.src_mac = {2, 0, 0, 0, 0, 1},
	.src = {6, {0xfd, [15] = 1}},
	.dst = {6, {0xfd, [15] = 2}},
};
static const uint8_t its_mac[6] = {2, 0, 0, 0, 0, 2};

typedef int message_fn(struct haul_pkt *, struct rte_mbuf *, const struct haul_head *);

static struct net_bytes message(message_fn *fn, const struct haul_head *head, struct haul_pkt *pkt)
{
	struct rte_mbuf *m = net_segment(NULL, 0, 58, 32);

	ck_assert_int_eq(fn(pkt, m, head), 0);

	struct net_bytes p = net_mbuf_bytes(m);

	struct haul_pkt parsed;

	ck_assert_int_eq(haul_net_parse(&parsed, m), HAUL_NET_OK);
	ck_assert_int_eq(parsed.proto, pkt->proto);
	ck_assert_ptr_eq(parsed.eth, pkt->eth);
	ck_assert_ptr_eq(parsed.l3, pkt->l3);
	ck_assert_ptr_eq(parsed.l4, pkt->l4);
	ck_assert_ptr_eq(parsed.payload, pkt->payload);
	ck_assert_uint_eq(parsed.payload_len, pkt->payload_len);
	ck_assert_uint_eq(m->ol_flags & RTE_MBUF_F_TX_OFFLOAD_MASK, 0);
	net_mbuf_free(m);
	return p;
}

static void assert_bytes(const struct net_bytes *got, const struct net_bytes *want)
{
	ck_assert_uint_eq(got->len, want->len);
	for (uint32_t i = 0; i < want->len; i++)
		ck_assert_msg(got->b[i] == want->b[i], "byte %u is %02x, wanted %02x", i, got->b[i],
			want->b[i]);
}

/* As Linux asks. */
START_TEST(questions)
{
	struct haul_pkt pkt;
	struct net_bytes want = net_request("arp"), got = message(haul_arp_request, &peer, &pkt);

	assert_bytes(&got, &want);
	want = net_request("nd");
	got = message(haul_nd_solicit, &peer6, &pkt);
	assert_bytes(&got, &want);
}
END_TEST

/* With probes, tags and single neighbours: the one who is asked answers. */
START_TEST(questions_are_answered)
{
	for (unsigned i = 0; i < 16; i++) {
		bool v4 = i & 1, probe = i & 2, single = i & 4;
		struct haul_head head = v4 ? peer : peer6;
		struct haul_pkt pkt;

		if (probe)
			memset(head.src.bytes, 0, 16);
		if (single)
			memcpy(head.dst_mac, its_mac, 6);
		head.vlan = i & 8 ? 0x6123 : 0;

		struct net_bytes asked = message(
					 v4 ? haul_arp_request : haul_nd_solicit, &head, &pkt),
				 reply;

		ck_assert_int_eq(pkt.proto, v4 ? HAUL_PROTO_ARP : HAUL_PROTO_ND);
		ck_assert_int_eq(memcmp(asked.b, its_mac, 6) == 0, single);

		uint32_t ip = i & 8 ? 18 : 14;

		/* A probe goes to the group, whatever MAC address it has. */
		if (!v4)
			ck_assert_int_eq(asked.b[ip + 24] == 0xff, probe || !single);

		struct rte_mbuf *m = net_mbuf(&asked, 0, 8);

		ck_assert_int_eq(haul_net_parse(&pkt, m), HAUL_NET_OK);
		ck_assert_int_eq(haul_net_answer(&net_me, &pkt), HAUL_NET_OK);
		reply = net_mbuf_bytes(m);
		ck_assert_mem_eq(reply.b + 6, its_mac, 6);
		net_mbuf_free(m);
	}
}
END_TEST

START_TEST(announcements)
{
	struct haul_pkt pkt;
	struct haul_head head = peer;
	struct net_bytes want = net_request("arp"), got;

	memset(head.dst_mac, 7, 6);
	head.dst.version = 0;
	want.b[41] = 1; /* the target is the sender */
	got = message(haul_arp_announce, &head, &pkt);
	assert_bytes(&got, &want);

	/* The answer of Linux to a probe, and of ours. */
	want = net_reply("nd_probe");
	head = peer6;
	head.src.bytes[15] = 2;
	memcpy(head.src_mac, its_mac, 6);
	memset(head.dst_mac, 7, 6);
	head.dst.version = 0;
	got = message(haul_nd_announce, &head, &pkt);
	assert_bytes(&got, &want);
	ck_assert_int_eq(pkt.proto, HAUL_PROTO_ICMP6);
}
END_TEST

static void assert_no_message(
	message_fn *fn, const struct haul_head *head, struct rte_mbuf *m, int want)
{
	struct rte_mbuf before = *m;
	struct haul_pkt pkt;

	ck_assert_int_eq(fn(&pkt, m, head), want);
	ck_assert_mem_eq(m, &before, sizeof(before));
}

START_TEST(no_messages)
{
	static message_fn *const fns[] = {
		haul_arp_request, haul_arp_announce, haul_nd_solicit, haul_nd_announce};
	static const struct haul_addr bad[2][3] = {
		{{4, {0}}, {4, {224, 0, 0, 1}}, {4, {255, 255, 255, 255}}},
		{{6, {0}}, {6, {0xff, 2, [15] = 1}}, {6, {[15] = 1}}},
	};

	for (unsigned i = 0; i < 4; i++) {
		struct haul_head head = i < 2 ? peer : peer6;
		struct haul_addr src = head.src;
		struct rte_mbuf *m = net_segment(NULL, 0, 128, 32);

		for (unsigned j = 0; j < 3; j++) {
			/* A question from no address is a probe. */
			head.src = bad[i / 2][j];
			if (i % 2 || j)
				assert_no_message(fns[i], &head, m, -EINVAL);
			head.src = src;
			head.dst = bad[i / 2][j];
			if (i % 2 == 0)
				assert_no_message(fns[i], &head, m, -EINVAL);
		}
		head = i < 2 ? peer6 : peer;
		assert_no_message(fns[i], &head, m, -EINVAL);
		net_mbuf_free(m);
		head = i < 2 ? peer : peer6;
		m = net_segment((const uint8_t *)"x", 1, 128, 32);
		assert_no_message(fns[i], &head, m, -EINVAL);
		net_mbuf_free(m);
		m = net_segment(NULL, 0, i < 2 ? 13 : 53, 32);
		assert_no_message(fns[i], &head, m, -ENOBUFS);
		net_mbuf_free(m);
		m = net_segment(NULL, 0, 128, i < 2 ? 27 : 31);
		assert_no_message(fns[i], &head, m, -ENOBUFS);
		net_mbuf_free(m);
		m = net_segment(NULL, 0, 128, 32);
		m->next = net_segment(NULL, 0, 0, 0);
		m->nb_segs = 2;
		assert_no_message(fns[i], &head, m, -EINVAL);
		net_mbuf_free(m);
	}
}
END_TEST

SUITE_MAIN("net_ask", {questions}, {questions_are_answered}, {announcements}, {no_messages})
