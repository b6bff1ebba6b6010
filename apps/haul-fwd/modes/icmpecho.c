/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mode icmpecho: answers ARP requests, neighbour solicitations, and echo requests of ICMP and
 * ICMPv6, for every address that it is asked for, on the port of the request; drops all else.
 */
#include <string.h>

#include <rte_arp.h>
#include <rte_icmp.h>

#include "edit.h"
#include "headers.h"
#include "modes.h"

#define ND_TARGET 8 /* offset of the target address in a neighbour solicitation */

/* Frames that are cheaply told to be no requests are dropped together. */
static inline bool may_be_request(const struct rte_mbuf *pkt)
{
	const struct rte_ether_hdr *eth = rte_pktmbuf_mtod(pkt, void *);
	const struct rte_ipv4_hdr *ip = (const void *)(eth + 1);

	if (eth->ether_type == RTE_BE16(RTE_ETHER_TYPE_IPV4))
		return pkt->data_len >= sizeof(*eth) + sizeof(*ip) &&
			ip->next_proto_id == IPPROTO_ICMP;
	return eth->ether_type == RTE_BE16(RTE_ETHER_TYPE_ARP) ||
		eth->ether_type == RTE_BE16(RTE_ETHER_TYPE_IPV6) || fwd_is_tag(eth->ether_type);
}

/* The interface that a request is sent to, whatever its addresses are. mac: of the port, for
 * requests to a group. */
static void interface_of(
	struct haul_net_if *nif, const struct haul_pkt *pkt, const struct rte_ether_addr *mac)
{
	*nif = (struct haul_net_if){.ip4_prefix = 32, .ip6_prefix = 128};
	if (rte_is_unicast_ether_addr(&pkt->eth->dst_addr))
		mac = &pkt->eth->dst_addr;
	memcpy(nif->mac, mac, sizeof(nif->mac));
	if (pkt->proto == HAUL_PROTO_ARP)
		memcpy(nif->ip4, &pkt->arp->arp_data.arp_tip, sizeof(nif->ip4));
	else if (pkt->proto == HAUL_PROTO_ND)
		memcpy(nif->ip6, (const uint8_t *)pkt->l4 + ND_TARGET, sizeof(nif->ip6));
	else if (pkt->proto == HAUL_PROTO_ICMP)
		memcpy(nif->ip4, &pkt->ip4->dst_addr, sizeof(nif->ip4));
	else
		memcpy(nif->ip6, &pkt->ip6->dst_addr, sizeof(nif->ip6));
}

static bool is_to_ip4_group(const struct haul_pkt *pkt)
{
	/* 224.0.0.0/4 */
	return pkt->proto == HAUL_PROTO_ICMP && *(const uint8_t *)&pkt->ip4->dst_addr >> 4 == 0xe;
}

/* Answers an echo request to an IPv4 group. As testpmd, from an address in the network of the asker
 * that is not the asker's. */
static enum haul_verdict answer_to_group(struct haul_net_if *nif, struct haul_pkt *pkt)
{
	uint32_t asker = rte_be_to_cpu_32(pkt->ip4->src_addr);
	rte_be32_t source = rte_cpu_to_be_32((asker & ~3u) | ((asker & 3) == 1 ? 2 : 1));
	struct haul_net_if group = *nif;
	enum haul_verdict v;

	memcpy(group.mac, &pkt->eth->dst_addr, sizeof(group.mac));
	v = haul_net_for_us(&group, pkt);
	if (v != HAUL_NET_OK)
		return v;
	memcpy(nif->ip4, &source, sizeof(source));
	return haul_icmp_echo_reply(nif, pkt);
}

static enum haul_verdict answer(struct haul_rx *rx, struct rte_mbuf *mbuf)
{
	const struct fwd *fwd = rx->arg;
	struct haul_net_if nif;
	struct haul_pkt pkt;
	enum haul_verdict v = haul_net_parse(&pkt, mbuf);

	if (v != HAUL_NET_OK)
		return v;
	if (pkt.proto == HAUL_PROTO_UDP || pkt.proto == HAUL_PROTO_OTHER)
		return HAUL_NET_UNSUPPORTED;
	interface_of(&nif, &pkt, &fwd->ports[rx->port].mac);
	if (is_to_ip4_group(&pkt))
		return answer_to_group(&nif, &pkt);
	return haul_net_answer(&nif, &pkt);
}

static void answer_burst(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	uint16_t i, replies = 0, dropped = 0;
	struct rte_mbuf *others[FWD_BURST_MAX];
	enum haul_verdict v;

	n = fwd_frames(rx, pkts, n);
	for (i = 0; i < n; i++) {
		if (!may_be_request(pkts[i])) {
			others[dropped++] = pkts[i];
			continue;
		}
		v = answer(rx, pkts[i]);
		if (v == HAUL_NET_OK)
			pkts[replies++] = pkts[i];
		else
			haul_drop_verdict(rx, pkts[i], v);
	}
	if (dropped > 0)
		haul_drop(rx, others, dropped, HAUL_DROP_UNSUPPORTED);
	if (replies > 0)
		haul_tx_burst(rx->reply, pkts, replies);
}

static void answer_packet(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	enum haul_verdict v = answer(rx, pkt);

	if (v != HAUL_NET_OK)
		haul_drop_verdict(rx, pkt, v);
	else if (haul_send(rx->reply, pkt) != 0)
		haul_drop(rx, &pkt, 1, HAUL_DROP_STOPPING);
}

const struct fwd_mode_ops fwd_mode_icmpecho = {
	.burst = answer_burst, .packet = answer_packet, .reads = true};
