/* SPDX-License-Identifier: BSD-3-Clause */
/* Modes that change nothing or MAC addresses: io, mac, macswap, rxonly. */
#include <string.h>

#include "edit.h"
#include "modes.h"

/* Parameters of an edit, read once per burst. */
struct edit {
	fwd_head macs; /* mode mac: destination, source */
};

static inline void swap_macs(const struct edit *e, struct rte_mbuf *pkt)
{
	fwd_swap_macs(pkt);
}

static inline void set_macs(const struct edit *e, struct rte_mbuf *pkt)
{
	memcpy(rte_pktmbuf_mtod(pkt, void *), &e->macs, 12);
}

static inline struct edit edit_of(struct haul_rx *rx)
{
	const struct fwd *fwd = rx->arg;
	struct edit e = {0};

	memcpy(&e.macs, fwd_ports(fwd)[rx->port].macs, sizeof(e.macs));
	return e;
}

static inline __attribute__((always_inline)) void edit_burst(struct haul_rx *rx,
	struct rte_mbuf **pkts, uint16_t n,
	void (*edit)(const struct edit *e, struct rte_mbuf *pkt))
{
	const struct edit e = edit_of(rx);
	unsigned i;

	n = fwd_frames(rx, pkts, n);
#pragma GCC unroll 4
	for (i = 0; i < n; i++)
		edit(&e, pkts[i]);
	haul_tx_burst(rx->peer, pkts, n);
}

static void io_burst(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	haul_tx_burst(rx->peer, pkts, n);
}

static void io_packet(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	fwd_send_packet(rx, pkt);
}

static void mac_burst(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	edit_burst(rx, pkts, n, set_macs);
}

static void mac_packet(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	const struct fwd *fwd = rx->arg;

	if (!fwd_frame(rx, pkt))
		return;
	memcpy(rte_pktmbuf_mtod(pkt, void *), fwd_ports(fwd)[rx->port].macs, 12);
	fwd_send_packet(rx, pkt);
}

static void macswap_burst(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	edit_burst(rx, pkts, n, swap_macs);
}

static void macswap_packet(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	if (!fwd_frame(rx, pkt))
		return;
	fwd_swap_macs(pkt);
	fwd_send_packet(rx, pkt);
}

const struct fwd_mode_ops fwd_mode_io = {.burst = io_burst, .packet = io_packet};
const struct fwd_mode_ops fwd_mode_mac = {.burst = mac_burst, .packet = mac_packet, .reads = true};
const struct fwd_mode_ops fwd_mode_macswap = {
	.burst = macswap_burst, .packet = macswap_packet, .reads = true};
const struct fwd_mode_ops fwd_mode_rxonly = {
	.burst = fwd_drop_burst, .packet = fwd_drop_packet, .reads = true};
