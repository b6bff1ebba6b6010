/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The order of a flow: all its packets take one path, from a receive queue through one hand-over to
 * a carrier, and back through one hand-over when that carrier sends them. Each step keeps the
 * order.
 */
#include "io/spread.h"

#include <stdlib.h>

#include <haul/net.h>

#include "io/ledger.h"
#include "io/offer.h"
#include "io/packet.h"
#include "io/times.h"

/* Flow hashes of a bucket: it has one value of the highest bits. */
#define FLOWS_OF_BUCKET ((uint32_t)((UINT64_C(1) << 32) / HAUL_IO_BUCKETS))

int hauli_spread_proxy(struct haul_runtime *rt, unsigned queues, unsigned c)
{
	unsigned cluster = haul_carrier_place(haul_carrier(rt, c))->cluster;
	unsigned n = 0, skip;

	for (unsigned i = 0; i < queues; i++)
		n += haul_carrier_place(haul_carrier(rt, i))->cluster == cluster;
	if (n == 0)
		return -1;
	skip = (c - queues) % n;
	for (unsigned i = 0;; i++)
		if (haul_carrier_place(haul_carrier(rt, i))->cluster == cluster && skip-- == 0)
			return (int)i;
}

/* A target's receive burst. */
static uint16_t take(void *queue, struct rte_mbuf **pkts, uint16_t n)
{
	struct hauli_rps_target *target = queue;
	struct hauli_node *node;
	uint16_t i;

	for (i = 0; i < n && (node = hauli_handover_take(&target->in)); i++)
		pkts[i] = hauli_pkt_of(node);
	return i;
}

/* A target's transmit burst. */
static uint16_t hand_back(void *queue, struct rte_mbuf **pkts, uint16_t n)
{
	struct hauli_rps_target *target = queue;
	struct hauli_bulk bulk = {NULL, NULL};

	for (uint16_t i = 0; i < n; i++)
		hauli_bulk_add(&bulk, hauli_pkt_node(pkts[i]));
	if (n > 0)
		hauli_handover_put(&target->proxy->in, &bulk);
	return n;
}

static struct hauli_tx_proxy *proxy_of(struct hauli_poller *proxy_poller, unsigned port)
{
	struct hauli_tx *tx = &proxy_poller->txs[port];
	struct hauli_tx_proxy *proxy = tx->proxy;

	if (proxy)
		return proxy;
	proxy = aligned_alloc(HAULI_CACHE_LINE, sizeof(*proxy));
	if (!proxy)
		return NULL;
	*proxy = (struct hauli_tx_proxy){0};
	hauli_handover_init(&proxy->in, proxy_poller->carrier);
	proxy_poller->is_proxy = true;
	proxy_poller->rxqs[port].proxy = proxy;
	return tx->proxy = proxy;
}

static void set_bucket(
	struct hauli_tx_proxy *proxy, unsigned bucket, struct hauli_pass *to, unsigned carrier)
{
	proxy->to[bucket] = to;
	hauli_u32_published_set(&proxy->carriers[bucket], carrier);
}

/* Deals out the buckets: the first ones to the proxy, the next ones to its first target, ... */
static void deal_buckets(struct hauli_tx_proxy *proxy)
{
	for (unsigned b = 0; b < HAUL_IO_BUCKETS; b++) {
		unsigned way = b * (proxy->nb_targets + 1) / HAUL_IO_BUCKETS;
		struct hauli_rps_target *target = way ? proxy->targets[way - 1] : NULL;

		if (target)
			set_bucket(proxy, b, &target->pass, target->rxq->rx.carrier);
		else
			set_bucket(proxy, b, NULL, haul_carrier_id(proxy->in.owner));
	}
}

