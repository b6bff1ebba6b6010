/* SPDX-License-Identifier: BSD-3-Clause */
/* The flow hash of a packet. */
#include <string.h>

#include <rte_byteorder.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_udp.h>

#include "net/flow.h"
#include "net_samples.h"
#include "support/suite.h"

static uint32_t flow_of(const struct net_bytes *p)
{
	struct rte_mbuf *m = net_mbuf(p, 0, 0);
	uint32_t flow = haul_net_flow(m);

	net_mbuf_free(m);
	return flow;
}

/* A datagram of IPv4 or IPv6 from port a of one host to port b of another, or the reverse. */
static struct net_bytes datagram(int version, unsigned a, unsigned b, bool back)
{
	struct net_bytes p = {.len = version == 4 ? 42 : 62};
	uint8_t *ip = p.b + 14;
	unsigned n = version == 4 ? 4 : 16;
	uint8_t *addrs = version == 4 ? ip + 12 : ip + 8;
	uint8_t *ports = p.b + p.len - 8;

	p.b[12] = version == 4 ? 0x08 : 0x86;
	p.b[13] = version == 4 ? 0x00 : 0xdd;
	ip[0] = version == 4 ? 0x45 : 0x60;
	ip[version == 4 ? 9 : 6] = IPPROTO_UDP;
	addrs[back ? 2 * n - 1 : n - 1] = 1;
	addrs[back ? n - 1 : 2 * n - 1] = 2;
	ports[back ? 2 : 0] = (uint8_t)(a >> 8);
	ports[back ? 3 : 1] = (uint8_t)a;
	ports[back ? 0 : 2] = (uint8_t)(b >> 8);
	ports[back ? 1 : 3] = (uint8_t)b;
	return p;
}

START_TEST(a_packet_that_is_not_there_yet_has_the_same_flow)
{
	unsigned n = _i ? 16 : 4;

	for (unsigned port = 1; port < 1000; port++) {
		struct net_bytes p = datagram(_i ? 6 : 4, port * 61, 53, port % 2);
		uint8_t *ip = p.b + 14, *src = ip + (_i ? 8 : 12);
		uint16_t there = (uint16_t)(port * 61);

		for (unsigned i = 0; i < 2 * n; i++)
			src[i] = (uint8_t)(src[i] + port * (i + 3));
		ck_assert_uint_eq(hauli_net_flow(_i, 17, src, port % 2 ? 53 : there, src + n,
					  port % 2 ? there : 53),
			flow_of(&p));
		ip[_i ? 6 : 9] = 1; /* has no ports */
		ck_assert_uint_eq(hauli_net_flow(_i, 1, src, 0, src + n, 0), flow_of(&p));
	}
}
END_TEST

static void put_tag(struct net_bytes *p, unsigned id)
{
	const uint8_t tag[4] = {0x81, 0x00, 0, (uint8_t)id};

	memmove(p->b + 16, p->b + 12, p->len - 12);
	memcpy(p->b + 12, tag, 4);
	p->len += 4;
}

START_TEST(both_directions_are_one_flow)
{
	for (unsigned port = 1; port < 1000; port++) {
		struct net_bytes there = datagram(_i ? 6 : 4, port, 53, false);
		struct net_bytes back = datagram(_i ? 6 : 4, port, 53, true);

		ck_assert_uint_eq(flow_of(&there), flow_of(&back));
	}
}
END_TEST

START_TEST(hosts_that_differ_in_their_networks_only_are_one_flow)
{
	struct net_bytes there = datagram(6, 1000, 53, false), back = datagram(6, 1000, 53, true);
	struct net_bytes *both[] = {&there, &back};

	for (unsigned i = 0; i < 2; i++) {
		uint8_t *src = both[i]->b + 14 + 8, *dst = src + 16;

		src[0] = i ? 2 : 1;
		dst[0] = i ? 1 : 2;
		src[15] = dst[15] = 7;
	}
	ck_assert_uint_eq(flow_of(&there), flow_of(&back));
}
END_TEST

static uint64_t source_of(const struct net_bytes *p, bool *is_control)
{
	struct rte_mbuf *m = net_mbuf(p, 0, 0);
	uint64_t source = hauli_net_source(m, is_control);

	net_mbuf_free(m);
	return source;
}

