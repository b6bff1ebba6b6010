/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Burst calls for queues that are called all the time: the expansion of rte_eth_rx_burst() and
 * rte_eth_tx_burst(), with the port's entry looked up once. DPDK's calls keep the port and the
 * queue in registers across the PMD's call for rarely installed callbacks, which costs about twenty
 * of the hundred instructions that forwarding a burst takes; here only a queue with callbacks goes
 * through DPDK's calls. A callback may be installed at any time: each call checks for callbacks by
 * a plain load of its own. (Traces of bursts, RTE_ENABLE_TRACE_FP, show only queues with
 * callbacks.)
 */
#ifndef HAULI_IO_BURST_H
#define HAULI_IO_BURST_H

#include <rte_ethdev.h>

#include "base/cacheline.h"
#include "port/fp_ops.h"

struct hauli_burst {
	const struct rte_eth_fp_ops *ops; /* the port's: valid as long as the process */
	uint16_t port_id;
	uint16_t queue_id;
};

static inline struct hauli_burst hauli_burst(uint16_t port_id, uint16_t queue_id)
{
	return (struct hauli_burst){hauli_fp_ops(port_id), port_id, queue_id};
}

/* Calls that take nothing, for a port without a device. */
struct hauli_burst hauli_burst_none(void);

/* DPDK's call, with the callbacks. */
static __attribute__((noinline, cold, unused)) uint16_t hauli_burst_rx_slow(
	const struct hauli_burst *b, struct rte_mbuf **pkts, uint16_t n)
{
	return rte_eth_rx_burst(b->port_id, b->queue_id, pkts, n);
}

static __attribute__((noinline, cold, unused)) uint16_t hauli_burst_tx_slow(
	const struct hauli_burst *b, struct rte_mbuf **pkts, uint16_t n)
{
	return rte_eth_tx_burst(b->port_id, b->queue_id, pkts, n);
}

static inline uint16_t hauli_burst_rx(
	const struct hauli_burst *b, struct rte_mbuf **pkts, uint16_t n)
{
	const struct rte_eth_fp_ops *ops = b->ops;

	if (hauli_unlikely(ops->rxq.clbk[b->queue_id]))
		return hauli_burst_rx_slow(b, pkts, n);
	return ops->rx_pkt_burst(ops->rxq.data[b->queue_id], pkts, n);
}

static inline uint16_t hauli_burst_tx(
	const struct hauli_burst *b, struct rte_mbuf **pkts, uint16_t n)
{
	const struct rte_eth_fp_ops *ops = b->ops;

	if (hauli_unlikely(ops->txq.clbk[b->queue_id]))
		return hauli_burst_tx_slow(b, pkts, n);
	return ops->tx_pkt_burst(ops->txq.data[b->queue_id], pkts, n);
}

#endif
