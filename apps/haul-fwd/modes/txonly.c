/* SPDX-License-Identifier: BSD-3-Clause */
/* Mode txonly: sends generated frames. */
#include "modes.h"

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

static void drop_packet(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	haul_drop(rx, &pkt, 1, HAUL_DROP_CONSUMED);
}

const struct fwd_mode_ops fwd_mode_txonly = {
	.packet = drop_packet, .source = txonly_source, .reads = true};
