/* SPDX-License-Identifier: BSD-3-Clause */
/* Transmission through a carrier's own queue of a port. */
#include "io/tx.h"

#include <rte_pause.h>

#include "base/assert.h"
#include "io/offer.h"
#include "io/packet.h"
#include "io/share.h"
#include "io/spread.h"
#include "io/times.h"
#include "net/build.h"
#include "net/given.h"

_Static_assert(HAULI_TX_OFFLOAD_IPV4_CKSUM == RTE_ETH_TX_OFFLOAD_IPV4_CKSUM, "as ethdev's");
_Static_assert(HAULI_TX_OFFLOAD_UDP_CKSUM == RTE_ETH_TX_OFFLOAD_UDP_CKSUM, "as ethdev's");

static void drop(struct hauli_tx *tx, struct rte_mbuf **pkts, uint32_t n, struct hauli_counter *why)
{
	hauli_counter_add(why, n);
	hauli_glue_has_dropped();
	if (tx->count_bytes)
		hauli_counter_add(&tx->dropped_bytes, hauli_bytes_of(pkts, n));
	hauli_pkts_free(pkts, n);
}

static __attribute__((noinline, cold)) void refuse(struct hauli_tx *tx)
{
	drop(tx, hauli_txq_peek(&tx->q), 1, &tx->refused);
	hauli_txq_pop(&tx->q, 1);
}

static uint16_t peek(struct hauli_tx *tx, struct rte_mbuf ***pkts)
{
	*pkts = hauli_txq_peek(&tx->q);
	return (uint16_t)RTE_MIN(hauli_txq_count(&tx->q), HAULI_OFFER_MAX);
}

static void sent(struct hauli_tx *tx, uint16_t n)
{
	hauli_counter_add(&tx->sent, n);
	hauli_txq_pop(&tx->q, n);
}

/* True if tx passes its packets to the PMD itself: those of a target are passed by its proxy. */
static bool is_timed(const struct hauli_tx *tx)
{
	return tx->times && tx->port;
}

static __attribute__((noinline)) void offer(struct hauli_tx *tx)
{
	if (hauli_unlikely(is_timed(tx)))
		(void)hauli_tx_offer(tx, peek, sent, refuse, true);
	else
		(void)hauli_tx_offer(tx, peek, sent, refuse, false);
}

/* The usual case: a burst or less, which the NIC takes at once. */
static inline void flush(struct hauli_tx *tx)
{
	uint32_t n = hauli_txq_count(&tx->q);
	struct rte_mbuf **pkts;

	if (n == 0)
		return;
	if (hauli_likely(n <= HAULI_OFFER_MAX && !tx->times)) {
		pkts = hauli_txq_peek(&tx->q);
		sent(tx, hauli_burst_tx(&tx->burst, pkts, (uint16_t)n));
		if (hauli_likely(hauli_txq_count(&tx->q) == 0))
			return;
	}
	offer(tx);
}

void hauli_tx_flush(struct hauli_poller *p)
{
	unsigned n = p->nb_ports;
	unsigned i;

	hauli_share_works(p);
	p->pending = false;
	for (i = 0; i < n; i++) {
		struct hauli_tx *tx = &p->txs[i];

		flush(tx);
		if (hauli_txq_count(&tx->q) > 0 || (tx->proxy && !hauli_tx_proxy_flush(tx)))
			p->pending = true;
	}
}

void hauli_tx_close(struct hauli_poller *p)
{
	unsigned n = p->nb_ports;
	unsigned i;

	for (i = 0; i < n; i++) {
		struct hauli_tx *tx = &p->txs[i];
		uint32_t left;

		/* Each pop admits waiting senders, whose time is over too. */
		while ((left = hauli_txq_count(&tx->q)) > 0) {
			drop(tx, hauli_txq_peek(&tx->q), left, &tx->stopping);
			hauli_txq_pop(&tx->q, left);
		}
		hauli_txq_close(&tx->q);
		if (tx->proxy)
			hauli_tx_proxy_drop(tx);
	}
	p->pending = false;
}

static void wait_until(uint64_t time)
{
	while (haul_now() < time)
		rte_pause();
}

/* For room in the queue, as haul_io_opts.tx_retries says. Returns how many packets it has got. */
static __attribute__((noinline, cold)) uint32_t retry(
	struct hauli_tx *tx, struct rte_mbuf **pkts, uint32_t n)
{
	uint64_t now = haul_now(), end = now + HAUL_IO_RETRY_MAX;
	uint32_t kept = 0;

