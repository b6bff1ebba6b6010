/* SPDX-License-Identifier: BSD-3-Clause */
/* The Internet checksum (RFC 1071) of an upper layer, over all segments. */
#include "net/cksum.h"

#include <netinet/in.h>

#include <rte_ip.h>

#include <haul/sum.h>

#include "base/cacheline.h"
#include "net/dpdk.h"
#include "net/pkt.h"

/*
 * Sums len bytes from offset off, which is in the first segment, as upper headers are. Not
 * rte_raw_cksum_mbuf(): as of DPDK 22.11 it truncates the unfolded sum of a segment that begins at
 * an odd offset to 16 bits, and so loses its carries.
 */
static __attribute__((noinline)) uint64_t sum_segments(
	const struct rte_mbuf *m, uint32_t off, uint32_t len)
{
	uint64_t sum = 0;
	uint32_t done = 0;

	for (; m && done < len; m = m->next, off = 0) {
		uint32_t n = RTE_MIN(rte_pktmbuf_data_len(m) - off, len - done);
		uint64_t part = haul_sum_bytes(rte_pktmbuf_mtod_offset(m, void *, off), n);

		sum += done & 1 ? rte_bswap16(haul_sum_fold(part)) : part;
		done += n;
	}
	return sum;
}

static inline __attribute__((always_inline)) uint64_t pseudo_sum(
	const struct haul_pkt *pkt, uint8_t proto, uint16_t len)
{
	/* Source and destination are adjacent in both headers. */
	uint64_t sum = pkt->ip_version == 4 ? haul_sum_bytes(&pkt->ip4->src_addr, 8)
					    : haul_sum_bytes(hauli_ip6_src(pkt->ip6), 32);

	return sum + rte_cpu_to_be_16(proto) + rte_cpu_to_be_16(len);
}

uint16_t hauli_sum(const struct haul_pkt *pkt, uint8_t proto, uint32_t off, uint16_t len)
{
	const struct rte_mbuf *m = pkt->mbuf;
	uint64_t sum;

	if (hauli_likely(off + len <= rte_pktmbuf_data_len(m)))
		sum = haul_sum_bytes(rte_pktmbuf_mtod_offset(m, void *, off), len);
	else
		sum = sum_segments(m, off, len);
	if (proto != IPPROTO_ICMP)
		sum += pseudo_sum(pkt, proto, len);
	return haul_sum_fold(sum);
}

uint64_t hauli_pseudo_sum(const struct haul_pkt *pkt, uint8_t proto, uint16_t len)
{
	return pseudo_sum(pkt, proto, len);
}
