/* SPDX-License-Identifier: BSD-3-Clause */
/* Burst calls of queues that have callbacks. */
#include "io/burst.h"

__attribute__((cold)) uint16_t hauli_burst_rx_slow(
	const struct hauli_burst *b, struct rte_mbuf **pkts, uint16_t n)
{
	return rte_eth_rx_burst(b->port_id, b->queue_id, pkts, n);
}

__attribute__((cold)) uint16_t hauli_burst_tx_slow(
	const struct hauli_burst *b, struct rte_mbuf **pkts, uint16_t n)
{
	return rte_eth_tx_burst(b->port_id, b->queue_id, pkts, n);
}
