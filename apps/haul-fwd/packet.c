/* SPDX-License-Identifier: BSD-3-Clause */
#include "packet.h"

#include <netinet/icmp6.h>
#include <netinet/ip_icmp.h>
#include <string.h>

#include <rte_icmp.h>
#include <rte_ip.h>
#include <rte_tcp.h>
#include <rte_udp.h>

#include <haul/sum.h>

static uint8_t l4_offset(const struct frame_options *o)
{
	return (uint8_t)(RTE_ETHER_HDR_LEN + (o->vlan ? RTE_VLAN_HLEN : 0) +
		(o->ip6 ? sizeof(struct rte_ipv6_hdr) : sizeof(struct rte_ipv4_hdr)));
}

/* What the kinds differ in. */
static const struct l4 {
	uint8_t proto[2], len; /* of IPv4, of IPv6 */
	uint8_t flow, checksum; /* offsets in it */
} l4s[] = {
	[FRAME_UDP] = {{IPPROTO_UDP, IPPROTO_UDP}, sizeof(struct rte_udp_hdr),
		offsetof(struct rte_udp_hdr, src_port), offsetof(struct rte_udp_hdr, dgram_cksum)},
	[FRAME_TCP] = {{IPPROTO_TCP, IPPROTO_TCP}, sizeof(struct rte_tcp_hdr),
		offsetof(struct rte_tcp_hdr, src_port), offsetof(struct rte_tcp_hdr, cksum)},
	[FRAME_ICMP] = {{IPPROTO_ICMP, IPPROTO_ICMPV6}, sizeof(struct rte_icmp_hdr),
		offsetof(struct rte_icmp_hdr, icmp_ident),
		offsetof(struct rte_icmp_hdr, icmp_cksum)},
};

static uint8_t payload_offset(const struct frame_options *o)
{
	return (uint8_t)(l4_offset(o) + l4s[o->l4].len);
}

_Static_assert(PACKET_HEADERS_MAX >= RTE_ETHER_HDR_LEN + RTE_VLAN_HLEN +
			sizeof(struct rte_ipv6_hdr) + sizeof(struct rte_tcp_hdr),
	"holds all headers");

uint16_t packet_size_min(const struct frame_options *o)
{
	uint16_t size = (uint16_t)(payload_offset(o) + STAMP_SIZE);

	return size > PACKET_MIN ? size : PACKET_MIN;
}

static void set_ip4(struct packet_shape *s, const struct frame_options *o)
{
	struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)(s->headers + s->l3);

	ip->version_ihl = RTE_IPV4_VHL_DEF;
	ip->time_to_live = 64;
	ip->next_proto_id = l4s[o->l4].proto[0];
	ip->src_addr = o->ip[0].s_addr;
	ip->dst_addr = o->ip[1].s_addr;
	s->ip_sum = rte_raw_cksum(ip, sizeof(*ip));
	if (s->has_pseudo)
		s->l4_sum = rte_raw_cksum(&ip->src_addr, 8);
}

static void set_ip6(struct packet_shape *s, const struct frame_options *o)
{
	struct rte_ipv6_hdr *ip = (struct rte_ipv6_hdr *)(s->headers + s->l3);

	ip->vtc_flow = rte_cpu_to_be_32(UINT32_C(6) << 28);
	ip->proto = l4s[o->l4].proto[1];
	ip->hop_limits = 64;
	memcpy(&ip->src_addr, &o->ip6s[0], 16);
	memcpy(&ip->dst_addr, &o->ip6s[1], 16);
	s->l4_sum = rte_raw_cksum(&ip->src_addr, 32);
}

