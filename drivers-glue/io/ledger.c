/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ledger: the fate of each packet, and a check that the counters agree. Thieves count what they
 * drop in words of their own, which several add to at once. Model: tests/model/dropped.c.
 */
#include "io/ledger.h"

#include <inttypes.h>
#include <stdio.h>

#include <rte_ether.h>
#include <rte_mbuf.h>

#include "base/assert.h"
#include "io/packet.h"
#include "net/given.h"

static const char *const names[HAUL_DROP_REASONS] = {
	[HAUL_DROP_TX_FULL] = "tx_full",
	[HAUL_DROP_TX_REFUSED] = "tx_refused",
	[HAUL_DROP_NO_COROUTINE] = "no_coroutine",
	[HAUL_DROP_MALFORMED] = "malformed",
	[HAUL_DROP_NOT_FOR_US] = "not_for_us",
	[HAUL_DROP_UNSUPPORTED] = "unsupported",
	[HAUL_DROP_STOPPING] = "stopping",
	[HAUL_DROP_CONSUMED] = "consumed",
	[HAUL_DROP_LATE] = "late",
	[HAUL_DROP_OVER_SHARE] = "over_share",
	[HAUL_DROP_OWN] = "own0",
	"own1",
	"own2",
	"own3",
	"own4",
	"own5",
	"own6",
	"own7",
};

const char *haul_drop_name(enum haul_drop reason)
{
	return (unsigned)reason < HAUL_DROP_REASONS ? names[reason] : "?";
}

const char *haul_io_drop_name(const struct haul_io *io, enum haul_drop reason)
{
	HAUL_MISUSE_IF(!io, HAULI_NO_IO);
	if (reason < HAUL_DROP_OWN || reason >= HAUL_DROP_REASONS)
		return haul_drop_name(reason);
	return io->opts.drop_names[reason - HAUL_DROP_OWN];
}

/* Where handlers may be stolen. */
static __attribute__((noinline)) void count_anywhere(
	struct hauli_rxq *r, uint16_t n, enum haul_drop reason)
{
	if (hauli_rxq_is_remote(r))
		hauli_u64_shared_add(&r->remote_dropped[reason], n);
	else
		hauli_counter_add(&r->dropped[reason], n);
}

void haul_drop(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n, enum haul_drop reason)
{
	struct hauli_rxq *r = hauli_rxq_of(rx);

	HAUL_CHECK(rx && pkts);
	HAUL_MISUSE_IF(
		(unsigned)reason >= HAUL_DROP_REASONS, "there is no such reason: %u", reason);
	hauli_pkts_give(pkts, n, "haul_drop");
	if (hauli_likely(!r->home))
		hauli_counter_add(&r->dropped[reason], n);
	else
		count_anywhere(r, n, reason);
	hauli_pkts_free(pkts, n);
}

static __attribute__((noinline)) void send_or_drop(
	struct haul_rx *rx, struct haul_txq *txq, struct rte_mbuf *pkt)
{
	if (haul_send(txq, pkt) != 0)
		haul_drop(rx, &pkt, 1, HAUL_DROP_STOPPING);
}

/* The slow path is a function of its own, so that the fast path saves no registers. */
void haul_send_or_drop(struct haul_rx *rx, struct haul_txq *txq, struct rte_mbuf *pkt)
{
	if (!HAUL_CHECKS && hauli_likely(hauli_txq_send_fast(txq, pkt)))
		return;
	send_or_drop(rx, txq, pkt);
}

static bool is_to_group(const struct rte_mbuf *pkt)
{
	return pkt->data_len >= RTE_ETHER_ADDR_LEN &&
		rte_is_multicast_ether_addr(rte_pktmbuf_mtod(pkt, struct rte_ether_addr *));
}

void haul_drop_verdict(struct haul_rx *rx, struct rte_mbuf *pkt, enum haul_verdict v)
{
	enum haul_drop reason = HAUL_DROP_MALFORMED;

	HAUL_MISUSE_IF(v == HAUL_NET_OK, "the verdict is HAUL_NET_OK: use haul_drop()");
	if (v == HAUL_NET_NOT_FOR_US || (v == HAUL_NET_UNSUPPORTED && is_to_group(pkt)))
		reason = HAUL_DROP_NOT_FOR_US;
	else if (v == HAUL_NET_UNSUPPORTED)
		reason = HAUL_DROP_UNSUPPORTED;
	haul_drop(rx, &pkt, 1, reason);
}

void hauli_drop_unhandled(
	struct hauli_rxq *r, struct rte_mbuf **pkts, uint16_t n, enum haul_drop reason)
{
	hauli_counter_add(&r->not_started, n);
	hauli_glue_has_dropped();
	haul_drop(&r->rx, pkts, n, reason);
}

bool hauli_ledger_check_rx(const struct hauli_rxq *r, const char *where, char *buf, size_t len)
{
	uint64_t received = hauli_counter_read(&r->packets);
	uint64_t in_flight = hauli_rxq_in_flight(r);
	/* A burst function has no count of its own: it has handled all packets that it received. */
	uint64_t not_started = hauli_counter_read(&r->not_started);
	uint64_t started = r->on_packet ? hauli_counter_read(&r->started) : received - not_started;
	uint64_t dropped = 0;
	unsigned i;

	for (i = 0; i < HAUL_DROP_REASONS; i++)
		dropped += hauli_rxq_dropped(r, i);
	if (r->target && hauli_counter_read(&r->target->pass.passed) != received)
		snprintf(buf, len,
			"%s: was handed %" PRIu64 " packets, but received %" PRIu64
			": the ledger does not add up",
			where, hauli_counter_read(&r->target->pass.passed), received);
	else if (in_flight > 0)
		snprintf(buf, len,
			"%s: %" PRIu64 " of %" PRIu64
			" handlers have not ended although cancelled; a handler must return when a "
			"wait returns -ECANCELED, and haul_mutex_lock() is a wait that no cancel "
			"ends: "
			"unlock its mutex, or use haul_mutex_lock_by()",
			where, in_flight, started);
	else if (received != started + not_started)
		snprintf(buf, len,
			"%s: received %" PRIu64 " packets, but handled %" PRIu64
			" and dropped %" PRIu64 " unhandled: the ledger does not add up",
			where, received, started, not_started);
	else if (dropped > received)
		snprintf(buf, len,
			"%s: received %" PRIu64 " packets, but dropped %" PRIu64
			": a handler dropped some twice, or dropped others than it was given",
			where, received, dropped);
	else
		return true;
	return false;
}

bool hauli_ledger_check_tx(const struct hauli_tx *tx, const char *where, char *buf, size_t len)
{
	uint64_t taken = hauli_counter_read(&tx->q.taken);
	uint64_t sent = hauli_counter_read(&tx->sent);
	uint64_t dropped = hauli_counter_read(&tx->full) + hauli_counter_read(&tx->refused) +
		hauli_counter_read(&tx->stopping);

	if (taken == sent + dropped)
		return true;
	snprintf(buf, len,
		"%s: took %" PRIu64 " packets to be sent, but sent %" PRIu64 " and dropped %" PRIu64
		": the ledger does not add up",
		where, taken, sent, dropped);
	return false;
}
