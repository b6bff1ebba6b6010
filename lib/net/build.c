/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets of one's own: headers in front of a payload. */
#include "net/build.h"

#include <errno.h>
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>

#include <rte_icmp.h>
#include <rte_ip.h>
#include <rte_udp.h>

#include <haul/sum.h>

#include "net/cksum.h"
#include "net/dpdk.h"
#include "net/ident.h"
#include "net/pkt.h"

#define HOPS 64

static uint32_t l2_len(const struct haul_head *head)
{
	return sizeof(struct rte_ether_hdr) + (head->vlan ? sizeof(struct rte_vlan_hdr) : 0);
}

int hauli_build_eth(struct haul_pkt *pkt, struct rte_mbuf *m, const struct haul_head *head,
	const uint8_t mac[6], uint16_t ether_type)
{
	struct rte_ether_hdr *eth = (void *)rte_pktmbuf_prepend(m, (uint16_t)l2_len(head));
	rte_be16_t type = rte_cpu_to_be_16(ether_type);

	if (!eth)
		return -ENOBUFS;
	memcpy(&eth->dst_addr, mac, RTE_ETHER_ADDR_LEN);
	memcpy(&eth->src_addr, head->src_mac, RTE_ETHER_ADDR_LEN);
	eth->ether_type = type;
	if (head->vlan) {
		struct rte_vlan_hdr *tag = (void *)(eth + 1);

		eth->ether_type = rte_cpu_to_be_16(RTE_ETHER_TYPE_VLAN);
		tag->vlan_tci = rte_cpu_to_be_16(head->vlan);
		tag->eth_proto = type;
	}
	m->ol_flags &= ~RTE_MBUF_F_TX_OFFLOAD_MASK;
	m->tx_offload = 0;
	m->l2_len = l2_len(head);
	*pkt = (struct haul_pkt){.mbuf = m, .eth = eth, .l3 = (uint8_t *)eth + l2_len(head)};
	return 0;
}

static void write_ipv4(
	const struct haul_pkt *pkt, const struct haul_head *head, uint16_t total, uint64_t offloads)
{
	struct rte_ipv4_hdr *ip = pkt->ip4;

	*ip = (struct rte_ipv4_hdr){
		.version_ihl = RTE_IPV4_VHL_DEF,
		.type_of_service = head->tos,
		.total_length = rte_cpu_to_be_16(total),
		.time_to_live = head->hops ? head->hops : HOPS,
		.next_proto_id = pkt->ip_proto,
	};
	if (head->may_fragment)
		ip->packet_id = rte_cpu_to_be_16(
			(uint16_t)hauli_ident(&head->src, &head->dst, pkt->ip_proto));
	else
		ip->fragment_offset = rte_cpu_to_be_16(RTE_IPV4_HDR_DF_FLAG);
	memcpy(&ip->src_addr, head->src.bytes, 4);
	memcpy(&ip->dst_addr, head->dst.bytes, 4);
	if (offloads & HAULI_TX_OFFLOAD_IPV4_CKSUM)
		pkt->mbuf->ol_flags |= RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM;
	else
		ip->hdr_checksum = (uint16_t)~haul_sum_fold(haul_sum_bytes(ip, sizeof(*ip)));
}

static void write_ipv6(const struct haul_pkt *pkt, const struct haul_head *head, uint16_t len)
{
	struct rte_ipv6_hdr *ip = pkt->ip6;

	ip->vtc_flow = rte_cpu_to_be_32(UINT32_C(6) << 28 | (uint32_t)head->tos << 20);
	ip->payload_len = rte_cpu_to_be_16(len);
	ip->proto = pkt->ip_proto;
	ip->hop_limits = head->hops ? head->hops : HOPS;
	hauli_ip6_set_src(ip, head->src.bytes);
	hauli_ip6_set_dst(ip, head->dst.bytes);
}

/* An error, before anything has changed. */
static int fits(const struct rte_mbuf *m, const struct haul_head *head, uint32_t headers)
{
	bool v4 = head->src.version == 4;
	uint32_t len = headers - l2_len(head) + rte_pktmbuf_pkt_len(m);
	uint32_t most = UINT16_MAX + (v4 ? 0 : (uint32_t)sizeof(struct rte_ipv6_hdr));

	if ((!v4 && head->src.version != 6) || head->dst.version != head->src.version)
		return -EINVAL;
	if (len > most || (head->mtu && len > head->mtu))
		return -EMSGSIZE;
	return rte_pktmbuf_headroom(m) < headers ? -ENOBUFS : 0;
}

