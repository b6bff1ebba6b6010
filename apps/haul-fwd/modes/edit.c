/* SPDX-License-Identifier: BSD-3-Clause */
#include "edit.h"

__attribute__((noinline, cold)) uint16_t fwd_drop_runts(
	struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	uint16_t good = 0;
	uint16_t i;

	for (i = 0; i < n; i++) {
		if (fwd_is_frame(pkts[i]))
			pkts[good++] = pkts[i];
		else
			haul_drop(rx, &pkts[i], 1, HAUL_DROP_MALFORMED);
	}
	return good;
}

void fwd_drop_burst(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	haul_drop(rx, pkts, n, HAUL_DROP_CONSUMED);
}

void fwd_drop_packet(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	haul_drop(rx, &pkt, 1, HAUL_DROP_CONSUMED);
}
