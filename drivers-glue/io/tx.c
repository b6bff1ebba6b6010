/* SPDX-License-Identifier: BSD-3-Clause */
/* Transmission through a carrier's own queue of a port. */
#include <rte_mbuf.h>

#include "base/assert.h"
#include "io/filter.h"
#include "io/poll.h"
#include "net/given.h"
#include "port/kind.h"

/* What a burst call is given at most: every PMD takes so many, and few take more at once. */
#define CHUNK 64u

static void drop(struct hauli_tx *tx, struct rte_mbuf **pkts, uint32_t n, struct hauli_counter *why)
{
	hauli_counter_add(why, n);
	if (tx->count_bytes)
		hauli_counter_add(&tx->dropped_bytes, hauli_bytes_of(pkts, n));
	rte_pktmbuf_free_bulk(pkts, n);
}

__attribute__((cold)) bool hauli_tx_has_room(const struct hauli_tx *tx, const struct rte_mbuf *pkt)
{
	const struct haul_port *port = tx->port;

	if (!port)
		return false;
	if (tx->filter && !hauli_filter_fits(port, pkt))
		return true;
	return port->kind->has_room && port->kind->has_room(port, tx->queue, pkt);
}

static __attribute__((noinline, cold)) void refuse(struct hauli_tx *tx)
{
	drop(tx, hauli_txq_peek(&tx->q), 1, &tx->refused);
	hauli_txq_pop(&tx->q, 1);
}

/*
 * A burst call that takes nothing does not say why: the NIC may be full, or never take the first
 * packet, behind which all others would wait for ever. So the port is asked first whether there is
 * room, and if so, the next burst call decides. The order matters: room that appears only after a
 * burst call does not prove that the call could have used it.
 */
static void flush(struct hauli_tx *tx)
{
	bool had_room = false;
	uint32_t n;
	uint16_t sent;

	while ((n = hauli_txq_count(&tx->q)) > 0) {
		sent = hauli_burst_tx(
			&tx->burst, hauli_txq_peek(&tx->q), (uint16_t)RTE_MIN(n, CHUNK));
		if (hauli_likely(sent > 0)) {
			had_room = false;
			hauli_counter_add(&tx->sent, sent);
			hauli_txq_pop(&tx->q, sent);
		} else if (had_room) {
			had_room = false;
			refuse(tx);
		} else {
			had_room = hauli_tx_has_room(tx, *hauli_txq_peek(&tx->q));
			if (!had_room)
				break;
		}
	}
}

void hauli_tx_flush(struct hauli_poller *p)
{
	unsigned n = (unsigned)(p->rxqs_end - p->rxqs);
	unsigned i;

	p->pending = false;
	for (i = 0; i < n; i++) {
		struct hauli_tx *tx = &p->txs[i];

		flush(tx);
		if (hauli_txq_count(&tx->q) > 0 || (tx->relay && !hauli_relay_flush(tx)))
			p->pending = true;
	}
}

void hauli_tx_close(struct hauli_poller *p)
{
	unsigned n = (unsigned)(p->rxqs_end - p->rxqs);
	unsigned i;

	for (i = 0; i < n; i++) {
		struct hauli_tx *tx = &p->txs[i];
		uint32_t left;

		/* A pop lets those in who wait: they have had their time. */
		while ((left = hauli_txq_count(&tx->q)) > 0) {
			drop(tx, hauli_txq_peek(&tx->q), left, &tx->stopping);
			hauli_txq_pop(&tx->q, left);
		}
		hauli_txq_close(&tx->q);
		if (tx->relay)
			hauli_relay_drop(tx);
	}
	p->pending = false;
}

/* The NIC is full: keep what there is room for. */
static void keep(struct hauli_tx *tx, struct rte_mbuf **pkts, uint16_t n)
{
	uint32_t kept = hauli_txq_put(&tx->q, pkts, n);

	hauli_counter_add(&tx->q.taken, n);
	if (kept < n)
		drop(tx, pkts + kept, n - kept, &tx->full);
}

static __attribute__((noinline)) void count_bytes(
	struct haul_txq *txq, struct rte_mbuf **pkts, uint16_t n)
{
	hauli_counter_add(&txq->taken_bytes, hauli_bytes_of(pkts, n));
}

static inline uint16_t send_now(struct hauli_tx *tx, struct rte_mbuf **pkts, uint16_t n)
{
	uint16_t sent = hauli_burst_tx(&tx->burst, pkts, n);

	hauli_counter_add(&tx->direct, sent);
	return sent;
}

/* Out of line, so that the usual case saves few registers. */
static __attribute__((noinline)) void send_rest(
	struct hauli_tx *tx, struct rte_mbuf **pkts, uint16_t n)
{
	uint16_t sent = 0;

	flush(tx);
	if (hauli_txq_count(&tx->q) == 0)
		sent = send_now(tx, pkts, n);
	if (sent < n)
		keep(tx, pkts + sent, n - sent);
}

void haul_tx_burst(struct haul_txq *txq, struct rte_mbuf **pkts, uint16_t n)
{
	struct hauli_tx *tx = hauli_tx_of(txq);
	uint16_t sent = 0;

	HAUL_CHECK(txq && pkts && haul_carrier_self() == txq->carrier);
	hauli_pkts_give(pkts, n, "haul_tx_burst");
	if (hauli_unlikely(tx->count_bytes))
		count_bytes(txq, pkts, n);
	if (hauli_likely(hauli_txq_count(txq) == 0))
		sent = send_now(tx, pkts, n);
	if (hauli_unlikely(sent < n))
		send_rest(tx, pkts + sent, n - sent);
}
