/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mode 5tswap: exchanges source and destination of Ethernet, IPv4 or IPv6, and TCP or UDP. No
 * checksum changes, since the order of the words does not change a sum. Incomplete headers, and
 * fragments without a TCP or UDP header, stay as they are.
 */
#include <string.h>

#include "edit.h"
#include "headers.h"
#include "modes.h"

#define TUPLE_AT (RTE_ETHER_HDR_LEN + offsetof(struct rte_ipv4_hdr, src_addr))

/* Addresses and ports of an IPv4 packet without options, and four bytes that do not change. */
static inline void swap_tuple(struct rte_mbuf *pkt)
{
	uint8_t *at = rte_pktmbuf_mtod_offset(pkt, uint8_t *, TUPLE_AT);
	fwd_head t;

	memcpy(&t, at, sizeof(t));
	t = __builtin_shufflevector(t, t, 4, 5, 6, 7, 0, 1, 2, 3, 10, 11, 8, 9, 12, 13, 14, 15);
	memcpy(at, &t, sizeof(t));
}

static inline void swap_bytes(uint8_t *at, size_t len)
{
	uint8_t first[16];

	memcpy(first, at, len);
	memcpy(at, at + len, len);
	memcpy(at + len, first, len);
}

static inline bool has_ports(uint8_t proto)
{
	return proto == IPPROTO_TCP || proto == IPPROTO_UDP;
}

static __attribute__((noinline)) void swap_found(struct rte_mbuf *pkt)
{
	uint8_t *data = rte_pktmbuf_mtod(pkt, uint8_t *);
	struct fwd_headers h;

	fwd_headers_find(&h, pkt);
	if (h.version == 4)
		swap_bytes(data + h.l3 + offsetof(struct rte_ipv4_hdr, src_addr), 4);
	else if (h.version == 6)
		swap_bytes(data + h.l3 + offsetof(struct rte_ipv6_hdr, src_addr), 16);
	if (h.l4 && has_ports(h.proto) && h.l4 + 4 <= pkt->data_len)
		swap_bytes(data + h.l4, 2);
}

/* TCP or UDP over IPv4, without VLAN tag, options or fragments. */
static inline bool is_plain(const struct rte_mbuf *pkt)
{
	const struct rte_ether_hdr *eth = rte_pktmbuf_mtod(pkt, void *);
	const struct rte_ipv4_hdr *ip = (const void *)(eth + 1);

	return pkt->data_len >= TUPLE_AT + sizeof(fwd_head) &&
		eth->ether_type == RTE_BE16(RTE_ETHER_TYPE_IPV4) && ip->version_ihl == 0x45 &&
		has_ports(ip->next_proto_id) &&
		!(ip->fragment_offset & RTE_BE16(RTE_IPV4_HDR_OFFSET_MASK));
}

static inline void swap(struct rte_mbuf *pkt)
{
	if (likely(is_plain(pkt)))
		swap_tuple(pkt);
	else
		swap_found(pkt);
	fwd_swap_macs(pkt);
}

static void swap_burst(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	uint16_t i;

	n = fwd_frames(rx, pkts, n);
	for (i = 0; i < n; i++)
		swap(pkts[i]);
	haul_tx_burst(rx->peer, pkts, n);
}

static void swap_packet(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	if (!fwd_frame(rx, pkt))
		return;
	swap(pkt);
	fwd_send_packet(rx, pkt);
}

const struct fwd_mode_ops fwd_mode_swap5 = {
	.burst = swap_burst, .packet = swap_packet, .reads = true};