bool hauli_spread_set_up(struct hauli_poller *p, struct hauli_poller *proxy_poller, unsigned port)
{
	struct hauli_tx_proxy *proxy = proxy_of(proxy_poller, port);
	struct hauli_rxq *r = &p->rxqs[port];
	struct hauli_rps_target **all, *target;

	if (!proxy)
		return false;
	all = realloc(proxy->targets, (proxy->nb_targets + 1) * sizeof(all[0]));
	if (all)
		proxy->targets = all;
	target = aligned_alloc(HAULI_CACHE_LINE, sizeof(*target));
	if (!all || !target) {
		free(target);
		return false;
	}
	*target = (struct hauli_rps_target){
		.rxq = r,
		.proxy = proxy,
		.ops = {.rx_pkt_burst = take, .tx_pkt_burst = hand_back},
		.queue = target,
	};
	target->ops.rxq.data = target->ops.txq.data = &target->queue;
	target->ops.rxq.clbk = target->ops.txq.clbk = &target->no_callbacks;
	hauli_handover_init(&target->in, p->carrier);
	proxy->targets[proxy->nb_targets++] = target;
	deal_buckets(proxy);
	r->target = target;
	r->burst = p->txs[port].burst = (struct hauli_burst){&target->ops, 0, 0};
	return true;
}

void hauli_spread_free(struct hauli_poller *p)
{
	for (struct hauli_rxq *r = p->rxqs; r < p->rxqs_end; r++) {
		if (r->target)
			hauli_handover_fini(&r->target->in);
		free(r->target);
		if (!r->proxy)
			continue;
		hauli_handover_fini(&r->proxy->in);
		free(r->proxy->targets);
		free(r->proxy);
	}
}

uint16_t hauli_spread(struct hauli_rxq *r, struct rte_mbuf **pkts, uint16_t n)
{
	struct hauli_tx_proxy *proxy = r->proxy;
	struct hauli_counter *packets = proxy->packets;
	uint16_t own = 0;

	for (uint16_t i = 0; i < n; i++) {
		size_t bucket = haul_net_flow(pkts[i]) / FLOWS_OF_BUCKET;
		struct hauli_pass *to = proxy->to[bucket];

		hauli_counter_add(&packets[bucket], 1);
		if (!to) {
			pkts[own++] = pkts[i];
			continue;
		}
		hauli_bulk_add(&to->bulk, hauli_pkt_node(pkts[i]));
		hauli_counter_add(&to->passed, 1);
	}
	for (unsigned i = 0; i < proxy->nb_targets; i++)
		if (proxy->targets[i]->pass.bulk.newest)
			hauli_handover_put(&proxy->targets[i]->in, &proxy->targets[i]->pass.bulk);
	return own;
}

uint16_t hauli_spread_take_back(struct hauli_tx_proxy *proxy, struct rte_mbuf **pkts, uint16_t n)
{
	uint16_t i;

	for (i = 0; i < n && proxy->back; i++) {
		pkts[i] = hauli_pkt_of(proxy->back);
		proxy->back = proxy->back->next;
	}
	return i;
}

/* The number of packets that were passed to the target and whose handlers have not ended. */
static uint64_t under_way(const struct hauli_rps_target *target)
{
	const struct hauli_rxq *r = target->rxq;
	uint64_t taken = hauli_counter_read(&r->packets);

	return hauli_counter_read(&target->pass.passed) - taken +
		(r->on_packet ? hauli_rxq_in_flight(r) : 0);
}

bool hauli_spread_has_room(const struct hauli_rxq *r)
{
	if (hauli_unlikely(r->proxy->held.bulk.newest != NULL) &&
		hauli_counter_read(&r->proxy->held.passed) >= r->max_in_flight)
		return false;
	for (unsigned i = 0; i < r->proxy->nb_targets; i++)
		if (under_way(r->proxy->targets[i]) >= r->max_in_flight)
			return false;
	return true;
}

bool hauli_spread_has_to_send(const struct hauli_poller *p)
{
	for (const struct hauli_rxq *r = p->rxqs; r < p->rxqs_end; r++)
		if (r->proxy && !hauli_handover_is_empty(&r->proxy->in))
			return true;
	return false;
}

