/* SPDX-License-Identifier: BSD-3-Clause */
/* The modes of haul-fwd: one table at the end of the file, a row for each mode. */
#include "mode.h"

#include <string.h>

#include <rte_prefetch.h>

/* The first 16 bytes of a frame: both addresses, the type, and two bytes that do not change. */
typedef uint8_t head __attribute__((vector_size(16)));

static inline head load_head(const struct rte_mbuf *pkt)
{
	head h;

	memcpy(&h, rte_pktmbuf_mtod(pkt, void *), sizeof(h));
	return h;
}

static inline void store_head(struct rte_mbuf *pkt, head h)
{
	memcpy(rte_pktmbuf_mtod(pkt, void *), &h, sizeof(h));
}

/* Parameters of an edit, read once per burst. */
struct edit {
	head macs; /* mode mac: destination, source */
};

static inline void swap_macs(const struct edit *e, struct rte_mbuf *pkt)
{
	const head h = load_head(pkt);

	store_head(pkt,
		__builtin_shufflevector(
			h, h, 6, 7, 8, 9, 10, 11, 0, 1, 2, 3, 4, 5, 12, 13, 14, 15));
}

static inline void set_macs(const struct edit *e, struct rte_mbuf *pkt)
{
	memcpy(rte_pktmbuf_mtod(pkt, void *), &e->macs, 12);
}

static inline struct edit edit_of(struct haul_rx *rx)
{
	const struct fwd *fwd = rx->arg;
	struct edit e = {0};

	memcpy(&e.macs, fwd->ports[rx->port].macs, sizeof(fwd->ports[0].macs));
	return e;
}

static inline bool is_frame(const struct rte_mbuf *pkt)
{
	return pkt->data_len >= RTE_ETHER_HDR_LEN;
}

/* Drops frames shorter than an Ethernet header. Returns the number of the others. */
static __attribute__((noinline, cold)) uint16_t drop_runts(
	struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	uint16_t good = 0;
	uint16_t i;

	for (i = 0; i < n; i++) {
		if (is_frame(pkts[i]))
			pkts[good++] = pkts[i];
		else
			haul_drop(rx, &pkts[i], 1, HAUL_DROP_MALFORMED);
	}
	return good;
}

/* Prefetches all headers before it edits them, so that cache misses overlap. */
static inline __attribute__((always_inline)) void edit_burst(struct haul_rx *rx,
	struct rte_mbuf **pkts, uint16_t n,
	void (*edit)(const struct edit *e, struct rte_mbuf *pkt))
{
	const struct edit e = edit_of(rx);
	bool runts = false;
	unsigned i;

#pragma GCC unroll 4
	for (i = 0; i < n; i++) {
		rte_prefetch0(rte_pktmbuf_mtod(pkts[i], void *));
		runts |= !is_frame(pkts[i]);
	}
	if (unlikely(runts))
		n = drop_runts(rx, pkts, n);
#pragma GCC unroll 4
	for (i = 0; i < n; i++)
		edit(&e, pkts[i]);
	haul_tx_burst(rx->peer, pkts, n);
}

static void io_burst(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	haul_tx_burst(rx->peer, pkts, n);
}

static void mac_burst(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	edit_burst(rx, pkts, n, set_macs);
}

static void macswap_burst(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	edit_burst(rx, pkts, n, swap_macs);
}

static void rxonly_burst(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	haul_drop(rx, pkts, n, HAUL_DROP_CONSUMED);
}

static uint16_t txonly_source(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	const struct fwd *fwd = rx->arg;
	const struct frame_shape *shape = &fwd->ports[rx->port].shape;
	struct fwd_carrier *carrier = &fwd->carriers[rx->carrier];
	uint16_t i;

	if (rte_pktmbuf_alloc_bulk(fwd->pool, pkts, n) != 0)
		return 0;
	for (i = 0; i < n; i++)
		frame_fill(shape, pkts[i], fwd_next_flow(carrier, shape->flows));
	return n;
}

/* Waits while the queue is full; at max_in_flight waiting handlers, packets stay in the NIC. */
static void send_packet(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	if (haul_send(rx->peer, pkt) != 0)
		haul_drop(rx, &pkt, 1, HAUL_DROP_STOPPING);
}

static inline __attribute__((always_inline)) void edit_packet(struct haul_rx *rx,
	struct rte_mbuf *pkt, void (*edit)(const struct edit *e, struct rte_mbuf *pkt))
{
	const struct edit e = edit_of(rx);

	if (unlikely(!is_frame(pkt))) {
		haul_drop(rx, &pkt, 1, HAUL_DROP_MALFORMED);
		return;
	}
	edit(&e, pkt);
	send_packet(rx, pkt);
}

static void mac_packet(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	edit_packet(rx, pkt, set_macs);
}

static void macswap_packet(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	edit_packet(rx, pkt, swap_macs);
}

static void rxonly_packet(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	haul_drop(rx, &pkt, 1, HAUL_DROP_CONSUMED);
}

void fwd_mode_set(struct haul_io_opts *io, enum fwd_mode mode, bool coroutine)
{
	static const struct {
		haul_burst_fn *burst;
		haul_packet_fn *packet;
		haul_source_fn *source;
		bool looks; /* reads each packet, so that counting bytes is cheap */
	} modes[FWD_MODES] = {
		[FWD_IO] = {io_burst, send_packet, NULL, false},
		[FWD_MAC] = {mac_burst, mac_packet, NULL, true},
		[FWD_MACSWAP] = {macswap_burst, macswap_packet, NULL, true},
		[FWD_RXONLY] = {rxonly_burst, rxonly_packet, NULL, true},
		[FWD_TXONLY] = {NULL, rxonly_packet, txonly_source, true},
	};

	io->count_bytes = modes[mode].looks;
	if (coroutine) {
		io->on_packet = modes[mode].packet;
	} else {
		io->on_burst = modes[mode].burst;
		io->source = modes[mode].source;
	}
}
