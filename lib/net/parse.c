/* SPDX-License-Identifier: BSD-3-Clause */
/* Parsing an mbuf into a struct haul_pkt: Ethernet, and dispatch to the layers above. */
#include "net/addr.h"
#include "net/arp.h"
#include "net/ipv4.h"
#include "net/ipv6.h"
#include "net/pkt.h"

const char *haul_proto_name(enum haul_proto proto)
{
	static const char *const names[HAUL_PROTOS] = {
		[HAUL_PROTO_OTHER] = "other",
		[HAUL_PROTO_ARP] = "arp",
		[HAUL_PROTO_ND] = "nd",
		[HAUL_PROTO_ICMP] = "icmp",
		[HAUL_PROTO_ICMP6] = "icmp6",
		[HAUL_PROTO_UDP] = "udp",
	};

	return names[proto];
}

enum haul_verdict haul_net_parse(struct haul_pkt *pkt, struct rte_mbuf *m)
{
	struct rte_ether_hdr *eth = rte_pktmbuf_mtod(m, struct rte_ether_hdr *);
	uint32_t off = sizeof(*eth);
	enum haul_verdict v = hauli_need(m, 0, off);

	if (v)
		return v;

	rte_be16_t type = eth->ether_type;

	if (type == rte_cpu_to_be_16(RTE_ETHER_TYPE_VLAN)) {
		const struct rte_vlan_hdr *tag = (const void *)(eth + 1);

		off += sizeof(*tag);
		v = hauli_need(m, 0, off);
		if (v)
			return v;
		type = tag->eth_proto;
	}
	if (rte_is_multicast_ether_addr(&eth->src_addr))
		return HAUL_NET_MALFORMED;

	*pkt = (struct haul_pkt){.mbuf = m, .eth = eth, .l3 = (uint8_t *)eth + off};
	if (type == rte_cpu_to_be_16(RTE_ETHER_TYPE_ARP))
		return hauli_parse_arp(pkt);
	if (type == rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV4))
		return hauli_parse_ipv4(pkt);
	if (type == rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV6))
		return hauli_parse_ipv6(pkt);
	return HAUL_NET_UNSUPPORTED;
}

/* The filter that a NIC applies when it is not promiscuous. */
static bool mac_for_us(const struct haul_net_if *nif, const struct haul_pkt *pkt)
{
	const struct rte_ether_addr *dst = &pkt->eth->dst_addr;
	uint8_t group[16], mac[6];

	if (!memcmp(dst, nif->mac, sizeof(nif->mac)))
		return true;
	if (pkt->proto == HAUL_PROTO_ARP)
		return rte_is_broadcast_ether_addr(dst);
	if (pkt->ip_version != 6)
		return false;
	hauli_ip6_group(group, nif->ip6);
	hauli_ip6_group_mac(mac, group);
	return !memcmp(dst, mac, sizeof(mac));
}

enum haul_verdict haul_net_for_us(const struct haul_net_if *nif, const struct haul_pkt *pkt)
{
	if (!mac_for_us(nif, pkt))
		return HAUL_NET_NOT_FOR_US;
	if (!memcmp(&pkt->eth->src_addr, nif->mac, sizeof(nif->mac)))
		return HAUL_NET_MALFORMED;
	if (pkt->proto == HAUL_PROTO_ARP)
		return hauli_arp_for_us(nif, pkt);
	return pkt->ip_version == 4 ? hauli_ipv4_for_us(nif, pkt) : hauli_ipv6_for_us(nif, pkt);
}
