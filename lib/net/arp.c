/* SPDX-License-Identifier: BSD-3-Clause */
/* ARP for IPv4 over Ethernet (RFC 826; probes and announcements: RFC 5227). */
#include "net/arp.h"

#include <errno.h>

#include <rte_arp.h>

#include "net/addr.h"
#include "net/build.h"
#include "net/pkt.h"

enum haul_verdict hauli_parse_arp(struct haul_pkt *pkt)
{
	uint32_t off = hauli_offset(pkt, pkt->l3);
	enum haul_verdict v = hauli_need(pkt->mbuf, off, sizeof(struct rte_arp_hdr));

	if (v)
		return v;

	const struct rte_arp_hdr *arp = pkt->arp;

	if (arp->arp_hardware != rte_cpu_to_be_16(RTE_ARP_HRD_ETHER) ||
		arp->arp_protocol != rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV4))
		return HAUL_NET_UNSUPPORTED;
	if (arp->arp_hlen != RTE_ETHER_ADDR_LEN || arp->arp_plen != 4 ||
		!rte_is_valid_assigned_ether_addr(&arp->arp_data.arp_sha))
		return HAUL_NET_MALFORMED;
	pkt->proto = HAUL_PROTO_ARP;
	pkt->payload = (uint8_t *)pkt->arp + sizeof(*arp);
	return hauli_cut(pkt->mbuf, off + sizeof(*arp));
}

enum haul_verdict hauli_arp_for_us(const struct haul_net_if *nif, const struct haul_pkt *pkt)
{
	const struct rte_arp_ipv4 *data = &pkt->arp->arp_data;
	uint8_t from[4];

	if (hauli_is_zero(nif->ip4, 4) || memcmp(&data->arp_tip, nif->ip4, 4))
		return HAUL_NET_NOT_FOR_US;
	if (!memcmp(&data->arp_sha, nif->mac, RTE_ETHER_ADDR_LEN))
		return HAUL_NET_MALFORMED;
	memcpy(from, &data->arp_sip, 4);
	/* A probe has no sender address, an announcement our own. */
	if (hauli_is_zero(from, 4) || !memcmp(from, nif->ip4, 4))
		return HAUL_NET_OK;
	if (!hauli_ip4_is_host(from) || hauli_ip4_is_edge(from, nif->ip4, nif->ip4_prefix))
		return HAUL_NET_MALFORMED;
	return HAUL_NET_OK;
}

enum haul_verdict haul_arp_reply(const struct haul_net_if *nif, struct haul_pkt *pkt)
{
	if (pkt->proto != HAUL_PROTO_ARP ||
		pkt->arp->arp_opcode != rte_cpu_to_be_16(RTE_ARP_OP_REQUEST))
		return HAUL_NET_UNSUPPORTED;

	struct rte_arp_ipv4 *data = &pkt->arp->arp_data;

	/* An announcement of our address by another host is no request. */
	if (data->arp_sip == data->arp_tip)
		return HAUL_NET_UNSUPPORTED;

	pkt->arp->arp_opcode = rte_cpu_to_be_16(RTE_ARP_OP_REPLY);
	data->arp_tha = data->arp_sha;
	data->arp_tip = data->arp_sip;
	memcpy(&data->arp_sha, nif->mac, RTE_ETHER_ADDR_LEN);
	memcpy(&data->arp_sip, nif->ip4, 4);
	hauli_eth_to(nif, pkt, data->arp_tha.addr_bytes);
	return HAUL_NET_OK;
}

/* Announcements are requests, too: RFC 5227, 3. */
static int request(struct haul_pkt *pkt, struct rte_mbuf *m, const struct haul_head *head,
	const uint8_t target[4], bool to_all)
{
	static const uint8_t broadcast[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
	int err;
	struct rte_arp_hdr *arp = hauli_build_message(m, sizeof(*arp), &err);

	if (!arp)
		return err;
	err = hauli_build_eth(pkt, m, head, to_all ? broadcast : head->dst_mac, RTE_ETHER_TYPE_ARP);
	if (err) {
		rte_pktmbuf_trim(m, sizeof(*arp));
		return err;
	}
	pkt->proto = HAUL_PROTO_ARP;
	pkt->payload = (uint8_t *)(arp + 1);
	*arp = (struct rte_arp_hdr){
		.arp_hardware = rte_cpu_to_be_16(RTE_ARP_HRD_ETHER),
		.arp_protocol = rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV4),
		.arp_hlen = RTE_ETHER_ADDR_LEN,
		.arp_plen = 4,
		.arp_opcode = rte_cpu_to_be_16(RTE_ARP_OP_REQUEST),
	};
	memcpy(&arp->arp_data.arp_sha, head->src_mac, RTE_ETHER_ADDR_LEN);
	memcpy(&arp->arp_data.arp_sip, head->src.bytes, 4);
	memcpy(&arp->arp_data.arp_tip, target, 4);
	return 0;
}

int haul_arp_request(struct haul_pkt *pkt, struct rte_mbuf *mbuf, const struct haul_head *head)
{
	const uint8_t *from = head->src.bytes;

	if (head->src.version != 4 || head->dst.version != 4 ||
		!hauli_ip4_is_host(head->dst.bytes) ||
		(!hauli_is_zero(from, 4) && !hauli_ip4_is_host(from)))
		return -EINVAL;
	return request(
		pkt, mbuf, head, head->dst.bytes, hauli_is_zero(head->dst_mac, RTE_ETHER_ADDR_LEN));
}

int haul_arp_announce(struct haul_pkt *pkt, struct rte_mbuf *mbuf, const struct haul_head *head)
{
	if (head->src.version != 4 || !hauli_ip4_is_host(head->src.bytes))
		return -EINVAL;
	return request(pkt, mbuf, head, head->src.bytes, true);
}
