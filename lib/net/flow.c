/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A hash of the flow that a packet belongs to. It is equal in both directions: of each pair of
 * addresses or ports the smaller comes first. The hash function is Jenkins' (rte_jhash.h).
 */
#include <string.h>

#include <rte_byteorder.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_jhash.h>
#include <rte_mbuf.h>

#include <haul/net.h>

#include "net/dpdk.h"
#include "net/flow.h"

#define TAGS_MAX 2
#define FRAGMENT (RTE_IPV4_HDR_MF_FLAG | RTE_IPV4_HDR_OFFSET_MASK)

/* The part of a packet that is not parsed yet. */
struct rest {
	const uint8_t *data;
	size_t len;
};

static const void *take(struct rest *rest, size_t n)
{
	const uint8_t *taken = rest->data;

	if (rest->len < n)
		return NULL;
	rest->data += n;
	rest->len -= n;
	return taken;
}

static bool has_ports(uint8_t proto)
{
	return proto == IPPROTO_TCP || proto == IPPROTO_UDP || proto == IPPROTO_SCTP;
}

/* Both ports, as they are in a packet, equal for both directions. */
static uint32_t in_order(uint32_t ports)
{
	uint32_t swapped = ports << 16 | ports >> 16;

	return RTE_MIN(ports, swapped);
}

/* Both ports of the upper header at the start of rest, in order; 0: there are none. */
static uint32_t ports_of(uint8_t proto, struct rest rest)
{
	const uint8_t *at = has_ports(proto) ? take(&rest, sizeof(uint32_t)) : NULL;
	uint32_t ports;

	if (!at)
		return 0;
	memcpy(&ports, at, sizeof(ports));
	return in_order(ports);
}

static uint32_t hash_ends4(uint32_t a, uint32_t b, uint32_t ports, uint8_t proto)
{
	return rte_jhash_3words(RTE_MIN(a, b), RTE_MAX(a, b), ports, proto);
}

static uint32_t hash_ends6(const void *a, const void *b, uint32_t ports, uint8_t proto)
{
	uint64_t src[2], dst[2];
	uint32_t words[9];
	bool swapped;

	memcpy(src, a, sizeof(src));
	memcpy(dst, b, sizeof(dst));
	swapped = src[1] != dst[1] ? src[1] > dst[1] : src[0] > dst[0];
	memcpy(words, swapped ? dst : src, sizeof(src));
	memcpy(words + 4, swapped ? src : dst, sizeof(dst));
	words[8] = ports;
	return rte_jhash_32b(words, RTE_DIM(words), proto);
}

static uint32_t hash_ip4(struct rest rest)
{
	const struct rte_ipv4_hdr *ip = take(&rest, sizeof(*ip));
	uint32_t ports = 0;

	if (!ip)
		return 0;
	/* Only the first fragment of a packet has ports. It is hashed without them, to get the same
	 * hash as the other fragments. */
	if ((ip->fragment_offset & RTE_BE16(FRAGMENT)) == 0 &&
		rte_ipv4_hdr_len(ip) >= sizeof(*ip) &&
		take(&rest, rte_ipv4_hdr_len(ip) - sizeof(*ip)))
		ports = ports_of(ip->next_proto_id, rest);
	return hash_ends4(ip->src_addr, ip->dst_addr, ports, ip->next_proto_id);
}

static uint32_t hash_ip6(struct rest rest)
{
	const struct rte_ipv6_hdr *ip = take(&rest, sizeof(*ip));

	if (!ip)
		return 0;
	return hash_ends6(
		hauli_ip6_src(ip), hauli_ip6_dst(ip), ports_of(ip->proto, rest), ip->proto);
}

static uint32_t hash_ether(const uint8_t *macs, uint16_t type)
{
	uint64_t src = 0, dst = 0, first, second;

	memcpy(&dst, macs, RTE_ETHER_ADDR_LEN);
	memcpy(&src, macs + RTE_ETHER_ADDR_LEN, RTE_ETHER_ADDR_LEN);
	first = RTE_MIN(src, dst);
	second = RTE_MAX(src, dst);
	return rte_jhash_3words((uint32_t)first, (uint32_t)second,
		(uint32_t)(first >> 32 << 16 ^ second >> 32), type);
}