static void set_l4(struct packet_shape *s, const struct frame_options *o)
{
	struct rte_udp_hdr *udp = (struct rte_udp_hdr *)(s->headers + s->l4);
	struct rte_tcp_hdr *tcp = (struct rte_tcp_hdr *)(s->headers + s->l4);
	struct rte_icmp_hdr *icmp = (struct rte_icmp_hdr *)(s->headers + s->l4);

	switch (o->l4) {
	case FRAME_UDP:
		udp->dst_port = rte_cpu_to_be_16(o->ports[1]);
		break;
	case FRAME_TCP:
		tcp->dst_port = rte_cpu_to_be_16(o->ports[1]);
		tcp->data_off = (sizeof(*tcp) / 4) << 4;
		tcp->tcp_flags = RTE_TCP_ACK_FLAG | RTE_TCP_PSH_FLAG;
		tcp->rx_win = UINT16_MAX;
		break;
	case FRAME_ICMP:
		icmp->icmp_type = o->ip6 ? ICMP6_ECHO_REQUEST : ICMP_ECHO;
		break;
	}
	s->l4_sum += rte_raw_cksum(s->headers + s->l4, (size_t)(s->payload - s->l4));
	if (s->has_pseudo)
		s->l4_sum += rte_cpu_to_be_16(l4s[o->l4].proto[o->ip6]);
}

/* Writes the lengths and the IP checksum of a frame. Returns the sum of the words of its L4 header
 * and pseudo header, without source port and stamp. */
static inline uint64_t set_size(const struct packet_shape *s, uint8_t *frame, uint16_t size)
{
	struct rte_ipv4_hdr *ip4 = (struct rte_ipv4_hdr *)(frame + s->l3);
	struct rte_ipv6_hdr *ip6 = (struct rte_ipv6_hdr *)(frame + s->l3);
	struct rte_udp_hdr *udp = (struct rte_udp_hdr *)(frame + s->l4);
	uint16_t len = rte_cpu_to_be_16((uint16_t)(size - s->l4));

	if (s->ip6) {
		ip6->payload_len = len;
	} else {
		ip4->total_length = rte_cpu_to_be_16((uint16_t)(size - s->l3));
		ip4->hdr_checksum =
			(uint16_t)~haul_sum_fold((uint64_t)s->ip_sum + ip4->total_length);
	}
	if (s->has_udp_len) {
		udp->dgram_len = len;
		return (uint64_t)s->l4_sum + len + len;
	}
	return (uint64_t)s->l4_sum + (s->has_pseudo ? len : 0);
}

void packet_shape_init(struct packet_shape *s, const struct frame_options *o,
	const struct rte_ether_addr *from, const struct rte_ether_addr *to, uint16_t size)
{
	uint16_t type = rte_cpu_to_be_16(o->ip6 ? RTE_ETHER_TYPE_IPV6 : RTE_ETHER_TYPE_IPV4);
	uint16_t tag[2] = {rte_cpu_to_be_16(RTE_ETHER_TYPE_VLAN), rte_cpu_to_be_16(o->vlan)};

	memset(s, 0, sizeof(*s));
	s->ip6 = o->ip6;
	s->has_pseudo = o->ip6 || o->l4 != FRAME_ICMP;
	s->has_udp_len = o->l4 == FRAME_UDP;
	s->first_port = o->ports[0];
	s->l4 = l4_offset(o);
	s->l3 = (uint8_t)(RTE_ETHER_HDR_LEN + (o->vlan ? RTE_VLAN_HLEN : 0));
	s->payload = payload_offset(o);
	s->flow = (uint8_t)(s->l4 + l4s[o->l4].flow);
	s->checksum = (uint8_t)(s->l4 + l4s[o->l4].checksum);
	memcpy(s->headers, to, RTE_ETHER_ADDR_LEN);
	memcpy(s->headers + RTE_ETHER_ADDR_LEN, from, RTE_ETHER_ADDR_LEN);
	if (o->vlan)
		memcpy(s->headers + 2 * RTE_ETHER_ADDR_LEN, tag, sizeof(tag));
	memcpy(s->headers + s->l3 - 2, &type, 2);
	if (o->ip6)
		set_ip6(s, o);
	else
		set_ip4(s, o);
	set_l4(s, o);
	s->size = size;
	s->size_sum = set_size(s, s->headers, size);
}