	for (uint32_t i = 0; kept < n && i < tx->retries && now < end; i++) {
		wait_until(RTE_MIN(now + tx->retry_ns, end));
		flush(tx);
		kept += hauli_txq_put(&tx->q, pkts + kept, n - kept);
		now = haul_now();
	}
	return kept;
}

/* The NIC is full: keep the packets for which there is room. */
static void keep(struct hauli_tx *tx, struct rte_mbuf **pkts, uint16_t n)
{
	uint32_t kept;

	hauli_counter_add(&tx->q.taken, n);
	kept = hauli_txq_put(&tx->q, pkts, n);
	if (kept < n && tx->retries > 0)
		kept += retry(tx, pkts + kept, n - kept);
	if (kept < n)
		drop(tx, pkts + kept, n - kept, &tx->full);
}

static inline uint16_t send_now(struct hauli_tx *tx, struct rte_mbuf **pkts, uint16_t n)
{
	uint16_t now = hauli_burst_tx(&tx->burst, pkts, n);

	hauli_counter_add(&tx->direct, now);
	return now;
}

/* Out of line, so that the usual case saves few registers. */
static __attribute__((noinline)) void send_rest(
	struct hauli_tx *tx, struct rte_mbuf **pkts, uint16_t n)
{
	uint32_t queued = hauli_txq_count(&tx->q);
	uint16_t now = 0;

	if (queued > 0 && queued + n <= HAULI_TXQ_ROOM) {
		keep(tx, pkts, n); /* all in one call of the PMD */
		flush(tx);
		return;
	}
	flush(tx);
	if (hauli_txq_count(&tx->q) == 0)
		now = send_now(tx, pkts, n);
	if (now < n)
		keep(tx, pkts + now, n - now);
}

static inline void send_burst(struct hauli_tx *tx, struct rte_mbuf **pkts, uint16_t n)
{
	uint16_t now = 0;

	if (hauli_likely(hauli_txq_count(&tx->q) == 0))
		now = send_now(tx, pkts, n);
	if (hauli_unlikely(now < n))
		send_rest(tx, pkts + now, n - now);
}

static void stamp(struct rte_mbuf **pkts, uint16_t n, uint64_t now)
{
	for (uint16_t i = 0; i < n; i++)
		*hauli_pkt_stamp(pkts[i]) = now;
}

/* Does what send_burst() does. Packets that the PMD takes at once need no stamp. */
static void send_burst_timed(struct hauli_tx *tx, struct rte_mbuf **pkts, uint16_t n)
{
	uint64_t handed = hauli_ticks();
	uint16_t done = 0;

	if (!is_timed(tx))
		stamp(pkts, n, handed);
	for (unsigned tries = 0; tries < 2 && done < n; tries++) {
		if (hauli_txq_count(&tx->q) > 0)
			flush(tx);
		if (hauli_txq_count(&tx->q) == 0)
			done += send_now(tx, pkts + done, n - done);
	}
	if (done > 0 && is_timed(tx))
		hauli_times_add(tx->times, HAUL_STAGE_TRANSMIT,
			hauli_times_since(handed, hauli_ticks()), done);
	if (done < n) {
		stamp(pkts + done, n - done, handed);
		keep(tx, pkts + done, n - done);
	}
}

/* For queues that count bytes, or whose packets are timed. */
static __attribute__((noinline)) void send_burst_observed(
	struct haul_txq *txq, struct rte_mbuf **pkts, uint16_t n)
{
	struct hauli_tx *tx = hauli_tx_of(txq);

	if (tx->count_bytes)
		hauli_counter_add(&tx->q.taken_bytes, hauli_bytes_of(pkts, n));
	if (tx->times)
		send_burst_timed(tx, pkts, n);
	else
		send_burst(tx, pkts, n);
}

void haul_tx_burst(struct haul_txq *txq, struct rte_mbuf **pkts, uint16_t n)
{
	struct hauli_tx *tx = hauli_tx_of(txq);

	HAUL_CHECK(txq && pkts && haul_carrier_self() == txq->carrier);
	hauli_pkts_give(pkts, n, "haul_tx_burst");
	if (hauli_unlikely(tx->observed))
		send_burst_observed(txq, pkts, n);
	else
		send_burst(tx, pkts, n);
}
