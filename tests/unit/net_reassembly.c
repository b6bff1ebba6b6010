/* SPDX-License-Identifier: BSD-3-Clause */
/* lib/net: what becomes of fragments: packets, also from fragments in a wrong order; nothing, of
 * forgeries; limits of the table. */
#include <stdlib.h>
#include <string.h>

#include <rte_ip.h>

#include "net_frags.h"
#include "net_samples.h"
#include "support/suite.h"

static struct hauli_random rnd;
static struct frags_table table;
static struct frags_bytes wanted, got;

/* For a fragment that the table keeps, or frees. */
static void give_away(struct rte_mbuf *f)
{
	struct rte_mbuf *pkt;

	ck_assert_int_eq(frags_give(&table, f, 0, &pkt), HAUL_NET_OK);
	ck_assert_ptr_null(pkt);
}

static void give_in_vain(struct rte_mbuf *f)
{
	struct rte_mbuf *pkt;

	ck_assert_int_eq(frags_give(&table, f, 0, &pkt), HAUL_NET_MALFORMED);
	ck_assert_ptr_null(pkt);
	net_mbuf_free(f);
}

static void give_last(struct rte_mbuf *f)
{
	struct rte_mbuf *pkt;

	ck_assert_int_eq(frags_give(&table, f, 0, &pkt), HAUL_NET_OK);
	frags_assert_datagram(&wanted, pkt);
}

/* A datagram of len bytes and what it is made from. */
static struct haul_pkt datagram(uint8_t version, uint32_t len)
{
	struct haul_pkt pkt;
	struct rte_mbuf *m = frags_datagram(&rnd, &pkt, version, 1, 0, len);

	frags_flatten(&wanted, m);
	return pkt;
}

/* In two fragments, with the second first. */
START_TEST(both_versions)
{
	hauli_random_init(&rnd, 1);
	for (unsigned version = 4; version <= 6; version += 2) {
		struct haul_pkt pkt = datagram((uint8_t)version, 2000);

		frags_begin(&table, 4, 4, 16, 1 << 20);
		give_away(frags_write(&pkt, 1500, 1, 9));
		frags_assert_held(&table, 1, 1);
		pkt.mbuf->ol_flags = 0;

		struct rte_mbuf *first = frags_write(&pkt, 1500, 0, 9), *out;

		first->ol_flags = RTE_MBUF_F_RX_L4_CKSUM_BAD | RTE_MBUF_F_RX_RSS_HASH;
		if (version == 4)
			pkt.ip4->packet_id = rte_cpu_to_be_16(9);
		if (version == 4) {
			pkt.ip4->hdr_checksum = 0;
			pkt.ip4->hdr_checksum = (uint16_t)~rte_raw_cksum(pkt.ip4, 20);
		}
		frags_flatten(&wanted, pkt.mbuf);
		ck_assert_int_eq(frags_give(&table, first, 0, &out), HAUL_NET_OK);
		ck_assert_uint_eq(out->ol_flags, RTE_MBUF_F_RX_RSS_HASH);
		ck_assert_uint_eq(out->nb_segs, 2);
		frags_assert_datagram(&wanted, out);
		net_mbuf_free(pkt.mbuf);
		frags_end(&table);
		ck_assert_uint_eq(table.freed, 0);
	}
}
END_TEST

