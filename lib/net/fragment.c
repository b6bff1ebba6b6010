/* SPDX-License-Identifier: BSD-3-Clause */
#include "net/fragment.h"

#include <errno.h>
#include <netinet/in.h>

#include <rte_ip.h>

#include <haul/sum.h>

#include "net/dpdk.h"
#include "net/ident.h"
#include "net/pkt.h"

/* As on the wire. */
struct fragment_hdr {
	uint8_t next;
	uint8_t reserved;
	rte_be16_t
		at_more; /* the offset, in bytes as its lower three bits are others; bit 0: more */
	rte_be32_t id;
} __attribute__((packed));
_Static_assert(sizeof(struct fragment_hdr) == 8, "as on the wire");

#define MORE 1u
#define UNIT 8u /* offsets count these */

static enum haul_verdict find_ipv4(struct hauli_fragment *f, bool *is_fragment)
{
	struct rte_mbuf *m = f->mbuf;
	enum haul_verdict v = hauli_need(m, f->l3, sizeof(struct rte_ipv4_hdr));

	if (v)
		return v;

	const struct rte_ipv4_hdr *ip = rte_pktmbuf_mtod_offset(m, void *, f->l3);
	uint16_t bits = rte_be_to_cpu_16(ip->fragment_offset);

	if (!(bits & (RTE_IPV4_HDR_MF_FLAG | RTE_IPV4_HDR_OFFSET_MASK)))
		return HAUL_NET_OK;
	*is_fragment = true;

	uint32_t hlen = rte_ipv4_hdr_len(ip), total = rte_be_to_cpu_16(ip->total_length);

	if (ip->version_ihl >> 4 != 4 || hlen < sizeof(*ip) || total < hlen ||
		total > rte_pktmbuf_pkt_len(m) - f->l3)
		return HAUL_NET_MALFORMED;
	v = hauli_need(m, f->l3, hlen);
	if (v)
		return v;
	if (haul_sum_fold(haul_sum_bytes(ip, hlen)) != 0xffff)
		return HAUL_NET_MALFORMED;
	f->src = haul_addr_from(4, &ip->src_addr);
	f->dst = haul_addr_from(4, &ip->dst_addr);
	f->id = rte_be_to_cpu_16(ip->packet_id);
	f->proto = ip->next_proto_id;
	f->more = bits & RTE_IPV4_HDR_MF_FLAG;
	f->at = (uint16_t)((bits & RTE_IPV4_HDR_OFFSET_MASK) * UNIT);
	f->data = (uint16_t)(f->l3 + hlen);
	f->len = (uint16_t)(total - hlen);
	return hauli_cut(m, f->l3 + total);
}

/* Walks to the fragment header. Options are verified when the packet is whole. */
static enum haul_verdict find_ipv6(struct hauli_fragment *f, bool *is_fragment)
{
	struct rte_mbuf *m = f->mbuf;
	uint32_t off = f->l3 + (uint32_t)sizeof(struct rte_ipv6_hdr), len = 0;
	enum haul_verdict v = hauli_need(m, f->l3, sizeof(struct rte_ipv6_hdr));

	if (v)
		return v;

	const struct rte_ipv6_hdr *ip = rte_pktmbuf_mtod_offset(m, void *, f->l3);
	uint32_t end = off + rte_be_to_cpu_16(ip->payload_len);
	uint8_t type = ip->proto;

	f->next_at = (uint16_t)(f->l3 + offsetof(struct rte_ipv6_hdr, proto));
	for (; type != IPPROTO_FRAGMENT; off += len) {
		if (type != IPPROTO_HOPOPTS && type != IPPROTO_DSTOPTS && type != IPPROTO_ROUTING)
			return HAUL_NET_OK;
		v = hauli_need(m, off, UNIT);
		if (v)
			return v;

		const uint8_t *ext = rte_pktmbuf_mtod_offset(m, const uint8_t *, off);

		type = ext[0];
		len = (ext[1] + 1u) * UNIT;
		f->next_at = (uint16_t)off;
	}
	*is_fragment = true;
	if (*(const uint8_t *)ip >> 4 != 6 || end > rte_pktmbuf_pkt_len(m) ||
		off + sizeof(struct fragment_hdr) > end)
		return HAUL_NET_MALFORMED;
	v = hauli_need(m, off, sizeof(struct fragment_hdr));
	if (v)
		return v;

