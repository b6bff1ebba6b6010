/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers of all protocols: bounds checks, trimming, Ethernet addresses. */
#ifndef HAULI_NET_PKT_H
#define HAULI_NET_PKT_H

#include <string.h>

#include <rte_ether.h>
#include <rte_mbuf.h>

#include <haul/net.h>

#define HAULI_ND_HOPS 255 /* RFC 4861, 7.1: proves that no router has forwarded it */

/* True if an address of up to 16 bytes is all zero. */
static inline bool hauli_is_zero(const uint8_t *addr, size_t len)
{
	static const uint8_t zero[16];

	return memcmp(addr, zero, len) == 0;
}

static inline uint32_t hauli_offset(const struct haul_pkt *pkt, const void *at)
{
	return (uint32_t)((const uint8_t *)at - (const uint8_t *)pkt->eth);
}

/* Returns OK if the packet has n bytes from offset off on, else MALFORMED; UNSUPPORTED if they are
 * not all in the first segment. */
static inline enum haul_verdict hauli_need(const struct rte_mbuf *m, uint32_t off, uint32_t n)
{
	if (off + n > rte_pktmbuf_pkt_len(m))
		return HAUL_NET_MALFORMED;
	if (off + n > rte_pktmbuf_data_len(m))
		return HAUL_NET_UNSUPPORTED;
	return HAUL_NET_OK;
}

/* Trims the packet to len bytes; it must have that many. UNSUPPORTED: whole segments would have to
 * be removed. */
static inline enum haul_verdict hauli_cut(struct rte_mbuf *m, uint32_t len)
{
	uint32_t excess = rte_pktmbuf_pkt_len(m) - len;

	/* rte_pktmbuf_trim() cuts the last segment and takes a 16-bit length. */
	if (excess > UINT16_MAX || rte_pktmbuf_trim(m, (uint16_t)excess))
		return HAUL_NET_UNSUPPORTED;
	return HAUL_NET_OK;
}

/* Sets the addresses of the Ethernet frame: from nif to mac. */
static inline void hauli_eth_to(
	const struct haul_net_if *nif, struct haul_pkt *pkt, const uint8_t *mac)
{
	memcpy(&pkt->eth->dst_addr, mac, RTE_ETHER_ADDR_LEN);
	memcpy(&pkt->eth->src_addr, nif->mac, RTE_ETHER_ADDR_LEN);
}

#endif
