/* SPDX-License-Identifier: BSD-3-Clause */
/* Headers in front of a payload, for all protocols. */
#ifndef HAULI_NET_BUILD_H
#define HAULI_NET_BUILD_H

#include <haul/build.h>

/* RTE_ETH_TX_OFFLOAD_*: lib includes no header of ethdevs, drivers-glue/io/tx.c compares them. */
#define HAULI_TX_OFFLOAD_IPV4_CKSUM (UINT64_C(1) << 1)
#define HAULI_TX_OFFLOAD_UDP_CKSUM (UINT64_C(1) << 2)

/*
 * Puts the Ethernet header, to mac, in front of the data of m, and sets *pkt up to l3. 0; -ENOBUFS:
 * nothing has changed.
 */
int hauli_build_eth(struct haul_pkt *pkt, struct rte_mbuf *m, const struct haul_head *head,
	const uint8_t mac[6], uint16_t ether_type);

/*
 * The same with an IP header, and room for the header of the upper protocol, of l4_len bytes, which
 * the caller writes. Sets all of *pkt but proto. Errors as haul_build_ip().
 */
int hauli_build_ip(struct haul_pkt *pkt, struct rte_mbuf *m, const struct haul_head *head,
	uint8_t proto, uint32_t l4_len, uint64_t offloads);

/* Adds len bytes to an empty mbuf, which hauli_build_*() turns into a packet. NULL: *err says why.
 */
void *hauli_build_message(struct rte_mbuf *m, uint16_t len, int *err);

/* All bytes of the upper layer of a built packet. */
uint16_t hauli_build_upper_len(const struct haul_pkt *pkt);

#endif