int hauli_build_ip(struct haul_pkt *pkt, struct rte_mbuf *m, const struct haul_head *head,
	uint8_t proto, uint32_t l4_len, uint64_t offloads)
{
	bool v4 = head->src.version == 4;
	uint32_t l3_len = v4 ? sizeof(struct rte_ipv4_hdr) : sizeof(struct rte_ipv6_hdr);
	uint32_t payload_len = rte_pktmbuf_pkt_len(m);
	uint16_t upper = (uint16_t)(l4_len + payload_len);
	int err = fits(m, head, l2_len(head) + l3_len + l4_len);

	if (err)
		return err;
	rte_pktmbuf_prepend(m, (uint16_t)(l3_len + l4_len));
	hauli_build_eth(
		pkt, m, head, head->dst_mac, v4 ? RTE_ETHER_TYPE_IPV4 : RTE_ETHER_TYPE_IPV6);
	m->l3_len = l3_len;
	pkt->ip_version = head->src.version;
	pkt->ip_proto = proto;
	pkt->l4 = (uint8_t *)pkt->l3 + l3_len;
	pkt->payload = (uint8_t *)pkt->l4 + l4_len;
	pkt->payload_len = (uint16_t)payload_len;
	if (v4)
		write_ipv4(pkt, head, (uint16_t)(l3_len + upper), offloads);
	else
		write_ipv6(pkt, head, upper);
	return 0;
}

uint16_t hauli_build_upper_len(const struct haul_pkt *pkt)
{
	return (uint16_t)(pkt->payload - (uint8_t *)pkt->l4 + pkt->payload_len);
}

void *hauli_build_message(struct rte_mbuf *m, uint16_t len, int *err)
{
	void *message;

	*err = -EINVAL;
	if (rte_pktmbuf_pkt_len(m) || m->nb_segs != 1)
		return NULL;
	*err = -ENOBUFS;
	message = rte_pktmbuf_append(m, len);
	if (message)
		*err = 0;
	return message;
}

int haul_build_udp(struct haul_pkt *pkt, struct rte_mbuf *payload, const struct haul_head *head,
	uint16_t src_port, uint16_t dst_port, uint64_t offloads)
{
	int err = hauli_build_ip(
		pkt, payload, head, IPPROTO_UDP, sizeof(struct rte_udp_hdr), offloads);

	if (err)
		return err;

	uint16_t len = hauli_build_upper_len(pkt), cksum;
	struct rte_udp_hdr *udp = pkt->udp;

	pkt->proto = HAUL_PROTO_UDP;
	udp->src_port = rte_cpu_to_be_16(src_port);
	udp->dst_port = rte_cpu_to_be_16(dst_port);
	udp->dgram_len = rte_cpu_to_be_16(len);
	udp->dgram_cksum = 0;
	if (offloads & HAULI_TX_OFFLOAD_UDP_CKSUM) {
		/* The PMD goes on from the sum of the pseudo header. */
		payload->ol_flags |= RTE_MBUF_F_TX_UDP_CKSUM |
			(pkt->ip_version == 4 ? RTE_MBUF_F_TX_IPV4 : RTE_MBUF_F_TX_IPV6);
		payload->l4_len = sizeof(*udp);
		udp->dgram_cksum = haul_sum_fold(hauli_pseudo_sum(pkt, IPPROTO_UDP, len));
		return 0;
	}
	cksum = (uint16_t)~hauli_sum(pkt, IPPROTO_UDP, hauli_offset(pkt, udp), len);
	udp->dgram_cksum = cksum ? cksum : 0xffff;
	return 0;
}

int haul_build_echo(struct haul_pkt *pkt, struct rte_mbuf *payload, const struct haul_head *head,
	enum haul_echo type, uint16_t id, uint16_t sequence, uint64_t offloads)
{
	static const uint8_t types4[] = {ICMP_ECHO, ICMP_ECHOREPLY};
	static const uint8_t types6[] = {ICMP6_ECHO_REQUEST, ICMP6_ECHO_REPLY};
	bool v4 = head->src.version == 4;
	uint8_t proto = v4 ? IPPROTO_ICMP : IPPROTO_ICMPV6;
	int err = hauli_build_ip(pkt, payload, head, proto, sizeof(struct rte_icmp_hdr), offloads);

	if (err)
		return err;
	pkt->proto = v4 ? HAUL_PROTO_ICMP : HAUL_PROTO_ICMP6;
	*pkt->icmp = (struct rte_icmp_hdr){
		.icmp_type = v4 ? types4[type] : types6[type],
		.icmp_ident = rte_cpu_to_be_16(id),
		.icmp_seq_nb = rte_cpu_to_be_16(sequence),
	};
	pkt->icmp->icmp_cksum = (rte_be16_t)~hauli_sum(
		pkt, proto, hauli_offset(pkt, pkt->l4), hauli_build_upper_len(pkt));
	return 0;
}

int haul_build_ip(struct haul_pkt *pkt, struct rte_mbuf *payload, const struct haul_head *head,
	uint8_t proto, uint64_t offloads)
{
	return hauli_build_ip(pkt, payload, head, proto, 0, offloads);
}
