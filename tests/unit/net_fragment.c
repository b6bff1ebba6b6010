/* SPDX-License-Identifier: BSD-3-Clause */
/* lib/net: the fragments of a packet, and what a received fragment says. */
#include <errno.h>
#include <string.h>

#include <rte_ip.h>

#include "net_frags.h"
#include "net_samples.h"
#include "support/suite.h"

static struct hauli_random rnd;

static uint32_t get16(const uint8_t *b)
{
	return (uint32_t)b[0] << 8 | b[1];
}

/* Each fragment by its bytes; together they are the datagram. */
START_TEST(fragments_of_datagrams)
{
	static struct frags_bytes whole, part, again;

	hauli_random_init(&rnd, 1);
	for (unsigned round = 0; round < 1000; round++) {
		bool v4 = hauli_random_below(&rnd, 2);
		uint16_t vlan = hauli_random_below(&rnd, 2) ? 0x6123 : 0;
		uint32_t longest = hauli_random_below(&rnd, 10) ? 9000 : FRAGS_LONGEST - 28;
		uint32_t len = hauli_random_below(&rnd, longest + 1);
		uint16_t mtu = (uint16_t)(68 + hauli_random_below(&rnd, 1500));
		struct haul_pkt pkt;
		struct rte_mbuf *m = frags_datagram(&rnd, &pkt, v4 ? 4 : 6, 1, vlan, len);
		uint32_t l3 = vlan ? 18 : 14, headers = l3 + (v4 ? 20 : 48), at = 0;
		uint32_t id = hauli_fragments_id(&pkt);
		int n = hauli_fragments(&pkt, mtu);

		frags_flatten(&whole, m);
		if (whole.len - l3 <= mtu) {
			ck_assert_int_eq(n, 1);
			net_mbuf_free(m);
			continue;
		}
		ck_assert_int_ge(n, 2);
		memcpy(again.b, whole.b, l3 + (v4 ? 20 : 40));
		for (int i = 0; i < n; i++) {
			struct rte_mbuf *f = frags_write(&pkt, mtu, (unsigned)i, id);
			const uint8_t *ip = part.b + l3;
			bool more = i < n - 1;

			frags_flatten(&part, f);
			ck_assert_uint_le(part.len - l3, mtu);
			/* No smaller than it must be. */
			ck_assert(!more || part.len - l3 + 8 > mtu);
			ck_assert_mem_eq(part.b, whole.b, l3);

			uint32_t data = part.len - headers;

			if (v4) {
				ck_assert_mem_eq(ip, whole.b + l3, 2);
				ck_assert_uint_eq(get16(ip + 2), 20 + data);
				ck_assert_mem_eq(ip + 4, whole.b + l3 + 4, 2);
				ck_assert_uint_eq(get16(ip + 6), (more ? 0x2000 : 0) | at / 8);
				ck_assert_mem_eq(ip + 8, whole.b + l3 + 8, 2);
				ck_assert_mem_eq(ip + 12, whole.b + l3 + 12, 8);
				ck_assert_uint_eq(rte_raw_cksum(ip, 20), 0xffff);
			} else {
				ck_assert_mem_eq(ip, whole.b + l3, 4);
				ck_assert_uint_eq(get16(ip + 4), 8 + data);
				ck_assert_uint_eq(ip[6], 44);
				ck_assert_mem_eq(ip + 7, whole.b + l3 + 7, 33);
				ck_assert_uint_eq(ip[40], 17);
				ck_assert_uint_eq(ip[41], 0);
				ck_assert_uint_eq(get16(ip + 42), at | more);
				ck_assert_uint_eq(get16(ip + 44) << 16 | get16(ip + 46), id);
			}
			memcpy(again.b + l3 + (v4 ? 20 : 40) + at, part.b + headers, data);

			struct hauli_fragment found;
			bool is_fragment;

			ck_assert_int_eq(hauli_fragment_find(&found, f, &is_fragment), HAUL_NET_OK);
			ck_assert(is_fragment);
			ck_assert_uint_eq(found.at, at);
			ck_assert_uint_eq(found.len, data);
			ck_assert(found.more == more);
			ck_assert_uint_eq(found.id, id);
			ck_assert_uint_eq(found.vlan, vlan & 0xfff);
			ck_assert_uint_eq(found.data, headers);
			at += data;
			net_mbuf_free(f);
		}
		again.len = l3 + (v4 ? 20 : 40) + at;
		ck_assert_uint_eq(again.len, whole.len);
		ck_assert_mem_eq(again.b, whole.b, whole.len);
		net_mbuf_free(m);
	}
}
END_TEST

