/* SPDX-License-Identifier: BSD-3-Clause */
/* lib/net: packets built from random parts are parsed to the same parts, byte for byte as the RFCs
 * have them, with checksums that DPDK's functions find right; what does not fit changes nothing. */
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rte_ip.h>
#include <rte_udp.h>

#include <haul/build.h>

#include "base/random.h"
#include "net/build.h"
#include "net_samples.h"
#include "support/suite.h"

#define LONGEST 65535u
#define IPV4_CKSUM HAULI_TX_OFFLOAD_IPV4_CKSUM
#define UDP_CKSUM HAULI_TX_OFFLOAD_UDP_CKSUM

enum kind { UDP, ECHO, OTHER, KINDS };

/* What a packet is built from. */
struct parts {
	enum kind kind;
	struct haul_head head;
	uint16_t a, b; /* ports; identifier and sequence */
	enum haul_echo type;
	uint8_t proto;
	uint64_t offloads;
	uint32_t len; /* of the payload */
	uint8_t payload[LONGEST];
};

/* A packet as one piece of memory. */
static struct {
	uint8_t b[LONGEST + 66];
	uint32_t len;
} flat;

static struct hauli_random rnd;

static uint32_t below(uint32_t n)
{
	return hauli_random_below(&rnd, n);
}

static void fill(void *at, size_t len)
{
	for (size_t i = 0; i < len; i++)
		((uint8_t *)at)[i] = (uint8_t)below(256);
}

/* The payload in segments of random lengths, some of them empty. */
static struct rte_mbuf *random_mbuf(const uint8_t *b, uint32_t len, uint16_t headroom)
{
	uint32_t most = LONGEST - headroom, part = below(4) ? len : below(len + 1);
	struct rte_mbuf *first = net_segment(b, RTE_MIN(part, most), headroom, 0), *last = first;

	for (uint32_t at = first->data_len; at < len; at += last->data_len) {
		part = below(4) ? len - at : below(len - at + 1);
		last->next = net_segment(b + at, part, 0, 0);
		last = last->next;
		first->nb_segs++;
		first->pkt_len += part;
	}
	return first;
}

static void flatten(const struct rte_mbuf *m)
{
	flat.len = 0;
	for (const struct rte_mbuf *seg = m; seg; seg = seg->next) {
		ck_assert_uint_le(flat.len + seg->data_len, sizeof(flat.b));
		memcpy(flat.b + flat.len, rte_pktmbuf_mtod(seg, void *), seg->data_len);
		flat.len += seg->data_len;
	}
	ck_assert_uint_eq(flat.len, m->pkt_len);
}

static void random_addr(struct haul_addr *a, uint8_t version)
{
	*a = (struct haul_addr){.version = version};
	fill(a->bytes, version == 4 ? 4 : 16);
	a->bytes[0] = version == 4 ? 10 : 0xfd;
}

static void random_parts(struct parts *p, uint32_t longest)
{
	uint8_t version = below(2) ? 4 : 6;
	static const uint8_t protos[] = {IPPROTO_TCP, IPPROTO_SCTP, IPPROTO_GRE, 253};

	*p = (struct parts){
		.kind = (enum kind)below(KINDS),
		.head =
			{
				.vlan = below(2) ? 0 : (uint16_t)below(65536),
				.hops = below(2) ? 0 : (uint8_t)(1 + below(255)),
				.tos = below(2) ? 0 : (uint8_t)below(256),
				.may_fragment = below(2),
			},
		.a = (uint16_t)below(65536),
		.b = (uint16_t)below(65536),
		.type = (enum haul_echo)below(2),
		.proto = protos[below(sizeof(protos))],
		.len = below(4) ? below(1500) : below(longest + 1),
	};
	fill(p->head.src_mac, 6);
	fill(p->head.dst_mac, 6);
	p->head.src_mac[0] &= 0xfe;
	random_addr(&p->head.src, version);
	random_addr(&p->head.dst, version);
	/* Sums near 0 and 0xffff are where checksums go wrong. */
	if (below(4))
		fill(p->payload, p->len);
	else
		memset(p->payload, below(2) ? 0 : 0xff, p->len);
}

static int build(struct haul_pkt *pkt, struct rte_mbuf *m, const struct parts *p)
{
	switch (p->kind) {
	case UDP:
		return haul_build_udp(pkt, m, &p->head, p->a, p->b, p->offloads);
	case ECHO:
		return haul_build_echo(pkt, m, &p->head, p->type, p->a, p->b, p->offloads);
	default:
		return haul_build_ip(pkt, m, &p->head, p->proto, p->offloads);
	}
}

