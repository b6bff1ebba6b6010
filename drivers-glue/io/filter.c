/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/filter.h"

#include <stdlib.h>

static bool is_tagged(const struct rte_mbuf *pkt)
{
	const struct rte_ether_hdr *eth = rte_pktmbuf_mtod(pkt, const struct rte_ether_hdr *);

	return pkt->data_len >= sizeof(*eth) &&
		eth->ether_type == rte_cpu_to_be_16(RTE_ETHER_TYPE_VLAN);
}

static inline bool fits(const struct hauli_frame_sizes *tx, const struct rte_mbuf *pkt)
{
	/* The subtraction wraps below least. */
	if (hauli_likely(pkt->pkt_len - tx->least <= tx->most - tx->least))
		return hauli_likely(pkt->nb_segs <= tx->segs);
	return pkt->pkt_len > tx->most && pkt->pkt_len <= tx->most + tx->tag &&
		pkt->nb_segs <= tx->segs && is_tagged(pkt);
}

bool hauli_filter_fits(const struct haul_port *port, const struct rte_mbuf *pkt)
{
	return fits(&port->tx, pkt);
}

static uint16_t send_fitting(void *queue, struct rte_mbuf **pkts, uint16_t n)
{
	const struct hauli_filter *filter = queue;
	uint16_t fit = 0;

	while (fit < n && fits(&filter->port->tx, pkts[fit]))
		fit++;
	return fit ? hauli_burst_tx(&filter->pmd, pkts, fit) : 0;
}

static __attribute__((noinline, cold)) uint16_t drop_cut(
	struct hauli_filter *filter, struct rte_mbuf **pkts, uint16_t n)
{
	uint16_t whole = 0;

	for (uint16_t i = 0; i < n; i++) {
		if (pkts[i]->pkt_len <= filter->port->rx_most)
			pkts[whole++] = pkts[i];
		else
			rte_pktmbuf_free(pkts[i]);
	}
	hauli_counter_add(&filter->cut, n - whole);
	return whole;
}

static uint16_t receive_whole(void *queue, struct rte_mbuf **pkts, uint16_t n)
{
	struct hauli_filter *filter = queue;
	uint16_t got = hauli_burst_rx(&filter->pmd, pkts, n);
	uint32_t longest = 0;

	for (uint16_t i = 0; i < got; i++)
		longest = RTE_MAX(longest, pkts[i]->pkt_len);
	return hauli_likely(longest <= filter->port->rx_most) ? got : drop_cut(filter, pkts, got);
}

static uint16_t send_before_unmap(void *queue, struct rte_mbuf **pkts, uint16_t n)
{
	struct hauli_filter *filter = queue;
	uint16_t sent;

	hauli_unmap_call_begins(&filter->reader);
	sent = send_fitting(queue, pkts, n);
	hauli_unmap_call_ends(&filter->reader);
	return sent;
}

static uint16_t receive_before_unmap(void *queue, struct rte_mbuf **pkts, uint16_t n)
{
	struct hauli_filter *filter = queue;
	uint16_t got;

	hauli_unmap_call_begins(&filter->reader);
	got = receive_whole(queue, pkts, n);
	hauli_unmap_call_ends(&filter->reader);
	return got;
}

struct hauli_filter *hauli_filter_create(const struct haul_port *port)
{
	struct hauli_filter *filter = aligned_alloc(
		HAULI_CACHE_LINE, RTE_ALIGN_CEIL(sizeof(*filter), (size_t)HAULI_CACHE_LINE));

	if (!filter)
		return NULL;
	*filter = (struct hauli_filter){.port = port, .queue = filter};
	filter->ops.rxq.data = filter->ops.txq.data = &filter->queue;
	filter->ops.rxq.clbk = filter->ops.txq.clbk = &filter->no_callbacks;
	return filter;
}

void hauli_filter_choose(struct hauli_filter *filter)
{
	const char *unmaps = filter->port->kind->unmaps;

	filter->ops.rx_pkt_burst = unmaps ? receive_before_unmap : receive_whole;
	filter->ops.tx_pkt_burst = unmaps ? send_before_unmap : send_fitting;
	if (!unmaps)
		return;
	hauli_unmap_waits(unmaps);
	if (!filter->unmaps)
		hauli_unmap_add(&filter->reader);
	filter->unmaps = true;
}

struct hauli_burst hauli_filter_burst(struct hauli_filter *filter, struct hauli_burst pmd)
{
	if (!filter->port->kind->filter)
		return pmd;
	filter->pmd = pmd;
	return (struct hauli_burst){&filter->ops, 0, 0};
}

void hauli_filter_destroy(struct hauli_filter *filter)
{
	if (filter && filter->unmaps)
		hauli_unmap_remove(&filter->reader);
	free(filter);
}
