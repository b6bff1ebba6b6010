/* SPDX-License-Identifier: BSD-3-Clause */
#include "checksum.h"

#include <string.h>

#include <rte_hash_crc.h>
#include <rte_sctp.h>

/* Calls fn with each contiguous part of the len bytes from offset off on, which is in the first
 * segment. done: bytes before the part. */
static inline __attribute__((always_inline)) void each_part(const struct rte_mbuf *pkt,
	uint32_t off, uint32_t len,
	void (*fn)(void *arg, const void *data, uint32_t n, uint32_t done), void *arg)
{
	uint32_t n, done = 0;

	for (; pkt && done < len; pkt = pkt->next, off = 0, done += n) {
		n = RTE_MIN(pkt->data_len - off, len - done);
		fn(arg, rte_pktmbuf_mtod_offset(pkt, void *, off), n, done);
	}
}

/* Not rte_raw_cksum_mbuf(): as of DPDK 22.11 it loses carries of a segment that begins at an odd
 * offset. */
static inline void add_part(void *arg, const void *data, uint32_t n, uint32_t done)
{
	uint64_t part = haul_sum_bytes(data, n);

	*(uint64_t *)arg += done & 1 ? rte_bswap16(haul_sum_fold(part)) : part;
}

/* Source and destination address are adjacent. */
static uint64_t sum_of_addresses(const struct rte_mbuf *pkt, const struct fwd_headers *h)
{
	const uint8_t *l3 = rte_pktmbuf_mtod_offset(pkt, uint8_t *, h->l3);

	if (h->version == 4)
		return haul_sum_bytes(l3 + offsetof(struct rte_ipv4_hdr, src_addr), 8);
	return haul_sum_bytes(l3 + offsetof(struct rte_ipv6_hdr, src_addr), 32);
}

uint16_t fwd_l4_sum(const struct rte_mbuf *pkt, const struct fwd_headers *h, uint16_t len)
{
	uint64_t sum =
		sum_of_addresses(pkt, h) + rte_cpu_to_be_16(h->proto) + rte_cpu_to_be_16(len);

	each_part(pkt, h->l4, len, add_part, &sum);
	return haul_sum_fold(sum);
}

static inline void crc_part(void *arg, const void *data, uint32_t n, uint32_t done)
{
	const uint8_t *bytes = data;
	uint32_t *crc = arg;
	uint64_t word;

	/* Not rte_hash_crc(), which wants aligned data. */
	for (; n >= sizeof(word); n -= sizeof(word), bytes += sizeof(word)) {
		memcpy(&word, bytes, sizeof(word));
		*crc = rte_hash_crc_8byte(word, *crc);
	}
	while (n-- > 0)
		*crc = rte_hash_crc_1byte(*bytes++, *crc);
}

rte_le32_t fwd_sctp_crc(struct rte_mbuf *pkt, const struct fwd_headers *h)
{
	struct rte_sctp_hdr *sctp = rte_pktmbuf_mtod_offset(pkt, struct rte_sctp_hdr *, h->l4);
	rte_be32_t old = sctp->cksum;
	uint32_t crc = UINT32_MAX;

	sctp->cksum = 0;
	each_part(pkt, h->l4, h->l4_len, crc_part, &crc);
	sctp->cksum = old;
	return rte_cpu_to_le_32(~crc);
}
