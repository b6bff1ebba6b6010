/* SPDX-License-Identifier: BSD-3-Clause */
#include "headers.h"

#include <string.h>

/* The first bytes of a hop-by-hop, routing or destination options header. */
struct extension {
	uint8_t next;
	uint8_t len; /* in units of 8 bytes, without the first 8 */
	uint8_t type; /* of routing */
	uint8_t left; /* of routing: segments left */
	uint8_t rest[4];
};

struct fragment {
	uint8_t next;
	uint8_t reserved;
	rte_be16_t offset; /* in the upper 13 bits; the lowest one: more follow */
	rte_be32_t id;
};

_Static_assert(sizeof(struct extension) == 8 && sizeof(struct fragment) == 8, "RFC 8200");

uint16_t fwd_skip_tags(const struct rte_mbuf *pkt, rte_be16_t *type)
{
	uint16_t off = RTE_ETHER_HDR_LEN;

	for (unsigned i = 0; i < FWD_HEADERS_TAGS_MAX && fwd_is_tag(*type); i++) {
		const struct rte_vlan_hdr *tag = rte_pktmbuf_mtod_offset(pkt, void *, off);

		off += sizeof(*tag);
		*type = off <= pkt->data_len ? tag->eth_proto : 0;
	}
	return off;
}

/* Skips the header with this number at the offset. Returns false if the upper header cannot be
 * told: the frame ends before, or the packet has not yet reached its last destination, which the
 * checksum covers, or this is not the first fragment. */
static bool skip(struct fwd_headers *h, const struct rte_mbuf *pkt, uint16_t *off)
{
	struct extension ext;
	struct fragment frag;

	if (*off + sizeof(ext) > pkt->data_len)
		return false;
	memcpy(&ext, rte_pktmbuf_mtod_offset(pkt, void *, *off), sizeof(ext));
	if (h->proto == IPPROTO_FRAGMENT) {
		memcpy(&frag, &ext, sizeof(frag));
		h->fragment = (frag.offset & RTE_BE16(0xfff9)) != 0;
		*off += sizeof(frag);
		h->proto = frag.next;
		return (frag.offset & RTE_BE16(0xfff8)) == 0;
	}
	if (h->proto == IPPROTO_ROUTING && ext.left > 0)
		return false;
	*off += (uint16_t)(8 * (ext.len + 1));
	h->proto = ext.next;
	return *off <= pkt->data_len;
}

static bool is_extension(uint8_t proto)
{
	return proto == IPPROTO_HOPOPTS || proto == IPPROTO_ROUTING || proto == IPPROTO_DSTOPTS ||
		proto == IPPROTO_FRAGMENT;
}

void fwd_find_ip6(struct fwd_headers *h, const struct rte_mbuf *pkt)
{
	const struct rte_ipv6_hdr *ip = rte_pktmbuf_mtod_offset(pkt, void *, h->l3);
	uint16_t off = h->l3 + sizeof(*ip);
	uint32_t end;

	if (off > pkt->data_len || (ip->vtc_flow & RTE_BE32(0xf0000000)) != RTE_BE32(0x60000000))
		return;
	h->version = 6;
	h->proto = ip->proto;
	h->l3_len = sizeof(*ip);
	for (unsigned i = 0; is_extension(h->proto); i++)
		if (i == FWD_HEADERS_EXTENSIONS_MAX || !skip(h, pkt, &off))
			return;
	h->l3_len = off - h->l3;
	h->l4 = off;
	end = h->l3 + sizeof(*ip) + rte_be_to_cpu_16(ip->payload_len);
	if (end >= off && end <= pkt->pkt_len)
		h->l4_len = (uint16_t)(end - off);
}