	const struct fragment_hdr *hdr = rte_pktmbuf_mtod_offset(m, void *, off);
	uint16_t at_more = rte_be_to_cpu_16(hdr->at_more);

	f->src = haul_addr_from(6, hauli_ip6_src(ip));
	f->dst = haul_addr_from(6, hauli_ip6_dst(ip));
	f->id = rte_be_to_cpu_32(hdr->id);
	f->next = hdr->next;
	f->more = at_more & MORE;
	f->at = at_more & ~(UNIT - 1);
	f->data = (uint16_t)(off + sizeof(*hdr));
	f->len = (uint16_t)(end - f->data);
	return hauli_cut(m, end);
}

/* What no packet can be made of. */
static enum haul_verdict check(const struct hauli_fragment *f)
{
	/* IPv4 counts its header in the length of the packet, IPv6 only further headers. */
	uint32_t headers = f->data - f->l3 -
		(f->src.version == 4 ? 0
				     : (uint32_t)(sizeof(struct rte_ipv6_hdr) +
					       sizeof(struct fragment_hdr)));

	if (f->len == 0 && !hauli_fragment_is_whole(f))
		return HAUL_NET_MALFORMED;
	if ((f->more && f->len % UNIT) || headers + f->at + f->len > UINT16_MAX)
		return HAUL_NET_MALFORMED;
	return HAUL_NET_OK;
}

enum haul_verdict hauli_fragment_find(
	struct hauli_fragment *f, struct rte_mbuf *m, bool *is_fragment)
{
	const struct rte_ether_hdr *eth = rte_pktmbuf_mtod(m, const struct rte_ether_hdr *);
	enum haul_verdict v = hauli_need(m, 0, sizeof(*eth));

	*is_fragment = false;
	if (v)
		return v;

	rte_be16_t type = eth->ether_type;

	*f = (struct hauli_fragment){.mbuf = m, .l3 = sizeof(*eth)};
	if (type == rte_cpu_to_be_16(RTE_ETHER_TYPE_VLAN)) {
		const struct rte_vlan_hdr *tag = (const void *)(eth + 1);

		v = hauli_need(m, 0, sizeof(*eth) + sizeof(*tag));
		if (v)
			return v;
		type = tag->eth_proto;
		f->vlan = rte_be_to_cpu_16(tag->vlan_tci) & 0xfff;
		f->l3 += sizeof(*tag);
	}
	if (type == rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV4))
		v = find_ipv4(f, is_fragment);
	else if (type == rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV6))
		v = find_ipv6(f, is_fragment);
	return v || !*is_fragment ? v : check(f);
}

void hauli_fragment_to_packet(const struct hauli_fragment *first, uint16_t len)
{
	struct rte_mbuf *m = first->mbuf;
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);

	/* What the NIC has said of its checksum is about the fragment. */
	m->ol_flags &= ~RTE_MBUF_F_RX_L4_CKSUM_MASK;
	if (first->src.version == 4) {
		struct rte_ipv4_hdr *ip = (void *)(frame + first->l3);
		uint32_t hlen = rte_ipv4_hdr_len(ip);

		ip->total_length = rte_cpu_to_be_16((uint16_t)(hlen + len));
		ip->fragment_offset = 0;
		ip->hdr_checksum = 0;
		ip->hdr_checksum = (uint16_t)~haul_sum_fold(haul_sum_bytes(ip, hlen));
		return;
	}

	struct rte_ipv6_hdr *ip = (void *)(frame + first->l3);
	uint16_t headers = (uint16_t)(first->data - sizeof(struct fragment_hdr));

	frame[first->next_at] = first->next;
	ip->payload_len = rte_cpu_to_be_16((uint16_t)(headers - first->l3 - sizeof(*ip) + len));
	memmove(frame + sizeof(struct fragment_hdr), frame, headers);
	rte_pktmbuf_adj(m, sizeof(struct fragment_hdr));
}

static uint32_t headers_len(const struct haul_pkt *pkt)
{
	return (uint32_t)sizeof(struct fragment_hdr) * (pkt->ip_version == 6) +
		(uint32_t)((const uint8_t *)pkt->l4 - (const uint8_t *)pkt->l3);
}

/* Data of all fragments but the last. */
static uint32_t share_len(const struct haul_pkt *pkt, uint16_t mtu)
{
	return (mtu - headers_len(pkt)) & ~(UNIT - 1);
}