START_TEST(a_source_is_the_sender_alone)
{
	int version = _i ? 6 : 4;
	struct net_bytes one = datagram(version, 1, 53, false);
	struct net_bytes same = datagram(version, 2, 54, false);
	struct net_bytes other = datagram(version, 1, 53, true);
	bool is_control;

	/* Of IPv6 the network: datagram() differs in the last bytes. */
	if (version == 6)
		other.b[14 + 8] = 1;
	same.b[14 + (version == 4 ? 19 : 39)] = 9; /* the receiver */
	ck_assert_uint_eq(source_of(&one, &is_control), source_of(&same, &is_control));
	ck_assert(!is_control);
	ck_assert_uint_ne(source_of(&one, &is_control), source_of(&other, &is_control));
	put_tag(&one, 5);
	ck_assert_uint_eq(source_of(&one, &is_control), source_of(&same, &is_control));
	same.b[14 + (version == 4 ? 9 : 6)] = version == 4 ? IPPROTO_ICMP : IPPROTO_ICMPV6;
	(void)source_of(&same, &is_control);
	ck_assert(is_control);
	/* As many bytes as there are, and of other protocols the MAC address. */
	for (same.len = 0; same.len < 34; same.len++)
		(void)source_of(&same, &is_control);
	ck_assert_uint_ne(source_of(&same, &is_control), 0);
}
END_TEST

START_TEST(arp_is_control_and_another_source)
{
	struct net_bytes arp = {.len = 42}, ip;
	bool is_control;

	arp.b[12] = 0x08;
	arp.b[13] = 0x06;
	arp.b[11] = 7;
	ip = arp;
	ip.b[13] = 0x99;
	ck_assert_uint_ne(source_of(&arp, &is_control), source_of(&ip, &is_control));
	ck_assert(!is_control);
	(void)source_of(&arp, &is_control);
	ck_assert(is_control);
}
END_TEST

START_TEST(flows_spread)
{
	unsigned n[4] = {0};

	for (unsigned port = 1; port <= 1000; port++) {
		struct net_bytes p = datagram(_i ? 6 : 4, port, 53, port % 2);

		n[(uint64_t)flow_of(&p) * 4 >> 32]++;
	}
	for (unsigned i = 0; i < 4; i++)
		ck_assert_msg(n[i] > 180 && n[i] < 320, "%u of 1000 in part %u of 4", n[i], i);
}
END_TEST

START_TEST(fragments_stay_together)
{
	struct net_bytes first = datagram(4, 1000, 53, false);
	struct net_bytes later = datagram(4, 7, 8, false); /* payload bytes where ports would be */

	first.b[14 + 6] = 0x20; /* more fragments flag */
	later.b[14 + 7] = 3; /* fragment offset */
	ck_assert_uint_eq(flow_of(&first), flow_of(&later));
}
END_TEST

START_TEST(tags_do_not_count)
{
	struct net_bytes p = datagram(4, 1000, 53, false);
	uint32_t flow = flow_of(&p);

	put_tag(&p, 5);
	ck_assert_uint_eq(flow_of(&p), flow);
	put_tag(&p, 6);
	ck_assert_uint_eq(flow_of(&p), flow);
}
END_TEST

START_TEST(options_are_passed_over)
{
	struct net_bytes p = datagram(4, 1000, 53, false);
	uint32_t flow = flow_of(&p);

	memmove(p.b + 14 + 24, p.b + 14 + 20, 8);
	p.b[14] = 0x46;
	memset(p.b + 14 + 20, 1, 4);
	p.len += 4;
	ck_assert_uint_eq(flow_of(&p), flow);
}
END_TEST

/* A sanitizer finds reads beyond the packet. */
START_TEST(any_part_of_a_packet_is_accepted)
{
	struct net_bytes p = net_request(net_samples[_i].name);

	for (unsigned tags = 0; tags < 4; tags++) {
		uint32_t len = p.len;

		for (p.len = 0; p.len <= len; p.len++)
			flow_of(&p);
		p.len = len;
		for (unsigned n = 0; n < 16; n++) { /* wrong header lengths */
			p.b[14] = (uint8_t)(0x40 | n);
			flow_of(&p);
		}
		put_tag(&p, tags);
	}
}
END_TEST

SUITE_MAIN("net_flow", {both_directions_are_one_flow, 2},
	{hosts_that_differ_in_their_networks_only_are_one_flow},
	{a_packet_that_is_not_there_yet_has_the_same_flow, 2}, {a_source_is_the_sender_alone, 2},
	{arp_is_control_and_another_source}, {flows_spread, 2}, {fragments_stay_together},
	{tags_do_not_count}, {options_are_passed_over},
	{any_part_of_a_packet_is_accepted, (int)net_nb_samples})
