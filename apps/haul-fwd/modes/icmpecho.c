/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mode icmpecho: answers ARP requests, neighbour solicitations, and echo requests of ICMP and
 * ICMPv6, for every address that it is asked for, on the port of the request; drops all else.
 */
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <string.h>

#include <rte_arp.h>
#include <rte_icmp.h>

#include <haul/sum.h>

#include "edit.h"
#include "headers.h"
#include "modes.h"

#define ND_TARGET 8 /* offset of the target address in a neighbour solicitation */
#define REPLY_TTL 64 /* as in replies of haul_net_answer() */

/* A cheap test: false for frames that cannot be requests, which are dropped together. */
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

static inline bool is_ip4_host(rte_be32_t address)
{
	uint8_t net = *(const uint8_t *)&address;

	return net != 0 && net != IN_LOOPBACKNET && net < 224;
}

/* RFC 1624. A header is never all zero, so its checksum is never 0xffff: where the fold gives that,
 * it is 0. */
static inline rte_be16_t adjust_ttl(rte_be16_t cksum, uint8_t from, uint8_t to)
{
	rte_be16_t minus = rte_cpu_to_be_16((uint16_t)(from << 8));
	rte_be16_t plus = rte_cpu_to_be_16((uint16_t)(to << 8));
	uint16_t adjusted = haul_sum_fold((uint64_t)cksum + minus + (uint16_t)~plus);

	return adjusted == 0xffff ? 0 : adjusted;
}

/*
 * Nearly all requests: IPv4 without options, whole and in one segment, with right checksums, from a
 * host to a unicast address. Few bytes of the reply differ from those of the request. False: the
 * packet is not such a request, and is as it was.
 */
static inline bool answer_plain(struct rte_mbuf *pkt)
{
	struct rte_ether_hdr *eth = rte_pktmbuf_mtod(pkt, void *);
	struct rte_ipv4_hdr *ip = (void *)(eth + 1);
	struct rte_icmp_hdr *icmp = (void *)(ip + 1);
	uint32_t len = pkt->data_len - sizeof(*eth), total = rte_be_to_cpu_16(ip->total_length);
	rte_be32_t asked = ip->dst_addr;

	if (pkt->nb_segs != 1 || eth->ether_type != RTE_BE16(RTE_ETHER_TYPE_IPV4) ||
		len < sizeof(*ip) + sizeof(*icmp) || ip->version_ihl != RTE_IPV4_VHL_DEF ||
		ip->next_proto_id != IPPROTO_ICMP || total > len ||
		total < sizeof(*ip) + sizeof(*icmp) ||
		(ip->fragment_offset & ~RTE_BE16(RTE_IPV4_HDR_DF_FLAG)))
		return false;
	if (icmp->icmp_type != ICMP_ECHO || !rte_is_unicast_ether_addr(&eth->dst_addr) ||
		!rte_is_unicast_ether_addr(&eth->src_addr) ||
		rte_is_same_ether_addr(&eth->dst_addr, &eth->src_addr) ||
		!is_ip4_host(ip->src_addr) || !is_ip4_host(asked) || ip->src_addr == asked)
		return false;
	if (haul_sum_fold(haul_sum_bytes(ip, sizeof(*ip))) != 0xffff ||
		haul_sum_fold(haul_sum_bytes(icmp, total - (uint32_t)sizeof(*ip))) != 0xffff)
		return false;

	pkt->data_len = (uint16_t)(sizeof(*eth) + total); /* without padding */
	pkt->pkt_len = pkt->data_len;
	fwd_swap_macs(pkt);
	ip->dst_addr = ip->src_addr;
	ip->src_addr = asked;
	ip->hdr_checksum = adjust_ttl(ip->hdr_checksum, ip->time_to_live, REPLY_TTL);
	ip->time_to_live = REPLY_TTL;
	icmp->icmp_type = ICMP_ECHOREPLY;
	/* RFC 1624: the type has become 0. */
	icmp->icmp_cksum = haul_sum_fold((uint64_t)icmp->icmp_cksum + RTE_BE16(ICMP_ECHO << 8));
	return true;
}

static void answer_burst(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	uint16_t i, replies = 0, dropped = 0;
	struct rte_mbuf *others[FWD_BURST_MAX];
	enum haul_verdict v;

	n = fwd_frames(rx, pkts, n);
	for (i = 0; i < n; i++) {
		if (likely(answer_plain(pkts[i]))) {
			pkts[replies++] = pkts[i];
			continue;
		}
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
	else
		haul_send_or_drop(rx, rx->reply, pkt);
}

const struct fwd_mode_ops fwd_mode_icmpecho = {
	.burst = answer_burst,
	.packet = answer_packet,
	.reads = true,
	.replies = true,
};