static uint32_t data_len(const struct haul_pkt *pkt)
{
	return rte_pktmbuf_pkt_len(pkt->mbuf) - hauli_offset(pkt, pkt->l4);
}

int hauli_fragments(const struct haul_pkt *pkt, uint16_t mtu)
{
	uint32_t len = rte_pktmbuf_pkt_len(pkt->mbuf) - hauli_offset(pkt, pkt->l3);
	uint64_t l4 = pkt->mbuf->ol_flags & RTE_MBUF_F_TX_L4_MASK;

	if (len <= mtu)
		return 1;
	if (pkt->ip_version == 0)
		return -EINVAL;
	if (hauli_offset(pkt, pkt->l4) - hauli_offset(pkt, pkt->l3) !=
			(pkt->ip_version == 4 ? sizeof(*pkt->ip4) : sizeof(*pkt->ip6)) ||
		l4 != RTE_MBUF_F_TX_L4_NO_CKSUM)
		return -EINVAL;
	if (pkt->ip_version == 4 && pkt->ip4->fragment_offset)
		return -EMSGSIZE;
	if (mtu < headers_len(pkt) + UNIT)
		return -EMSGSIZE;
	return (int)((data_len(pkt) + share_len(pkt, mtu) - 1) / share_len(pkt, mtu));
}

uint32_t hauli_fragments_id(const struct haul_pkt *pkt)
{
	struct haul_addr src = haul_pkt_src(pkt), dst = haul_pkt_dst(pkt);

	return pkt->ip_version == 4 ? rte_be_to_cpu_16(pkt->ip4->packet_id)
				    : hauli_ident(&src, &dst, 0);
}

/* Copies len bytes from offset off of the packet, over all segments. */
static void copy(uint8_t *to, const struct rte_mbuf *m, uint32_t off, uint32_t len)
{
	for (; len; m = m->next) {
		uint32_t here = rte_pktmbuf_data_len(m);
		uint32_t n = off < here ? RTE_MIN(here - off, len) : 0;

		memcpy(to, rte_pktmbuf_mtod_offset(m, const void *, n ? off : 0), n);
		to += n;
		len -= n;
		off -= RTE_MIN(off, here);
	}
}

int hauli_fragment_write(
	const struct haul_pkt *pkt, uint16_t mtu, unsigned i, uint32_t id, struct rte_mbuf *into)
{
	uint32_t l3 = hauli_offset(pkt, pkt->l3), l4 = hauli_offset(pkt, pkt->l4);
	uint32_t share = share_len(pkt, mtu), at = i * share;
	uint32_t len = RTE_MIN(share, data_len(pkt) - at);
	bool v4 = pkt->ip_version == 4, more = at + len < data_len(pkt);
	uint32_t headers = l3 + headers_len(pkt);
	uint8_t *frame = (void *)rte_pktmbuf_append(into, (uint16_t)(headers + len));

	if (!frame)
		return -ENOBUFS;
	memcpy(frame, pkt->eth, l4);
	copy(frame + headers, pkt->mbuf, l4 + at, len);
	if (v4) {
		struct rte_ipv4_hdr *ip = (void *)(frame + l3);
		uint32_t bits = at / UNIT | (more ? RTE_IPV4_HDR_MF_FLAG : 0);

		ip->total_length = rte_cpu_to_be_16((uint16_t)(sizeof(*ip) + len));
		ip->fragment_offset = rte_cpu_to_be_16((uint16_t)bits);
		ip->packet_id = rte_cpu_to_be_16((uint16_t)id);
		ip->hdr_checksum = 0;
		ip->hdr_checksum = (uint16_t)~haul_sum_fold(haul_sum_bytes(ip, sizeof(*ip)));
	} else {
		struct rte_ipv6_hdr *ip = (void *)(frame + l3);
		struct fragment_hdr *hdr = (void *)(ip + 1);

		*hdr = (struct fragment_hdr){
			.next = ip->proto,
			.at_more = rte_cpu_to_be_16((uint16_t)(at | (more ? MORE : 0))),
			.id = rte_cpu_to_be_32(id),
		};
		ip->proto = IPPROTO_FRAGMENT;
		ip->payload_len = rte_cpu_to_be_16((uint16_t)(sizeof(*hdr) + len));
	}
	return 0;
}