/* Packets that differ in one part of their key only do not mix. */
START_TEST(packets_are_told_apart)
{
	struct haul_pkt pkt, other;
	struct rte_mbuf *out;

	hauli_random_init(&rnd, 2);
	frags_begin(&table, 16, 16, 32, 1 << 20);
	for (unsigned i = 0; i < 2; i++) {
		uint8_t version = i ? 6 : 4;

		pkt = datagram(version, 2000);
		give_away(frags_write(&pkt, 1500, 0, 1));
		/* Another identification, source, VLAN, port. */
		give_away(frags_write(&pkt, 1500, 1, 2));
		frags_datagram(&rnd, &other, version, 3, 0, 2000);
		give_away(frags_write(&other, 1500, 1, 1));
		net_mbuf_free(other.mbuf);
		frags_datagram(&rnd, &other, version, 1, 7, 2000);
		give_away(frags_write(&other, 1500, 1, 1));
		net_mbuf_free(other.mbuf);
		ck_assert_int_eq(
			frags_give(&table, frags_write(&pkt, 1500, 1, 1), 1, &out), HAUL_NET_OK);
		ck_assert_ptr_null(out);
		/* Another protocol is another packet of IPv4 only. */
		if (version == 4) {
			pkt.ip4->next_proto_id = 253;
			give_away(frags_write(&pkt, 1500, 1, 1));
			pkt.ip4->next_proto_id = 17;
		}
		table.now += table.limits.ns;
		hauli_reassembly_expire(table.r, table.now);
		net_mbuf_free(pkt.mbuf);
	}
	ck_assert_uint_eq(table.counts->expired, 6 + 5);
	frags_end(&table);
}
END_TEST

/* RFC 6946: not mixed with others of the same identification. */
START_TEST(fragment_that_is_whole)
{
	struct haul_pkt pkt;
	uint8_t header[8] = {17, 0, 0, 0, 0, 0, 0, 9};

	hauli_random_init(&rnd, 3);
	frags_begin(&table, 4, 4, 16, 1 << 20);
	pkt = datagram(6, 2000);
	give_away(frags_write(&pkt, 1500, 0, 9));
	net_mbuf_free(pkt.mbuf);
	pkt = datagram(6, 100);

	struct net_bytes p = net_mbuf_bytes(pkt.mbuf);

	memmove(p.b + 62, p.b + 54, p.len - 54);
	memcpy(p.b + 54, header, 8);
	p.len += 8;
	p.b[19] += 8;
	p.b[20] = 44;
	give_last(net_mbuf(&p, 0, 0));
	frags_assert_held(&table, 1, 1);
	net_mbuf_free(pkt.mbuf);
	frags_end(&table);
}
END_TEST

/* Headers in front of the fragment header stay; its type goes to where it was announced. */
START_TEST(behind_other_headers)
{
	static const uint8_t options[8] = {44, 0, 1, 4, 0, 0, 0, 0};
	struct haul_pkt pkt;
	struct rte_mbuf *out, *m;

	hauli_random_init(&rnd, 4);
	frags_begin(&table, 4, 4, 16, 1 << 20);
	pkt = datagram(6, 1000);
	m = pkt.mbuf;
	for (unsigned i = 0; i < 2; i++) {
		struct rte_mbuf *f = frags_write(&pkt, 700, i, 9);
		struct net_bytes p = net_mbuf_bytes(f);
		uint32_t len = p.len - 54 + 8;

		net_mbuf_free(f);
		memmove(p.b + 62, p.b + 54, p.len - 54);
		memcpy(p.b + 54, options, 8);
		p.len += 8;
		p.b[18] = (uint8_t)(len >> 8);
		p.b[19] = (uint8_t)len;
		p.b[20] = 60; /* destination options */
		ck_assert_int_eq(frags_give(&table, net_mbuf(&p, 0, 0), 0, &out), HAUL_NET_OK);
	}
	ck_assert_ptr_nonnull(out);
	frags_flatten(&got, out);
	ck_assert_uint_eq(got.b[20], 60);
	ck_assert_uint_eq(got.b[54], 17);
	ck_assert_uint_eq(got.len, wanted.len + 8);
	ck_assert_int_eq(haul_net_parse(&pkt, out), HAUL_NET_OK);
	ck_assert_uint_eq(pkt.payload_len, 1000);
	net_mbuf_free(out);
	net_mbuf_free(m);
	frags_end(&table);
}
END_TEST

