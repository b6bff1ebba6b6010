/* SPDX-License-Identifier: BSD-3-Clause */
/* What the protocols share: bounds, trimming, sums over a packet, and turning a packet round. */
#ifndef HAULI_NET_PKT_H
#define HAULI_NET_PKT_H

#include <string.h>

#include <rte_ether.h>
#include <rte_mbuf.h>

#include <haul/net.h>

#define HAULI_ND_HOPS 255 /* RFC 4861, 7.1: proof that no router passed it on */

/* Whether an address of up to 16 bytes is all zero. */
static inline bool hauli_is_zero(const uint8_t *addr, size_t len)
{
	static const uint8_t zero[16];

	return memcmp(addr, zero, len) == 0;
}

static inline uint32_t hauli_offset(const struct haul_pkt *pkt, const void *at)
{
	return (uint32_t)((const uint8_t *)at - (const uint8_t *)pkt->eth);
}

/* Whether n bytes from offset off on are there (else MALFORMED) and in the first segment (else
 * UNSUPPORTED). */
static inline enum haul_verdict hauli_need(const struct rte_mbuf *m, uint32_t off, uint32_t n)
{
	if (off + n > rte_pktmbuf_pkt_len(m))
		return HAUL_NET_MALFORMED;
	if (off + n > rte_pktmbuf_data_len(m))
		return HAUL_NET_UNSUPPORTED;
	return HAUL_NET_OK;
}

/* Cuts the packet to len bytes, at most what it has. UNSUPPORTED: that would take segments away. */
static inline enum haul_verdict hauli_cut(struct rte_mbuf *m, uint32_t len)
{
	uint32_t excess = rte_pktmbuf_pkt_len(m) - len;

	/* rte_pktmbuf_trim() cuts the last segment and takes a 16-bit length. */
	if (excess > UINT16_MAX || rte_pktmbuf_trim(m, (uint16_t)excess))
		return HAUL_NET_UNSUPPORTED;
	return HAUL_NET_OK;
}

/*
 * The Internet checksum's sum, folded but not complemented, over the packet's len bytes from off on
 * and the pseudo header of its IP addresses, proto and len (not for ICMP, which has none). The
 * bytes must be there, and off in the first segment. 0xffff when they hold a right checksum.
 */
uint16_t hauli_sum(const struct haul_pkt *pkt, uint8_t proto, uint32_t off, uint16_t len);

/* Parse steps: pkt is filled up to the layer below. */
enum haul_verdict hauli_parse_arp(struct haul_pkt *pkt);
enum haul_verdict hauli_parse_ipv4(struct haul_pkt *pkt);
enum haul_verdict hauli_parse_ipv6(struct haul_pkt *pkt);
enum haul_verdict hauli_parse_icmp(struct haul_pkt *pkt);
enum haul_verdict hauli_parse_nd(struct haul_pkt *pkt);
enum haul_verdict hauli_parse_udp(struct haul_pkt *pkt);

/*
 * The upper layer of an IP packet: it begins at offset off and is len bytes long, the end of the
 * packet.
 */
enum haul_verdict hauli_parse_upper(struct haul_pkt *pkt, uint32_t off, uint16_t len);

/* Whether the packet's IP addresses (ARP's, ND's) are for nif, as haul_net_for_us() says. */
enum haul_verdict hauli_arp_for_us(const struct haul_net_if *nif, const struct haul_pkt *pkt);
enum haul_verdict hauli_ipv4_for_us(const struct haul_net_if *nif, const struct haul_pkt *pkt);
enum haul_verdict hauli_ipv6_for_us(const struct haul_net_if *nif, const struct haul_pkt *pkt);

/* The IPv6 address that a neighbour solicitation asks for. */
const uint8_t *hauli_nd_target(const struct haul_pkt *pkt);
/* Whether it says that its sender has that MAC address. */
bool hauli_nd_is_from(const struct haul_pkt *pkt, const uint8_t *mac);

/*
 * Sends an IP packet back: Ethernet and IP addresses exchanged, options and extension headers taken
 * out, a fresh hop limit, lengths that end behind the payload. UNSUPPORTED: the mbuf cannot be cut
 * to them, nothing changed.
 */
enum haul_verdict hauli_turn(const struct haul_net_if *nif, struct haul_pkt *pkt);

/* Lengths, hop limit and checksum of the IP header for an upper layer of len bytes. */
void hauli_ip_finish(struct haul_pkt *pkt, uint8_t hops, uint16_t len);

/* Addresses the Ethernet frame: from nif to the given address. */
static inline void hauli_eth_to(
	const struct haul_net_if *nif, struct haul_pkt *pkt, const uint8_t *mac)
{
	memcpy(&pkt->eth->dst_addr, mac, RTE_ETHER_ADDR_LEN);
	memcpy(&pkt->eth->src_addr, nif->mac, RTE_ETHER_ADDR_LEN);
}

#endif
