/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The order of a flow: its packets all go the same way, from one receive queue through one
 * hand-over to one carrier, and what that sends through one back; each keeps the order.
 */
#include "io/spread.h"

#include <stdlib.h>

#include <haul/net.h>

#include "io/ledger.h"
#include "io/offer.h"
#include "io/packet.h"

int hauli_spread_feeder(struct haul_runtime *rt, unsigned queues, unsigned c)
{
	unsigned cluster = haul_carrier_place(haul_carrier(rt, c))->cluster;
	unsigned n = 0, turn;

	for (unsigned i = 0; i < queues; i++)
		n += haul_carrier_place(haul_carrier(rt, i))->cluster == cluster;
	if (n == 0)
		return -1;
	turn = (c - queues) % n;
	for (unsigned i = 0;; i++)
		if (haul_carrier_place(haul_carrier(rt, i))->cluster == cluster && turn-- == 0)
			return (int)i;
}

/* In the place of a PMD's receive burst. */
static uint16_t take(void *queue, struct rte_mbuf **pkts, uint16_t n)
{
	struct hauli_fed *fed = queue;
	struct hauli_node *node;
	uint16_t i;

	for (i = 0; i < n && (node = hauli_handover_take(&fed->in)); i++)
		pkts[i] = hauli_pkt_of(node);
	return i;
}

/* In the place of a PMD's transmit burst. */
static uint16_t hand_back(void *queue, struct rte_mbuf **pkts, uint16_t n)
{
	struct hauli_fed *fed = queue;
	struct hauli_batch batch = {NULL, NULL};

	for (uint16_t i = 0; i < n; i++)
		hauli_batch_add(&batch, hauli_pkt_node(pkts[i]));
	if (n > 0)
		hauli_handover_put(&fed->relay->in, &batch);
	return n;
}

static struct hauli_relay *relay_of(struct hauli_poller *feeder, unsigned port)
{
	struct hauli_tx *tx = &feeder->txs[port];
	struct hauli_relay *relay = tx->relay;

	if (relay)
		return relay;
	relay = aligned_alloc(HAULI_CACHE_LINE, sizeof(*relay));
	if (!relay)
		return NULL;
	*relay = (struct hauli_relay){0};
	hauli_handover_init(&relay->in, feeder->carrier);
	feeder->feeds = true;
	feeder->rxqs[port].relay = relay;
	return tx->relay = relay;
}

bool hauli_spread_set_up(struct hauli_poller *p, struct hauli_poller *feeder, unsigned port)
{
	struct hauli_relay *relay = relay_of(feeder, port);
	struct hauli_rxq *r = &p->rxqs[port];
	struct hauli_fed **all, *fed;

	if (!relay)
		return false;
	all = realloc(relay->fed, (relay->nb_fed + 1) * sizeof(all[0]));
	if (all)
		relay->fed = all;
	fed = aligned_alloc(HAULI_CACHE_LINE, sizeof(*fed));
	if (!all || !fed) {
		free(fed);
		return false;
	}
	*fed = (struct hauli_fed){
		.rxq = r,
		.relay = relay,
		.ops = {.rx_pkt_burst = take, .tx_pkt_burst = hand_back},
		.queue = fed,
	};
	fed->ops.rxq.data = fed->ops.txq.data = &fed->queue;
	fed->ops.rxq.clbk = fed->ops.txq.clbk = &fed->no_callbacks;
	hauli_handover_init(&fed->in, p->carrier);
	relay->fed[relay->nb_fed++] = fed;
	r->fed = fed;
	r->burst = p->txs[port].burst = (struct hauli_burst){&fed->ops, 0, 0};
	return true;
}

void hauli_spread_free(struct hauli_poller *p)
{
	for (struct hauli_rxq *r = p->rxqs; r < p->rxqs_end; r++) {
		if (r->fed)
			hauli_handover_fini(&r->fed->in);
		free(r->fed);
		if (!r->relay)
			continue;
		hauli_handover_fini(&r->relay->in);
		free(r->relay->fed);
		free(r->relay);
	}
}