/* A sum of 0xffff is 0 to receivers, and in UDP 0 means none. */
static inline void set_flow_and_checksum(uint8_t *flow, uint8_t *checksum, uint16_t n, uint64_t sum)
{
	uint16_t source = rte_cpu_to_be_16(n);
	uint16_t folded = (uint16_t)~haul_sum_fold(sum + source);

	if (folded == 0)
		folded = UINT16_MAX;
	memcpy(flow, &source, 2);
	memcpy(checksum, &folded, 2);
}

void packet_fill(const struct packet_shape *restrict s, struct rte_mbuf **pkts, uint16_t n,
	uint16_t size, struct packet_turn *turn, const struct stamp *stamp)
{
	unsigned end = s->payload + STAMP_SIZE;
	struct packet_turn t = *turn;
	struct stamp_tail tail = stamp_tail(stamp);
	uint16_t first_flow = stamp->flow;

	for (uint16_t i = 0; i < n; i++) {
		uint8_t *frame = rte_pktmbuf_mtod(pkts[i], uint8_t *);
		uint64_t sum = s->size_sum;

		memcpy(frame, s->headers, sizeof(s->headers)); /* of a known length: a few moves */
		if (unlikely(size != s->size))
			sum = set_size(s, frame, size);
		sum += stamp_write_with(
			frame + s->payload, (uint16_t)(first_flow + t.flow), t.sequence, &tail);
		set_flow_and_checksum(frame + s->flow, frame + s->checksum,
			(uint16_t)(s->first_port + t.flow), sum);
		if (size > end)
			memset(frame + end, 0, size - end);
		pkts[i]->data_len = size;
		pkts[i]->pkt_len = size;
		packet_turn_next(&t);
	}
	*turn = t;
}

/* The offset of the IP payload's header in a frame, and its protocol; 0: no IP. */
static unsigned find_l4(const uint8_t *frame, unsigned len, uint8_t *proto)
{
	unsigned at = RTE_ETHER_HDR_LEN;
	const struct rte_ipv4_hdr *ip4;
	const struct rte_ipv6_hdr *ip6;
	uint16_t type;

	memcpy(&type, frame + at - 2, 2);
	if (type == rte_cpu_to_be_16(RTE_ETHER_TYPE_VLAN)) {
		memcpy(&type, frame + at + 2, 2);
		at += RTE_VLAN_HLEN;
	}
	if (type == rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV4)) {
		ip4 = (const struct rte_ipv4_hdr *)(frame + at);
		*proto = ip4->next_proto_id;
		return at + (ip4->version_ihl & 15u) * 4;
	}
	if (type == rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV6) && len >= at + sizeof(*ip6)) {
		ip6 = (const struct rte_ipv6_hdr *)(frame + at);
		*proto = ip6->proto;
		return at + sizeof(*ip6);
	}
	return 0;
}

bool packet_read(const struct rte_mbuf *pkt, struct stamp *stamp)
{
	const uint8_t *frame = rte_pktmbuf_mtod(pkt, const uint8_t *);
	unsigned len = pkt->data_len;
	uint8_t proto = 0;
	unsigned at;

	/* The shortest frame with a stamp contains all fields that find_l4() reads. */
	if (len < PACKET_MIN)
		return false;
	at = find_l4(frame, len, &proto);
	if (at == 0)
		return false;
	switch (proto) {
	case IPPROTO_UDP:
	case IPPROTO_ICMP:
	case IPPROTO_ICMPV6:
		at += sizeof(struct rte_udp_hdr); /* of the same length */
		break;
	case IPPROTO_TCP:
		at += sizeof(struct rte_tcp_hdr);
		break;
	default:
		return false;
	}
	return at + STAMP_SIZE <= len && stamp_read(stamp, frame + at);
}