static void refill(struct hauli_tx_proxy *proxy)
{
	struct hauli_node *node;

	proxy->first = proxy->end = 0;
	while (proxy->end < HAULI_TX_PROXY_CHUNK && (node = hauli_handover_take(&proxy->in)))
		proxy->pkts[proxy->end++] = hauli_pkt_of(node);
}

static void drop_taken(struct hauli_tx_proxy *proxy, unsigned n, struct hauli_counter *why)
{
	struct rte_mbuf **pkts = proxy->pkts + proxy->first;

	hauli_counter_add(why, n);
	hauli_counter_add(&proxy->lost_bytes, hauli_bytes_of(pkts, n));
	hauli_pkts_free(pkts, n);
	proxy->first += n;
}

static uint16_t peek(struct hauli_tx *tx, struct rte_mbuf ***pkts)
{
	struct hauli_tx_proxy *proxy = tx->proxy;

	if (proxy->first == proxy->end && proxy->chunks > 0) {
		proxy->chunks--;
		refill(proxy);
	}
	*pkts = proxy->pkts + proxy->first;
	return (uint16_t)(proxy->end - proxy->first);
}

static void sent(struct hauli_tx *tx, uint16_t n)
{
	tx->proxy->first += n;
}

static void refuse(struct hauli_tx *tx)
{
	drop_taken(tx->proxy, 1, &tx->proxy->refused);
}

bool hauli_tx_proxy_flush(struct hauli_tx *tx)
{
	bool all;

	tx->proxy->chunks = HAULI_TX_PROXY_CHUNKS;
	if (tx->times)
		all = hauli_tx_offer(tx, peek, sent, refuse, true);
	else
		all = hauli_tx_offer(tx, peek, sent, refuse, false);
	all = all && tx->proxy->chunks > 0;
	if (all)
		hauli_counter_add(&tx->proxy->emptied, 1);
	return all;
}

void hauli_spread_listen(struct hauli_poller *p)
{
	for (struct hauli_rxq *r = p->rxqs; r < p->rxqs_end; r++) {
		if (r->target)
			hauli_handover_listen(&r->target->in);
		if (r->proxy)
			hauli_handover_listen(&r->proxy->in);
	}
}

bool hauli_spread_wakes(const struct hauli_poller *p)
{
	if (p->pending)
		return true; /* its wait is short: it tries to send again */
	for (const struct hauli_rxq *r = p->rxqs; r < p->rxqs_end; r++)
		if (r->proxy && !hauli_handover_wakes(&r->proxy->in))
			return false;
	return true;
}

static bool drop_some(struct hauli_rxq *r)
{
	struct rte_mbuf *pkts[HAULI_TX_PROXY_CHUNK];
	uint16_t n = 0;

	if (r->target)
		n = take(r->target, pkts, HAULI_TX_PROXY_CHUNK);
	else if (r->proxy)
		n = hauli_spread_take_back(r->proxy, pkts, HAULI_TX_PROXY_CHUNK);
	if (n == 0)
		return false;
	hauli_counter_add(&r->packets, n);
	hauli_counter_add(&r->bytes, hauli_bytes_of(pkts, n));
	hauli_drop_unhandled(r, pkts, n, HAUL_DROP_STOPPING);
	return true;
}

void hauli_spread_drop_received(struct hauli_poller *p)
{
	for (struct hauli_rxq *r = p->rxqs; r < p->rxqs_end; r++)
		while (drop_some(r))
			;
}

bool hauli_spread_is_drained(const struct hauli_poller *p)
{
	for (const struct hauli_rxq *r = p->rxqs; r < p->rxqs_end; r++)
		for (unsigned i = 0; r->proxy && i < r->proxy->nb_targets; i++)
			if (hauli_u32_published_get(&r->proxy->targets[i]->rxq->poller->drained) ==
				0)
				return false;
	return true;
}

void hauli_tx_proxy_drop(struct hauli_tx *tx)
{
	struct hauli_tx_proxy *proxy = tx->proxy;

	do {
		drop_taken(proxy, proxy->end - proxy->first, &proxy->dropped);
		refill(proxy);
	} while (proxy->end > 0);
}
