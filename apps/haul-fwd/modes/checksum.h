/* SPDX-License-Identifier: BSD-3-Clause */
/* Checksums of a packet whose headers are found. All lengths were checked. */
#ifndef FWD_MODES_CHECKSUM_H
#define FWD_MODES_CHECKSUM_H

#include "headers.h"

/* Folds a sum of 32-bit words into the Internet checksum's 16 bits, not complemented. */
static inline uint16_t fwd_sum_fold(uint64_t sum)
{
	sum = (sum & UINT32_MAX) + (sum >> 32);
	sum = (sum & UINT32_MAX) + (sum >> 32);
	sum = (sum & UINT16_MAX) + (sum >> 16);
	sum = (sum & UINT16_MAX) + (sum >> 16);
	return (uint16_t)sum;
}

/* The sum over an IPv4 header with its checksum: 0xffff if that is right. */
static inline uint16_t fwd_ip4_sum(const struct rte_ipv4_hdr *ip)
{
	const uint8_t *at = (const uint8_t *)ip;
	unsigned words = ip->version_ihl & 0xf;
	uint64_t sum = 0;
	uint32_t word;
	unsigned i;

#pragma GCC unroll 5
	for (i = 0; i < 5; i++) {
		__builtin_memcpy(&word, at + 4 * i, sizeof(word));
		sum += word;
	}
	for (; unlikely(i < words); i++) {
		__builtin_memcpy(&word, at + 4 * i, sizeof(word));
		sum += word;
	}
	return fwd_sum_fold(sum);
}

/* The sum over the first len bytes from h->l4 on, and over the pseudo header with that length. */
uint16_t fwd_l4_sum(const struct rte_mbuf *pkt, const struct fwd_headers *h, uint16_t len);

/* The CRC32c of an SCTP packet, in the byte order of its header, computed with a checksum of 0. */
rte_le32_t fwd_sctp_crc(struct rte_mbuf *pkt, const struct fwd_headers *h);

#endif