START_TEST(what_is_not_fragmented)
{
	struct haul_pkt pkt;
	struct rte_mbuf *m, *small;

	hauli_random_init(&rnd, 2);
	m = frags_datagram(&rnd, &pkt, 4, 1, 0, 2000);
	ck_assert_int_eq(hauli_fragments(&pkt, 2028), 1);
	ck_assert_int_eq(hauli_fragments(&pkt, 2027), 2);
	ck_assert_int_eq(hauli_fragments(&pkt, 28), 251);
	ck_assert_int_eq(hauli_fragments(&pkt, 27), -EMSGSIZE);
	ck_assert_int_eq(hauli_fragments(&pkt, 0), -EMSGSIZE);
	small = net_segment(NULL, 0, 0, 1513);
	ck_assert_int_eq(hauli_fragment_write(&pkt, 1500, 0, 1, small), -ENOBUFS);
	ck_assert_uint_eq(small->pkt_len, 0);
	net_mbuf_free(small);
	m->ol_flags |= RTE_MBUF_F_TX_UDP_CKSUM;
	ck_assert_int_eq(hauli_fragments(&pkt, 1500), -EINVAL);
	m->ol_flags &= ~RTE_MBUF_F_TX_UDP_CKSUM;
	pkt.ip4->fragment_offset = rte_cpu_to_be_16(RTE_IPV4_HDR_DF_FLAG);
	ck_assert_int_eq(hauli_fragments(&pkt, 1500), -EMSGSIZE);
	ck_assert_int_eq(hauli_fragments(&pkt, 2028), 1);
	pkt.ip4->fragment_offset = 0;
	/* Options. */
	pkt.l4 = (uint8_t *)pkt.l4 + 4;
	ck_assert_int_eq(hauli_fragments(&pkt, 1500), -EINVAL);
	pkt.ip_version = 0;
	ck_assert_int_eq(hauli_fragments(&pkt, 1500), -EINVAL);
	net_mbuf_free(m);

	m = frags_datagram(&rnd, &pkt, 6, 1, 0, 2000);
	ck_assert_int_eq(hauli_fragments(&pkt, 2048), 1);
	ck_assert_int_eq(hauli_fragments(&pkt, 2047), 2);
	ck_assert_int_eq(hauli_fragments(&pkt, 56), 251);
	ck_assert_int_eq(hauli_fragments(&pkt, 55), -EMSGSIZE);
	net_mbuf_free(m);
}
END_TEST

/* A fragment, or none, with changed bytes. */
struct change {
	const char *what;
	uint8_t version;
	uint32_t at;
	const char *hex;
	enum haul_verdict verdict;
	bool is_fragment;
};

static const struct change changes[] = {
	{"the second of several", 4, 20, "2010", HAUL_NET_OK, true},
	{"the last", 4, 20, "0010", HAUL_NET_OK, true},
	{"no fragment", 4, 20, "4000", HAUL_NET_OK, false},
	{"ARP", 4, 12, "0806", HAUL_NET_OK, false},
	{"more, with data that are no multiple of 8", 4, 16, "001f2000", HAUL_NET_MALFORMED, false},
	{"no data", 4, 16, "00140000", HAUL_NET_MALFORMED, false},
	{"more than a packet has", 4, 20, "1ffb", HAUL_NET_MALFORMED, true},
	{"all that a packet has", 4, 20, "1ffa", HAUL_NET_OK, true},
	{"a wrong checksum", 4, 24, "0000", HAUL_NET_MALFORMED, true},
	{"a header of 16 bytes", 4, 14, "44", HAUL_NET_MALFORMED, true},
	{"longer than its frame", 4, 16, "002d", HAUL_NET_MALFORMED, true},
	{"the second of several", 6, 56, "0011", HAUL_NET_OK, true},
	{"the last", 6, 56, "0010", HAUL_NET_OK, true},
	{"a whole packet", 6, 56, "0000", HAUL_NET_OK, true},
	{"no fragment", 6, 20, "11", HAUL_NET_OK, false},
	{"more, with data that are no multiple of 8", 6, 18, "001f", HAUL_NET_MALFORMED, true},
	{"no data", 6, 18, "0008", HAUL_NET_MALFORMED, true},
	{"not even the fragment header", 6, 18, "0007", HAUL_NET_MALFORMED, true},
	{"more than a packet has", 6, 56, "ffe8", HAUL_NET_MALFORMED, true},
	{"all that a packet has", 6, 56, "ffe0", HAUL_NET_OK, true},
	{"whole, but not even the fragment header", 6, 18,
		"00072c40fd000000000000000000000000000001fd0000000000000000000000000000021100"
		"0000",
		HAUL_NET_MALFORMED, true},
	{"longer than its frame", 6, 18, "0021", HAUL_NET_MALFORMED, true},
};