static uint32_t headers_len(const struct parts *p)
{
	return 14 + (p->head.vlan ? 4 : 0) + (p->head.src.version == 4 ? 20 : 40) +
		(p->kind == OTHER ? 0 : 8);
}

static uint32_t get16(const uint8_t *b)
{
	return (uint32_t)b[0] << 8 | b[1];
}

/* flat against the parts: each field by its offset. */
static void check_bytes(const struct parts *p)
{
	const struct haul_head *h = &p->head;
	const uint8_t *b = flat.b, hops = h->hops ? h->hops : 64;
	bool v4 = h->src.version == 4;
	uint8_t proto = p->kind == UDP ? 17 : p->kind == OTHER ? p->proto : v4 ? 1 : 58;
	uint32_t upper = p->len + (p->kind == OTHER ? 0 : 8);

	ck_assert_uint_eq(flat.len, headers_len(p) + p->len);
	ck_assert_mem_eq(b, h->dst_mac, 6);
	ck_assert_mem_eq(b + 6, h->src_mac, 6);
	b += 12;
	if (h->vlan) {
		ck_assert_uint_eq(get16(b), 0x8100);
		ck_assert_uint_eq(get16(b + 2), h->vlan);
		b += 4;
	}
	ck_assert_uint_eq(get16(b), v4 ? 0x0800 : 0x86dd);
	b += 2;
	if (v4) {
		ck_assert_uint_eq(b[0], 0x45);
		ck_assert_uint_eq(b[1], h->tos);
		ck_assert_uint_eq(get16(b + 2), 20 + upper);
		if (!h->may_fragment)
			ck_assert_uint_eq(get16(b + 4), 0);
		ck_assert_uint_eq(get16(b + 6), h->may_fragment ? 0 : 0x4000);
		ck_assert_uint_eq(b[8], hops);
		ck_assert_uint_eq(b[9], proto);
		ck_assert_mem_eq(b + 12, h->src.bytes, 4);
		ck_assert_mem_eq(b + 16, h->dst.bytes, 4);
		ck_assert_uint_eq(rte_raw_cksum(b, 20), 0xffff);
		b += 20;
	} else {
		ck_assert_uint_eq(get16(b), 0x6000u | (uint32_t)h->tos << 4);
		ck_assert_uint_eq(get16(b + 2), 0);
		ck_assert_uint_eq(get16(b + 4), upper);
		ck_assert_uint_eq(b[6], proto);
		ck_assert_uint_eq(b[7], hops);
		ck_assert_mem_eq(b + 8, h->src.bytes, 16);
		ck_assert_mem_eq(b + 24, h->dst.bytes, 16);
		b += 40;
	}
	if (p->kind == UDP) {
		ck_assert_uint_eq(get16(b), p->a);
		ck_assert_uint_eq(get16(b + 2), p->b);
		ck_assert_uint_eq(get16(b + 4), upper);
		ck_assert_uint_ne(get16(b + 6), 0);
		/* Of bytes with the right checksum it is 0, which these functions turn around. */
		ck_assert_uint_eq(v4 ? rte_ipv4_udptcp_cksum((const void *)(b - 20), b)
				     : rte_ipv6_udptcp_cksum((const void *)(b - 40), b),
			0xffff);
		b += 8;
	} else if (p->kind == ECHO) {
		ck_assert_uint_eq(b[0], v4 ? (p->type ? 0 : 8) : (p->type ? 129 : 128));
		ck_assert_uint_eq(b[1], 0);
		ck_assert_uint_eq(get16(b + 4), p->a);
		ck_assert_uint_eq(get16(b + 6), p->b);
		if (v4)
			ck_assert_uint_eq(rte_raw_cksum(b, upper), 0xffff);
		else
			ck_assert_uint_eq(rte_ipv6_udptcp_cksum((const void *)(b - 40), b), 0);
		b += 8;
	}
	ck_assert_mem_eq(b, p->payload, p->len);
}