/* RFC 5722: what overlaps spoils the packet, and its other fragments are refused. */
START_TEST(overlaps)
{
	/* Offset and end of the second fragment; the first has 1000 to 2000, the packet 4000. */
	static const uint32_t bad[][2] = {{0, 1008}, {992, 2000}, {992, 2008}, {1000, 1992},
		{1000, 2008}, {1008, 1992}, {1992, 3000}, {1008, 2000}, {0, 4000}};
	static uint8_t data[4000];

	hauli_random_init(&rnd, 5);
	for (unsigned i = 0; i < RTE_DIM(bad); i++) {
		struct haul_pkt pkt = datagram(4, 3992);
		const uint32_t spans[3][2] = {{1000, 2000}, {bad[i][0], bad[i][1]}, {2000, 3000}};

		frags_begin(&table, 4, 4, 16, 1 << 20);
		for (unsigned j = 0; j < 3; j++) {
			struct rte_mbuf *f = net_segment(NULL, 0, 0, 5000);
			uint32_t len = spans[j][1] - spans[j][0];
			struct rte_ipv4_hdr *ip;

			ck_assert_int_eq(hauli_fragment_write(&pkt, 1500, 0, 9, f), 0);
			rte_pktmbuf_trim(f, (uint16_t)(f->data_len - 34));
			memcpy(rte_pktmbuf_append(f, (uint16_t)len), data, len);
			ip = rte_pktmbuf_mtod_offset(f, void *, 14);
			ip->total_length = rte_cpu_to_be_16((uint16_t)(20 + len));
			ip->fragment_offset =
				rte_cpu_to_be_16((uint16_t)(0x2000 | spans[j][0] / 8));
			ip->hdr_checksum = 0;
			ip->hdr_checksum = (uint16_t)~rte_raw_cksum(ip, 20);
			if (j)
				give_in_vain(f);
			else
				give_away(f);
		}
		ck_assert_uint_eq(table.freed, 1);
		ck_assert_uint_eq(table.counts->bad, 1);
		ck_assert_uint_eq(table.counts->late, 1);
		frags_assert_held(&table, 0, 0);
		/* After its time the same identification is another packet. */
		table.now += table.limits.ns;
		give_away(frags_write(&pkt, 1500, 0, 9));
		ck_assert_uint_eq(table.counts->expired, 0);
		net_mbuf_free(pkt.mbuf);
		frags_end(&table);
	}
}
END_TEST

/* Two last fragments; data behind the last one. */
START_TEST(ends_that_contradict)
{
	struct haul_pkt longer, shorter;

	hauli_random_init(&rnd, 6);
	frags_datagram(&rnd, &longer, 4, 1, 0, 5000);
	frags_datagram(&rnd, &shorter, 4, 1, 0, 2000);
	for (unsigned i = 0; i < 4; i++) {
		struct rte_mbuf *a = frags_write(&shorter, 1500, 1, 9);
		/* The last of the longer one, twice the one before, one with the end as its end. */
		struct rte_mbuf *b = frags_write(&longer, 1500, i == 0 ? 3 : i == 2 ? 1 : 2, 9);

		frags_begin(&table, 4, 4, 16, 1 << 20);
		if (i == 2) {
			/* What ends where the packet ends, but says that there is more. */
			struct rte_ipv4_hdr *ip = rte_pktmbuf_mtod_offset(b, void *, 14);
			uint32_t end = 2008 - 1480;

			rte_pktmbuf_trim(b, (uint16_t)(b->data_len - 34 - end));
			ip->total_length = rte_cpu_to_be_16((uint16_t)(20 + end));
			ip->hdr_checksum = 0;
			ip->hdr_checksum = (uint16_t)~rte_raw_cksum(ip, 20);
		}
		give_away(i == 1 ? b : a);
		give_in_vain(i == 1 ? a : b);
		ck_assert_uint_eq(table.counts->bad, 1);
		frags_end(&table);
	}
	net_mbuf_free(longer.mbuf);
	net_mbuf_free(shorter.mbuf);
}
END_TEST