uint16_t hauli_spread(struct hauli_rxq *r, struct rte_mbuf **pkts, uint16_t n)
{
	struct hauli_relay *relay = r->relay;
	unsigned ways = relay->nb_fed + 1;
	uint16_t own = 0;

	for (uint16_t i = 0; i < n; i++) {
		uint32_t way = (uint32_t)((uint64_t)haul_net_flow(pkts[i]) * ways >> 32);
		struct hauli_fed *fed;

		if (way == 0) {
			pkts[own++] = pkts[i];
			continue;
		}
		fed = relay->fed[way - 1];
		hauli_batch_add(&fed->batch, hauli_pkt_node(pkts[i]));
		hauli_counter_add(&fed->passed, 1);
	}
	for (unsigned i = 0; i < relay->nb_fed; i++)
		if (relay->fed[i]->batch.newest)
			hauli_handover_put(&relay->fed[i]->in, &relay->fed[i]->batch);
	return own;
}

/* Of those that were passed on, how many are not handled. */
static uint64_t under_way(const struct hauli_fed *fed)
{
	const struct hauli_rxq *r = fed->rxq;
	uint64_t taken = hauli_counter_read(&r->packets);

	return hauli_counter_read(&fed->passed) - taken +
		(r->on_packet ? hauli_rxq_in_flight(r) : 0);
}

bool hauli_spread_has_room(const struct hauli_rxq *r)
{
	for (unsigned i = 0; i < r->relay->nb_fed; i++)
		if (under_way(r->relay->fed[i]) >= r->max_in_flight)
			return false;
	return true;
}

bool hauli_spread_relays(const struct hauli_poller *p)
{
	for (const struct hauli_rxq *r = p->rxqs; r < p->rxqs_end; r++)
		if (r->relay && !hauli_handover_is_empty(&r->relay->in))
			return true;
	return false;
}

static void refill(struct hauli_relay *relay)
{
	struct hauli_node *node;

	relay->first = relay->end = 0;
	while (relay->end < HAULI_RELAY_CHUNK && (node = hauli_handover_take(&relay->in)))
		relay->pkts[relay->end++] = hauli_pkt_of(node);
}

static void drop_taken(struct hauli_relay *relay, unsigned n, struct hauli_counter *why)
{
	struct rte_mbuf **pkts = relay->pkts + relay->first;

	hauli_counter_add(why, n);
	hauli_counter_add(&relay->lost_bytes, hauli_bytes_of(pkts, n));
	rte_pktmbuf_free_bulk(pkts, n);
	relay->first += n;
}

static uint16_t peek(struct hauli_tx *tx, struct rte_mbuf ***pkts)
{
	struct hauli_relay *relay = tx->relay;

	if (relay->first == relay->end)
		refill(relay);
	*pkts = relay->pkts + relay->first;
	return (uint16_t)(relay->end - relay->first);
}

static void sent(struct hauli_tx *tx, uint16_t n)
{
	tx->relay->first += n;
}

static void refuse(struct hauli_tx *tx)
{
	drop_taken(tx->relay, 1, &tx->relay->refused);
}

bool hauli_relay_flush(struct hauli_tx *tx)
{
	return hauli_tx_offer(tx, peek, sent, refuse);
}

void hauli_spread_listen(struct hauli_poller *p)
{
	for (struct hauli_rxq *r = p->rxqs; r < p->rxqs_end; r++) {
		if (r->fed)
			hauli_handover_listen(&r->fed->in);
		if (r->relay)
			hauli_handover_listen(&r->relay->in);
	}
}

void hauli_spread_drop_received(struct hauli_poller *p)
{
	struct rte_mbuf *pkts[HAULI_RELAY_CHUNK];
	uint16_t n;

	for (struct hauli_rxq *r = p->rxqs; r < p->rxqs_end; r++) {
		while (r->fed && (n = take(r->fed, pkts, HAULI_RELAY_CHUNK)) > 0) {
			hauli_counter_add(&r->packets, n);
			hauli_counter_add(&r->bytes, hauli_bytes_of(pkts, n));
			hauli_drop_unhandled(r, pkts, n, HAUL_DROP_STOPPING);
		}
	}
}

bool hauli_spread_is_drained(const struct hauli_poller *p)
{
	for (const struct hauli_rxq *r = p->rxqs; r < p->rxqs_end; r++)
		for (unsigned i = 0; r->relay && i < r->relay->nb_fed; i++)
			if (hauli_count_get(&r->relay->fed[i]->rxq->poller->drained) == 0)
				return false;
	return true;
}

void hauli_relay_drop(struct hauli_tx *tx)
{
	struct hauli_relay *relay = tx->relay;

	do {
		drop_taken(relay, relay->end - relay->first, &relay->dropped);
		refill(relay);
	} while (relay->end > 0);
}