static void check_parsed(const struct haul_pkt *built, struct rte_mbuf *m)
{
	struct haul_pkt parsed;

	ck_assert_int_eq(haul_net_parse(&parsed, m), HAUL_NET_OK);
	ck_assert_ptr_eq(parsed.mbuf, built->mbuf);
	ck_assert_int_eq(parsed.proto, built->proto);
	ck_assert_uint_eq(parsed.ip_version, built->ip_version);
	ck_assert_uint_eq(parsed.ip_proto, built->ip_proto);
	ck_assert_ptr_eq(parsed.eth, built->eth);
	ck_assert_ptr_eq(parsed.l3, built->l3);
	ck_assert_ptr_eq(parsed.l4, built->l4);
	ck_assert_ptr_eq(parsed.payload, built->payload);
	ck_assert_uint_eq(parsed.payload_len, built->payload_len);
	ck_assert_uint_eq(m->ol_flags, RTE_MBUF_F_RX_RSS_HASH);
	ck_assert_uint_eq(m->l2_len, (uintptr_t)built->l3 - (uintptr_t)built->eth);
	ck_assert_uint_eq(m->l3_len, (uintptr_t)built->l4 - (uintptr_t)built->l3);
	ck_assert_uint_eq(m->tso_segsz | m->outer_l2_len | m->outer_l3_len, 0);
}

START_TEST(random_packets)
{
	static struct parts p;
	const char *text = getenv("HAUL_TEST_SEED");
	uint64_t seed = text ? strtoull(text, NULL, 0) : (uint64_t)time(NULL);
	unsigned of_kind[KINDS] = {0};

	hauli_random_init(&rnd, seed);
	fprintf(stderr, "net_build: random_packets: HAUL_TEST_SEED=%" PRIu64 "\n", seed);
	for (unsigned i = 0; i < 10000; i++) {
		random_parts(&p, below(50) ? 9000 : LONGEST - 28);

		struct rte_mbuf *m = random_mbuf(p.payload, p.len, (uint16_t)headers_len(&p));
		struct haul_pkt pkt;
		struct haul_addr src, dst;

		ck_assert_int_eq(build(&pkt, m, &p), 0);
		ck_assert_uint_eq(rte_pktmbuf_headroom(m), 0);
		flatten(m);
		check_bytes(&p);
		check_parsed(&pkt, m);
		src = haul_pkt_src(&pkt);
		dst = haul_pkt_dst(&pkt);
		ck_assert(haul_addr_equal(&src, &p.head.src));
		ck_assert(haul_addr_equal(&dst, &p.head.dst));
		of_kind[p.kind]++;
		net_mbuf_free(m);
	}
	for (unsigned i = 0; i < KINDS; i++)
		ck_assert_uint_gt(of_kind[i], 1000);
}
END_TEST

/* What a PMD does: the checksums that the flags ask for, at the lengths that the mbuf tells. */
static void complete(struct rte_mbuf *m)
{
	uint64_t flags = m->ol_flags & RTE_MBUF_F_TX_OFFLOAD_MASK;
	uint8_t *l3 = flat.b + m->l2_len, *l4 = l3 + m->l3_len;
	struct rte_ipv4_hdr *ip = (void *)l3;
	uint16_t sum;

	if (flags)
		ck_assert(!(flags & RTE_MBUF_F_TX_IPV4) != !(flags & RTE_MBUF_F_TX_IPV6));
	if (flags & RTE_MBUF_F_TX_IP_CKSUM) {
		ck_assert(flags & RTE_MBUF_F_TX_IPV4);
		ck_assert_uint_eq(ip->hdr_checksum, 0);
		ip->hdr_checksum = rte_ipv4_cksum(ip);
	}
	if ((flags & RTE_MBUF_F_TX_L4_MASK) == RTE_MBUF_F_TX_UDP_CKSUM) {
		ck_assert_uint_eq(m->l4_len, 8);
		/* The field has the sum of the pseudo header already. */
		sum = (uint16_t)~rte_raw_cksum(l4, flat.len - m->l2_len - m->l3_len);
		((struct rte_udp_hdr *)l4)->dgram_cksum = sum ? sum : 0xffff;
	}
}

START_TEST(checksums_left_to_the_nic)
{
	static struct parts p;
	unsigned asked = 0;

	hauli_random_init(&rnd, 1);
	for (unsigned i = 0; i < 5000; i++) {
		random_parts(&p, 1500);
		p.offloads = hauli_random_next(&rnd);

		struct rte_mbuf *m = random_mbuf(p.payload, p.len, 128);
		struct haul_pkt pkt;
		bool v4 = p.head.src.version == 4;
		bool ip = v4 && (p.offloads & IPV4_CKSUM);
		bool udp = p.kind == UDP && (p.offloads & UDP_CKSUM);

		ck_assert_int_eq(build(&pkt, m, &p), 0);
		ck_assert(!(m->ol_flags & RTE_MBUF_F_TX_IP_CKSUM) == !ip);
		ck_assert(!(m->ol_flags & RTE_MBUF_F_TX_UDP_CKSUM) == !udp);
		ck_assert(!(m->ol_flags & RTE_MBUF_F_TX_OFFLOAD_MASK) == !(ip || udp));
		asked += ip + udp;
		flatten(m);
		complete(m);
		check_bytes(&p);
		net_mbuf_free(m);
	}
	ck_assert_uint_gt(asked, 1000);
}
END_TEST

