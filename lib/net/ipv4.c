/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv4 (RFC 791, RFC 1122): the header and its options. */
#include "net/ipv4.h"

#include <rte_ip.h>

#include <haul/sum.h>

#include "net/addr.h"
#include "net/pkt.h"
#include "net/upper.h"

#define OPT_LSRR 131
#define OPT_SSRR 137

static enum haul_verdict check_options(const uint8_t *opt, const uint8_t *end)
{
	while (opt < end && *opt != RTE_IPV4_HDR_OPT_EOL) {
		if (*opt == RTE_IPV4_HDR_OPT_NOP) {
			opt++;
			continue;
		}
		if (end - opt < 2 || opt[1] < 2 || opt[1] > end - opt)
			return HAUL_NET_MALFORMED;
		/* A reply would have to carry the reversed route. */
		if (*opt == OPT_LSRR || *opt == OPT_SSRR)
			return HAUL_NET_UNSUPPORTED;
		opt += opt[1];
	}
	return HAUL_NET_OK;
}

enum haul_verdict hauli_parse_ipv4(struct haul_pkt *pkt)
{
	struct rte_mbuf *m = pkt->mbuf;
	const struct rte_ipv4_hdr *ip = pkt->ip4;
	uint32_t off = hauli_offset(pkt, ip);
	enum haul_verdict v = hauli_need(m, off, sizeof(*ip));

	if (v)
		return v;

	uint32_t hlen = rte_ipv4_hdr_len(ip);
	uint32_t total = rte_be_to_cpu_16(ip->total_length);

	if (ip->version_ihl >> 4 != 4 || hlen < sizeof(*ip) || total < hlen ||
		total > rte_pktmbuf_pkt_len(m) - off)
		return HAUL_NET_MALFORMED;
	v = hauli_need(m, off, hlen);
	if (v)
		return v;
	if (haul_sum_fold(haul_sum_bytes(ip, hlen)) != 0xffff)
		return HAUL_NET_MALFORMED;
	v = check_options((const uint8_t *)(ip + 1), (const uint8_t *)ip + hlen);
	if (v)
		return v;
	if (ip->fragment_offset & rte_cpu_to_be_16(RTE_IPV4_HDR_MF_FLAG | RTE_IPV4_HDR_OFFSET_MASK))
		return HAUL_NET_UNSUPPORTED;
	v = hauli_cut(m, off + total);
	if (v)
		return v;

	pkt->ip_version = 4;
	pkt->ip_proto = ip->next_proto_id;
	return hauli_parse_upper(pkt, off + hlen, (uint16_t)(total - hlen));
}

enum haul_verdict hauli_ipv4_for_us(const struct haul_net_if *nif, const struct haul_pkt *pkt)
{
	uint8_t src[4];

	if (hauli_is_zero(nif->ip4, 4) || memcmp(&pkt->ip4->dst_addr, nif->ip4, 4))
		return HAUL_NET_NOT_FOR_US;
	memcpy(src, &pkt->ip4->src_addr, 4);
	if (!hauli_ip4_is_host(src) || hauli_ip4_is_edge(src, nif->ip4, nif->ip4_prefix) ||
		!memcmp(src, nif->ip4, 4))
		return HAUL_NET_MALFORMED;
	return HAUL_NET_OK;
}
