/* SPDX-License-Identifier: BSD-3-Clause */
/* Checksums of a packet whose headers are found. All lengths were checked. */
#ifndef FWD_MODES_CHECKSUM_H
#define FWD_MODES_CHECKSUM_H

#include <haul/sum.h>

#include "headers.h"

/* The sum over an IPv4 header with its checksum: 0xffff if that is right. */
static inline uint16_t fwd_ip4_sum(const struct rte_ipv4_hdr *ip)
{
	/* A constant length for the usual header: no loop. */
	if (likely(ip->version_ihl == RTE_IPV4_VHL_DEF))
		return haul_sum_fold(haul_sum_bytes(ip, sizeof(*ip)));
	return haul_sum_fold(haul_sum_bytes(ip, rte_ipv4_hdr_len(ip)));
}

/* The sum over the first len bytes from h->l4 on, and over the pseudo header with that length. */
uint16_t fwd_l4_sum(const struct rte_mbuf *pkt, const struct fwd_headers *h, uint16_t len);

/* The CRC32c of an SCTP packet, in the byte order of its header, computed with a checksum of 0. */
rte_le32_t fwd_sctp_crc(struct rte_mbuf *pkt, const struct fwd_headers *h);

#endif
