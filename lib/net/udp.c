/* SPDX-License-Identifier: BSD-3-Clause */
/* UDP (RFC 768; over IPv6: RFC 8200, 8.1). */
#include "net/udp.h"

#include <errno.h>
#include <netinet/in.h>

#include <rte_ip.h>
#include <rte_udp.h>

#include "net/cksum.h"
#include "net/pkt.h"
#include "net/reply.h"

enum haul_verdict hauli_parse_udp(struct haul_pkt *pkt)
{
	struct rte_udp_hdr *udp = pkt->udp;
	uint32_t off = hauli_offset(pkt, udp);
	enum haul_verdict v = hauli_need(pkt->mbuf, off, sizeof(*udp));

	if (v)
		return v;

	uint16_t len = rte_be_to_cpu_16(udp->dgram_len);

	/* Bytes of the IP payload beyond UDP's length are not part of the datagram. */
	if (len < sizeof(*udp) || len > pkt->payload_len)
		return HAUL_NET_MALFORMED;
	if (udp->dgram_cksum == 0) {
		if (pkt->ip_version == 6)
			return HAUL_NET_MALFORMED;
	} else if (hauli_sum(pkt, IPPROTO_UDP, off, len) != 0xffff) {
		return HAUL_NET_MALFORMED;
	}
	pkt->proto = HAUL_PROTO_UDP;
	pkt->payload += sizeof(*udp);
	pkt->payload_len = (uint16_t)(len - sizeof(*udp));
	return HAUL_NET_OK;
}

enum haul_verdict haul_udp_reply(const struct haul_net_if *nif, struct haul_pkt *pkt)
{
	/* RFC 768: a source port of zero means that no reply is expected. */
	if (pkt->proto != HAUL_PROTO_UDP || pkt->udp->src_port == 0)
		return HAUL_NET_UNSUPPORTED;

	enum haul_verdict v = hauli_reply(nif, pkt);

	if (v)
		return v;

	/* The sum does not depend on the order of addresses and ports. */
	rte_be16_t port = pkt->udp->src_port;

	pkt->udp->src_port = pkt->udp->dst_port;
	pkt->udp->dst_port = port;
	return HAUL_NET_OK;
}

int haul_udp_set_payload(struct haul_pkt *pkt, const void *data, size_t len)
{
	struct rte_mbuf *m = pkt->mbuf;

	if (pkt->proto != HAUL_PROTO_UDP)
		return -EINVAL;
	if (m->nb_segs != 1)
		return -EMSGSIZE;

	uint32_t off = hauli_offset(pkt, pkt->payload);
	size_t now = rte_pktmbuf_pkt_len(m) - off;
	uint32_t headers = off - hauli_offset(pkt, pkt->l3);

	if (len > UINT16_MAX - headers || (len > now && len - now > rte_pktmbuf_tailroom(m)))
		return -EMSGSIZE;
	memmove(pkt->payload, data, len);
	if (len > now)
		rte_pktmbuf_append(m, (uint16_t)(len - now));
	else
		rte_pktmbuf_trim(m, (uint16_t)(now - len));
	pkt->payload_len = (uint16_t)len;

	uint16_t l4_len = (uint16_t)(sizeof(*pkt->udp) + len);

	hauli_ip_finish(
		pkt, pkt->ip_version == 4 ? pkt->ip4->time_to_live : pkt->ip6->hop_limits, l4_len);
	pkt->udp->dgram_len = rte_cpu_to_be_16(l4_len);
	pkt->udp->dgram_cksum = 0;

	uint16_t cksum =
		(uint16_t)~hauli_sum(pkt, IPPROTO_UDP, hauli_offset(pkt, pkt->udp), l4_len);

	pkt->udp->dgram_cksum = cksum ? cksum : 0xffff;
	return 0;
}