/* The oldest goes, whoever it is; a source with too many loses its own. */
START_TEST(room)
{
	struct haul_pkt pkts[8];
	struct rte_mbuf *out;

	hauli_random_init(&rnd, 7);
	for (unsigned i = 0; i < 8; i++)
		frags_datagram(&rnd, &pkts[i], 4, (uint8_t)(1 + i), 0, 2000);
	/* Packets; those of two sources may be counted as of one. */
	frags_begin(&table, 4, 5, 16, 1 << 20);
	for (unsigned i = 0; i < 5; i++)
		give_away(frags_write(&pkts[i], 1500, 0, 9));
	ck_assert_uint_eq(table.counts->given_up, 1);
	ck_assert_uint_eq(table.freed, 1);
	give_away(
		frags_write(&pkts[0], 1500, 1, 9)); /* the rest of what has gone; the second goes */
	for (unsigned i = 2; i < 5; i++) {
		ck_assert_int_eq(frags_give(&table, frags_write(&pkts[i], 1500, 1, 9), 0, &out),
			HAUL_NET_OK);
		ck_assert_ptr_nonnull(out);
		net_mbuf_free(out);
	}
	frags_end(&table);
	/* Fragments: one packet may give up itself. */
	frags_begin(&table, 4, 4, 2, 1 << 20);
	give_away(frags_write(&pkts[0], 500, 0, 9));
	give_away(frags_write(&pkts[1], 500, 0, 9));
	give_away(frags_write(&pkts[1], 500, 1, 9));
	ck_assert_uint_eq(table.counts->given_up, 1);
	frags_assert_held(&table, 1, 2);

	struct rte_mbuf *f = frags_write(&pkts[1], 500, 2, 9);

	ck_assert_int_eq(frags_give(&table, f, 0, &out), HAUL_NET_UNSUPPORTED);
	net_mbuf_free(f);
	frags_assert_held(&table, 0, 0);
	frags_end(&table);
	/* Bytes. */
	frags_begin(&table, 4, 4, 16, 3000);
	give_away(frags_write(&pkts[0], 1500, 0, 9));
	give_away(frags_write(&pkts[1], 1500, 0, 9));
	frags_assert_held(&table, 2, 2);
	give_away(frags_write(&pkts[2], 1500, 0, 9));
	frags_assert_held(&table, 2, 2);
	frags_end(&table);
	/* Sources. */
	frags_begin(&table, 16, 2, 16, 1 << 20);
	give_away(frags_write(&pkts[0], 1500, 0, 1));
	for (uint32_t id = 0; id < 5; id++)
		give_away(frags_write(&pkts[1], 1500, 0, id));
	ck_assert_uint_ge(table.counts->given_up_of_source, 3);
	ck_assert_uint_eq(table.counts->given_up, 0);
	frags_end(&table);
	for (unsigned i = 0; i < 8; i++)
		net_mbuf_free(pkts[i].mbuf);
}
END_TEST

/* The time runs from the first fragment, also if others come later. */
START_TEST(time_over)
{
	struct haul_pkt pkt;

	hauli_random_init(&rnd, 8);
	frags_begin(&table, 4, 4, 16, 1 << 20);
	pkt = datagram(4, 4000);
	give_away(frags_write(&pkt, 1500, 0, 9));
	table.now += table.limits.ns - 1;
	give_away(frags_write(&pkt, 1500, 1, 9));
	frags_assert_held(&table, 1, 2);
	table.now += 1;
	give_away(frags_write(&pkt, 1500, 2, 9));
	ck_assert_uint_eq(table.counts->expired, 1);
	ck_assert_uint_eq(table.freed, 2);
	frags_assert_held(&table, 1, 1);
	net_mbuf_free(pkt.mbuf);
	frags_end(&table);
}
END_TEST

START_TEST(too_many_fragments)
{
	struct haul_pkt pkt;

	hauli_random_init(&rnd, 9);
	frags_begin(&table, 4, 4, 100, 1 << 20);
	pkt = datagram(4, 1000);
	for (unsigned i = 0; i < HAULI_FRAGMENTS_OF_PACKET; i++)
		give_away(frags_write(&pkt, 28, i, 9));
	give_in_vain(frags_write(&pkt, 28, HAULI_FRAGMENTS_OF_PACKET, 9));
	ck_assert_uint_eq(table.freed, HAULI_FRAGMENTS_OF_PACKET);
	net_mbuf_free(pkt.mbuf);
	frags_end(&table);
}
END_TEST