/* Takes the Ethernet header with its tags. *macs: its addresses; NULL: the packet ends before. */
static rte_be16_t take_ether(struct rest *rest, const uint8_t **macs)
{
	const void *at;
	rte_be16_t type;

	*macs = take(rest, 2 * RTE_ETHER_ADDR_LEN);
	at = *macs ? take(rest, sizeof(rte_be16_t)) : NULL;
	if (!at)
		return *macs = NULL, 0;
	memcpy(&type, at, sizeof(type));
	for (unsigned i = 0; i < TAGS_MAX; i++) {
		const uint8_t *tag;

		if (type != RTE_BE16(RTE_ETHER_TYPE_VLAN) && type != RTE_BE16(RTE_ETHER_TYPE_QINQ))
			break;
		tag = take(rest, sizeof(struct rte_vlan_hdr));
		if (!tag)
			return *macs = NULL, 0;
		/* after the two bytes of the tag control information */
		memcpy(&type, tag + 2, sizeof(type));
	}
	return type;
}

uint32_t haul_net_flow(const struct rte_mbuf *mbuf)
{
	struct rest rest = {rte_pktmbuf_mtod(mbuf, const uint8_t *), mbuf->data_len};
	const uint8_t *macs;
	rte_be16_t type = take_ether(&rest, &macs);

	if (!macs)
		return 0;
	if (type == RTE_BE16(RTE_ETHER_TYPE_IPV4))
		return hash_ip4(rest);
	if (type == RTE_BE16(RTE_ETHER_TYPE_IPV6))
		return hash_ip6(rest);
	return hash_ether(macs, type);
}

/* The sender's MAC address, and beside it the EtherType: a host that floods with ARP is another
 * source than the same host's IP packets. */
static uint64_t source_of_ether(const uint8_t *macs, rte_be16_t type)
{
	uint64_t source = (uint64_t)type << 48;

	memcpy(&source, macs + RTE_ETHER_ADDR_LEN, RTE_ETHER_ADDR_LEN);
	return source;
}

uint64_t hauli_net_source(const struct rte_mbuf *mbuf, bool *is_control)
{
	struct rest rest = {rte_pktmbuf_mtod(mbuf, const uint8_t *), mbuf->data_len};
	const struct rte_ipv4_hdr *ip4;
	const struct rte_ipv6_hdr *ip6;
	const uint8_t *macs;
	rte_be16_t type = take_ether(&rest, &macs);
	uint64_t source;

	*is_control = macs && type == RTE_BE16(RTE_ETHER_TYPE_ARP);
	if (!macs)
		return 0;
	if (type == RTE_BE16(RTE_ETHER_TYPE_IPV4) && (ip4 = take(&rest, sizeof(*ip4))) != NULL) {
		*is_control = ip4->next_proto_id == IPPROTO_ICMP;
		return ip4->src_addr;
	}
	if (type == RTE_BE16(RTE_ETHER_TYPE_IPV6) && (ip6 = take(&rest, sizeof(*ip6))) != NULL) {
		*is_control = ip6->proto == IPPROTO_ICMPV6;
		memcpy(&source, hauli_ip6_src(ip6), sizeof(source));
		return source;
	}
	return source_of_ether(macs, type);
}

uint32_t hauli_net_flow(
	bool ip6, uint8_t protocol, const void *a, uint16_t a_port, const void *b, uint16_t b_port)
{
	uint32_t ports = 0, from, to;

	if (has_ports(protocol))
		ports = in_order(
			(uint32_t)rte_cpu_to_be_16(a_port) << 16 | rte_cpu_to_be_16(b_port));
	if (ip6)
		return hash_ends6(a, b, ports, protocol);
	memcpy(&from, a, sizeof(from));
	memcpy(&to, b, sizeof(to));
	return hash_ends4(from, to, ports, protocol);
}
