/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the IP header and the upper header of a frame, which may contain anything: both are found
 * only if they are complete in the first segment.
 */
#ifndef FWD_MODES_HEADERS_H
#define FWD_MODES_HEADERS_H

#include <netinet/in.h>

#include <rte_byteorder.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_mbuf.h>

struct fwd_headers {
	uint8_t version; /* of IP, 4 or 6; 0: no IP header */
	uint8_t proto; /* number of the upper protocol */
	bool fragment;
	uint16_t l3; /* offset of the IP header */
	uint16_t l3_len; /* with options and extension headers */
	/* Of the upper header; 0: there is none, since this is not the first fragment, or haul-fwd
	 * does not know what precedes it. */
	uint16_t l4;
	uint16_t l4_len; /* from l4 to the end of the IP packet; 0: unknown */
};

#define FWD_HEADERS_TAGS_MAX 4 /* VLAN tags, and IPv6 extension headers: more are not skipped */
#define FWD_HEADERS_EXTENSIONS_MAX 8

static inline bool fwd_is_tag(rte_be16_t type)
{
	return type == RTE_BE16(RTE_ETHER_TYPE_VLAN) || type == RTE_BE16(RTE_ETHER_TYPE_QINQ);
}

/* Skips VLAN tags: returns the offset of what follows, and its type in *type, which is 0 if the
 * frame ends before. */
uint16_t fwd_skip_tags(const struct rte_mbuf *pkt, rte_be16_t *type);

void fwd_find_ip6(struct fwd_headers *h, const struct rte_mbuf *pkt);

static inline void fwd_find_ip4(struct fwd_headers *h, const struct rte_mbuf *pkt)
{
	const struct rte_ipv4_hdr *ip = rte_pktmbuf_mtod_offset(pkt, void *, h->l3);
	uint32_t room = pkt->data_len - h->l3;
	uint16_t len, frag;

	if (unlikely(room < sizeof(*ip)))
		return;
	len = (ip->version_ihl & 0xf) * 4;
	if (unlikely(ip->version_ihl >> 4 != 4 || len < sizeof(*ip) || len > room))
		return;
	h->version = 4;
	h->proto = ip->next_proto_id;
	h->l3_len = len;
	frag = ip->fragment_offset & RTE_BE16(RTE_IPV4_HDR_MF_FLAG | RTE_IPV4_HDR_OFFSET_MASK);
	h->fragment = frag != 0;
	if (unlikely(frag & RTE_BE16(RTE_IPV4_HDR_OFFSET_MASK)))
		return;
	h->l4 = h->l3 + len;
	len = rte_be_to_cpu_16(ip->total_length);
	if (likely(len >= h->l3_len && len <= pkt->pkt_len - h->l3))
		h->l4_len = len - h->l3_len;
}

/* Fills *h. pkt has at least an Ethernet header. */
static inline void fwd_headers_find(struct fwd_headers *h, const struct rte_mbuf *pkt)
{
	rte_be16_t type = rte_pktmbuf_mtod(pkt, struct rte_ether_hdr *)->ether_type;

	*h = (struct fwd_headers){.l3 = RTE_ETHER_HDR_LEN};
	if (unlikely(fwd_is_tag(type)))
		h->l3 = fwd_skip_tags(pkt, &type);
	if (type == RTE_BE16(RTE_ETHER_TYPE_IPV4))
		fwd_find_ip4(h, pkt);
	else if (type == RTE_BE16(RTE_ETHER_TYPE_IPV6))
		fwd_find_ip6(h, pkt);
}

#endif