START_TEST(what_a_fragment_says)
{
	const struct change *c = &changes[_i];
	struct haul_pkt pkt;
	struct hauli_fragment found;
	bool is_fragment, v4 = c->version == 4;

	hauli_random_init(&rnd, 3);

	struct rte_mbuf *m = frags_datagram(&rnd, &pkt, c->version, 1, 0, 100);
	struct rte_mbuf *f = frags_write(&pkt, v4 ? 44 : 72, 0, 7);
	uint8_t *b = rte_pktmbuf_mtod(f, uint8_t *);
	struct rte_ipv4_hdr *ip = (void *)(b + 14);

	for (uint32_t i = 0; c->hex[2 * i]; i++)
		sscanf(c->hex + 2 * i, "%2hhx", &b[c->at + i]);
	if (v4 && c->at != 24 && b[14] == 0x45) {
		ip->hdr_checksum = 0;
		ip->hdr_checksum = (uint16_t)~rte_raw_cksum(ip, 20);
	}

	enum haul_verdict v = hauli_fragment_find(&found, f, &is_fragment);

	ck_assert_msg(v == c->verdict, "%s: verdict %d", c->what, v);
	if (v == HAUL_NET_OK)
		ck_assert(is_fragment == c->is_fragment);
	net_mbuf_free(f);
	net_mbuf_free(m);
}
END_TEST

/* Cut off anywhere, or split into segments anywhere. */
START_TEST(cut_and_split)
{
	for (unsigned i = 0; i < 4; i++) {
		struct haul_pkt pkt;
		bool v4 = i & 1, is_fragment;
		struct hauli_fragment found;

		hauli_random_init(&rnd, 4);

		struct rte_mbuf *m = frags_datagram(&rnd, &pkt, v4 ? 4 : 6, 1, i & 2 ? 1 : 0, 100);
		struct rte_mbuf *f = frags_write(&pkt, v4 ? 44 : 72, 0, 7);
		struct net_bytes all = net_mbuf_bytes(f), some;
		uint32_t headers = (i & 2 ? 18 : 14) + (v4 ? 20 : 48);

		net_mbuf_free(f);
		net_mbuf_free(m);
		for (uint32_t len = 0; len < all.len; len++) {
			some = all;
			some.len = len;
			f = net_mbuf(&some, 0, 0);
			ck_assert_int_eq(
				hauli_fragment_find(&found, f, &is_fragment), HAUL_NET_MALFORMED);
			net_mbuf_free(f);
			if (len == 0)
				continue;
			f = net_mbuf(&all, len, 0);
			ck_assert_int_eq(hauli_fragment_find(&found, f, &is_fragment),
				len < headers ? HAUL_NET_UNSUPPORTED : HAUL_NET_OK);
			net_mbuf_free(f);
		}
		/* Padding. */
		some = all;
		memset(some.b + some.len, 0, 20);
		some.len += 20;
		f = net_mbuf(&some, 0, 0);
		ck_assert_int_eq(hauli_fragment_find(&found, f, &is_fragment), HAUL_NET_OK);
		ck_assert_uint_eq(f->pkt_len, all.len);
		net_mbuf_free(f);
	}
}
END_TEST

SUITE_MAIN("net_fragment", {fragments_of_datagrams}, {what_is_not_fragmented},
	{what_a_fragment_says, (int)RTE_DIM(changes)}, {cut_and_split})
