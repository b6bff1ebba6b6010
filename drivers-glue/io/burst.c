/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/burst.h"

static uint16_t take_none(void *queue, struct rte_mbuf **pkts, uint16_t n)
{
	return 0;
}

struct hauli_burst hauli_burst_none(void)
{
	static void *nothing[1];
	static const struct rte_eth_fp_ops ops = {.rx_pkt_burst = take_none,
		.tx_pkt_burst = take_none,
		.rxq = {.data = nothing, .clbk = nothing},
		.txq = {.data = nothing, .clbk = nothing}};

	return (struct hauli_burst){&ops, 0, 0};
}
