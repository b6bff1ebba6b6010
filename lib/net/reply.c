/* SPDX-License-Identifier: BSD-3-Clause */
#include "net/reply.h"

#include <rte_ip.h>

#include <haul/sum.h>

#include "net/dpdk.h"
#include "net/pkt.h"

#define HOPS 64

void hauli_ip_finish(struct haul_pkt *pkt, uint8_t hops, uint16_t len)
{
	uint32_t headers = hauli_offset(pkt, pkt->l4) - hauli_offset(pkt, pkt->l3);

	if (pkt->ip_version == 4) {
		/* Identification and DF stay. We send replies only, so an identification that is
		 * unique from the peer to us is unique from us to the peer, too. */
		pkt->ip4->total_length = rte_cpu_to_be_16((uint16_t)(headers + len));
		pkt->ip4->time_to_live = hops;
		pkt->ip4->hdr_checksum = 0;
		pkt->ip4->hdr_checksum =
			(uint16_t)~haul_sum_fold(haul_sum_bytes(pkt->ip4, headers));
	} else {
		uint32_t extensions = headers - sizeof(*pkt->ip6);

		pkt->ip6->payload_len = rte_cpu_to_be_16((uint16_t)(extensions + len));
		pkt->ip6->hop_limits = hops;
	}
}

/* Removes options and extension headers between the IP header and the upper layer. */
static void strip(struct haul_pkt *pkt)
{
	uint32_t l3 = hauli_offset(pkt, pkt->l3);
	uint32_t keep = l3 + (pkt->ip_version == 4 ? sizeof(*pkt->ip4) : sizeof(*pkt->ip6));
	uint32_t n = hauli_offset(pkt, pkt->l4) - keep;

	if (n == 0)
		return;
	memmove((uint8_t *)pkt->eth + n, pkt->eth, keep);
	pkt->eth = (void *)rte_pktmbuf_adj(pkt->mbuf, (uint16_t)n);
	pkt->l3 = (uint8_t *)pkt->eth + l3;
	if (pkt->ip_version == 4)
		pkt->ip4->version_ihl = RTE_IPV4_VHL_DEF;
	else
		pkt->ip6->proto = pkt->ip_proto;
}

enum haul_verdict hauli_reply(const struct haul_net_if *nif, struct haul_pkt *pkt)
{
	uint32_t end = hauli_offset(pkt, pkt->payload) + pkt->payload_len;
	uint32_t l4_len = end - hauli_offset(pkt, pkt->l4);
	enum haul_verdict v = hauli_cut(pkt->mbuf, end);

	if (v)
		return v;
	strip(pkt);
	hauli_eth_to(nif, pkt, pkt->eth->src_addr.addr_bytes);
	if (pkt->ip_version == 4) {
		pkt->ip4->dst_addr = pkt->ip4->src_addr;
		memcpy(&pkt->ip4->src_addr, nif->ip4, 4);
	} else {
		hauli_ip6_set_dst(pkt->ip6, hauli_ip6_src(pkt->ip6));
		hauli_ip6_set_src(pkt->ip6, nif->ip6);
	}
	hauli_ip_finish(pkt, HOPS, (uint16_t)l4_len);
	return HAUL_NET_OK;
}