static void assert_refused(const struct parts *p, struct rte_mbuf *m, int want)
{
	struct rte_mbuf before = *m;
	struct haul_pkt pkt;

	ck_assert_int_eq(build(&pkt, m, p), want);
	ck_assert_mem_eq(m, &before, sizeof(before));
	flatten(m);
	ck_assert_uint_eq(flat.len, p->len);
	ck_assert_mem_eq(flat.b, p->payload, p->len);
}

START_TEST(limits)
{
	static struct parts p;

	hauli_random_init(&rnd, 2);
	for (unsigned i = 0; i < 2000; i++) {
		random_parts(&p, 2000);

		uint32_t l2 = p.head.vlan ? 18 : 14, headers = headers_len(&p);
		uint16_t room = (uint16_t)(headers - 1);
		struct rte_mbuf *m = random_mbuf(p.payload, p.len, room);
		struct haul_pkt pkt;

		assert_refused(&p, m, -ENOBUFS);
		p.head.mtu = (uint16_t)(headers - l2 + p.len - 1);
		assert_refused(&p, m, -EMSGSIZE);
		p.head.mtu = 0;
		p.head.dst.version ^= 2;
		assert_refused(&p, m, -EINVAL);
		p.head.src.version = p.head.dst.version = 0;
		assert_refused(&p, m, -EINVAL);
		net_mbuf_free(m);

		random_parts(&p, 2000);
		p.head.mtu = (uint16_t)(headers_len(&p) - (p.head.vlan ? 18 : 14) + p.len);
		m = random_mbuf(p.payload, p.len, 128);
		ck_assert_int_eq(build(&pkt, m, &p), 0);
		net_mbuf_free(m);
	}
}
END_TEST

/* As large as IP allows, and one byte more. */
START_TEST(largest)
{
	static struct parts p;

	hauli_random_init(&rnd, 3);
	for (unsigned i = 0; i < 2 * KINDS; i++) {
		struct haul_pkt pkt;

		do
			random_parts(&p, 0);
		while (p.kind != i / 2 || (p.head.src.version == 4) != i % 2);
		p.len = LONGEST - (i % 2 ? 20 : 0) - (p.kind == OTHER ? 0 : 8);
		fill(p.payload, p.len);

		struct rte_mbuf *m = random_mbuf(p.payload, p.len, 128);

		ck_assert_int_eq(build(&pkt, m, &p), 0);
		flatten(m);
		check_bytes(&p);
		check_parsed(&pkt, m);
		net_mbuf_free(m);
		if (p.len == LONGEST)
			continue;
		p.len++;
		m = random_mbuf(p.payload, p.len, 128);
		assert_refused(&p, m, -EMSGSIZE);
		net_mbuf_free(m);
	}
}
END_TEST

/* A datagram whose sum is 0 has the checksum 0xffff, as 0 means that there is none. */
START_TEST(udp_checksum_is_never_zero)
{
	struct parts p = {.kind = UDP,
		.head = {.src = {4, {10, 0, 0, 1}}, .dst = {4, {10, 0, 0, 2}}},
		.len = 2};
	unsigned zeros = 0;

	for (uint32_t word = 0; word < 65536; word++) {
		p.payload[0] = (uint8_t)(word >> 8);
		p.payload[1] = (uint8_t)word;

		struct rte_mbuf *m = net_segment(p.payload, 2, 42, 0);
		struct haul_pkt pkt;

		ck_assert_int_eq(build(&pkt, m, &p), 0);
		ck_assert_uint_ne(pkt.udp->dgram_cksum, 0);
		zeros += pkt.udp->dgram_cksum == 0xffff;
		net_mbuf_free(m);
	}
	ck_assert_uint_ge(zeros, 1);
}
END_TEST

SUITE_MAIN("net_build", {random_packets}, {checksums_left_to_the_nic}, {limits}, {largest},
	{udp_checksum_is_never_zero})
