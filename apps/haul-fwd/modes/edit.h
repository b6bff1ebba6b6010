/* SPDX-License-Identifier: BSD-3-Clause */
/* Modes that edit the headers of each frame: the loop over a burst, and the same for one packet. */
#ifndef FWD_MODES_EDIT_H
#define FWD_MODES_EDIT_H

#include <rte_prefetch.h>

#include "../mode.h"

static inline bool fwd_is_frame(const struct rte_mbuf *pkt)
{
	return pkt->data_len >= RTE_ETHER_HDR_LEN;
}

/* Drops frames shorter than an Ethernet header. Returns the number of the others. */
uint16_t fwd_drop_runts(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n);

/* Sends a packet in a coroutine: waits while the queue is full; at max_in_flight waiting handlers,
 * packets stay in the NIC. */
static inline void fwd_send_packet(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	haul_send_or_drop(rx, rx->peer, pkt);
}

/* Handlers that drop what they receive. */
void fwd_drop_burst(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n);
void fwd_drop_packet(struct haul_rx *rx, struct rte_mbuf *pkt);

static inline __attribute__((always_inline)) void fwd_prefetch(struct rte_mbuf **pkts, uint16_t n)
{
	unsigned i;

#pragma GCC unroll 4
	for (i = 0; i < n; i++)
		rte_prefetch0(rte_pktmbuf_mtod(pkts[i], void *));
}

/* Prefetches all headers, so that cache misses overlap, and drops runts. Returns the number of the
 * other packets. */
static inline __attribute__((always_inline)) uint16_t fwd_frames(
	struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	bool runts = false;
	unsigned i;

#pragma GCC unroll 4
	for (i = 0; i < n; i++) {
		rte_prefetch0(rte_pktmbuf_mtod(pkts[i], void *));
		runts |= !fwd_is_frame(pkts[i]);
	}
	return unlikely(runts) ? fwd_drop_runts(rx, pkts, n) : n;
}

/* Drops a runt: then returns false. */
static inline bool fwd_frame(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	if (likely(fwd_is_frame(pkt)))
		return true;
	haul_drop(rx, &pkt, 1, HAUL_DROP_MALFORMED);
	return false;
}

/* The first 16 bytes of a frame: both addresses, the type, and two bytes that do not change. */
typedef uint8_t fwd_head __attribute__((vector_size(16)));

static inline fwd_head fwd_head_load(const struct rte_mbuf *pkt)
{
	fwd_head h;

	__builtin_memcpy(&h, rte_pktmbuf_mtod(pkt, void *), sizeof(h));
	return h;
}

static inline void fwd_head_store(struct rte_mbuf *pkt, fwd_head h)
{
	__builtin_memcpy(rte_pktmbuf_mtod(pkt, void *), &h, sizeof(h));
}

/* Exchanges source and destination address. A buffer has room for 16 bytes, however short the frame
 * in it is. */
static inline void fwd_swap_macs(struct rte_mbuf *pkt)
{
	const fwd_head h = fwd_head_load(pkt);

	fwd_head_store(pkt,
		__builtin_shufflevector(
			h, h, 6, 7, 8, 9, 10, 11, 0, 1, 2, 3, 4, 5, 12, 13, 14, 15));
}

#endif