/* The last fragment comes with a short header, the first with a long one. */
START_TEST(longer_than_ip_allows)
{
	struct haul_pkt pkt;

	hauli_random_init(&rnd, 10);
	frags_begin(&table, 4, 4, 100, 1 << 20);
	pkt = datagram(4, 65535 - 28);

	uint16_t mtu = 8000;
	int n = hauli_fragments(&pkt, mtu);

	for (int i = n - 1; i >= 0; i--) {
		struct rte_mbuf *f = frags_write(&pkt, mtu, (unsigned)i, 9), *out;

		if (i == 0) {
			struct frags_bytes *p = malloc(sizeof(*p));

			/* An option of 4 bytes: nothing. */
			frags_flatten(p, f);
			net_mbuf_free(f);
			memmove(p->b + 38, p->b + 34, p->len - 34);
			memset(p->b + 34, 1, 4);
			p->len += 4;
			p->b[14] = 0x46;
			p->b[17] += 4;
			p->b[24] = p->b[25] = 0;

			uint16_t sum = (uint16_t)~rte_raw_cksum(p->b + 14, 24);

			memcpy(p->b + 24, &sum, 2);
			f = net_segment(p->b, p->len, 0, 0);
			free(p);
		}
		ck_assert_int_eq(frags_give(&table, f, 0, &out), HAUL_NET_OK);
		ck_assert_ptr_null(out);
	}
	ck_assert_uint_eq(table.counts->bad, 1);
	ck_assert_uint_eq(table.freed, (uint32_t)n);
	net_mbuf_free(pkt.mbuf);
	frags_end(&table);
}
END_TEST

/* How many fragments there are is the sender's choice, and how many segments a packet may have the
 * PMD's: the least of DPDK's takes 8, of a packet that it sends whole. */
START_TEST(segments_are_few)
{
	const uint32_t least = 9000 / HAULI_FRAGMENTS_OF_PACKET;

	hauli_random_init(&rnd, 11);
	for (unsigned version = 4; version <= 6; version += 2) {
		uint16_t headers = version == 4 ? 20 : 48;

		for (uint16_t data = 8; data <= 1432; data += data == 8 ? RTE_ALIGN(least, 8) : 8) {
			uint32_t len = data == 8 ? 400 : 8900;
			struct haul_pkt pkt = datagram((uint8_t)version, len);
			uint32_t id = hauli_fragments_id(&pkt);
			uint16_t mtu = (uint16_t)(headers + data);
			int n = (int)(len + 8 + data - 1) / data;
			struct rte_mbuf *out = NULL;

			frags_begin(&table, 4, 4, 64, 1 << 20);
			for (int i = n - 1; i >= 0; i--) {
				struct rte_mbuf *f = net_segment(NULL, 0, 128, 2048);

				f->ol_flags = 0;
				ck_assert_int_eq(
					hauli_fragment_write(&pkt, mtu, (unsigned)i, id, f), 0);
				ck_assert_int_eq(frags_give(&table, f, 0, &out), HAUL_NET_OK);
			}
			ck_assert_ptr_nonnull(out);
			ck_assert_uint_le(out->nb_segs, data == 8 ? 1 : 7);
			frags_assert_datagram(&wanted, out);
			net_mbuf_free(pkt.mbuf);
			frags_end(&table);
		}
	}
}
END_TEST

SUITE_MAIN("net_reassembly", {both_versions}, {packets_are_told_apart}, {fragment_that_is_whole},
	{behind_other_headers}, {overlaps}, {ends_that_contradict}, {room}, {time_over},
	{too_many_fragments}, {longer_than_ip_allows}, {segments_are_few})
