/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv6 (RFC 8200): the header, and the extension headers that are skipped. */
#include "net/ipv6.h"

#include <netinet/in.h>

#include <rte_ip.h>

#include "net/addr.h"
#include "net/dpdk.h"
#include "net/nd.h"
#include "net/pkt.h"
#include "net/upper.h"

/* Checks the options of a hop-by-hop or destination options header, RFC 8200, 4.2. */
static enum haul_verdict check_options(const uint8_t *opt, const uint8_t *end)
{
	while (opt < end) {
		if (*opt == 0) { /* Pad1 has no length */
			opt++;
			continue;
		}
		if (end - opt < 2 || opt[1] > end - opt - 2)
			return HAUL_NET_MALFORMED;
		/* haul knows no other option; the upper two bits say whether an unknown one may be
		 * skipped. */
		if (*opt >> 6)
			return HAUL_NET_UNSUPPORTED;
		opt += 2 + opt[1];
	}
	return HAUL_NET_OK;
}

/* Skips extension headers, beginning at *off with one of type *next. Sets both for the first header
 * that is none. */
static enum haul_verdict skip_extensions(const struct haul_pkt *pkt, uint32_t *off, uint8_t *next)
{
	bool first = true;

	for (;; first = false) {
		uint8_t type = *next;

		if (type == IPPROTO_FRAGMENT)
			return HAUL_NET_UNSUPPORTED;
		if (type != IPPROTO_HOPOPTS && type != IPPROTO_DSTOPTS && type != IPPROTO_ROUTING)
			return HAUL_NET_OK;
		if (type == IPPROTO_HOPOPTS && !first)
			return HAUL_NET_MALFORMED;

		enum haul_verdict v = hauli_need(pkt->mbuf, *off, 8);

		if (v)
			return v;

		const uint8_t *ext = (const uint8_t *)pkt->eth + *off;
		uint32_t len = (ext[1] + 1) * 8;

		v = hauli_need(pkt->mbuf, *off, len);
		if (v)
			return v;
		if (type == IPPROTO_ROUTING)
			v = ext[3] ? HAUL_NET_UNSUPPORTED : HAUL_NET_OK; /* segments left */
		else
			v = check_options(ext + 2, ext + len);
		if (v)
			return v;
		*next = ext[0];
		*off += len;
	}
}

enum haul_verdict hauli_parse_ipv6(struct haul_pkt *pkt)
{
	struct rte_mbuf *m = pkt->mbuf;
	const struct rte_ipv6_hdr *ip = pkt->ip6;
	uint32_t off = hauli_offset(pkt, ip) + sizeof(*ip);
	enum haul_verdict v = hauli_need(m, off - sizeof(*ip), sizeof(*ip));

	if (v)
		return v;

	uint32_t end = off + rte_be_to_cpu_16(ip->payload_len);

	if (*(const uint8_t *)ip >> 4 != 6 || end > rte_pktmbuf_pkt_len(m) ||
		hauli_ip6_src(ip)[0] == 0xff)
		return HAUL_NET_MALFORMED;
	v = hauli_cut(m, end);
	if (v)
		return v;

	pkt->ip_version = 6;
	pkt->ip_proto = ip->proto;
	v = skip_extensions(pkt, &off, &pkt->ip_proto);
	if (v)
		return v;
	return hauli_parse_upper(pkt, off, (uint16_t)(end - off));
}

enum haul_verdict hauli_ipv6_for_us(const struct haul_net_if *nif, const struct haul_pkt *pkt)
{
	const uint8_t *src = hauli_ip6_src(pkt->ip6), *dst = hauli_ip6_dst(pkt->ip6);
	bool solicitation = pkt->proto == HAUL_PROTO_ND;
	uint8_t group[16];

	if (hauli_is_zero(nif->ip6, 16))
		return HAUL_NET_NOT_FOR_US;
	hauli_ip6_group(group, nif->ip6);
	if (memcmp(dst, nif->ip6, 16) && !(solicitation && !memcmp(dst, group, 16)))
		return HAUL_NET_NOT_FOR_US;
	if (solicitation && memcmp(hauli_nd_target(pkt), nif->ip6, 16))
		return HAUL_NET_NOT_FOR_US;
	if (solicitation && hauli_nd_is_from(pkt, nif->mac))
		return HAUL_NET_MALFORMED;
	/* Only a probe has the unspecified address as source. */
	if (solicitation && hauli_is_zero(src, 16))
		return HAUL_NET_OK;
	if (!hauli_ip6_is_host(src) || !memcmp(src, nif->ip6, 16))
		return HAUL_NET_MALFORMED;
	return HAUL_NET_OK;
}
