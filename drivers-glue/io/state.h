/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of io: struct haul_io, and each carrier's part of it: a poller, and for each port a
 * receive queue and a transmit queue. A carrier's part is written on the carrier's thread only, by
 * the poller and by handlers; counters may be read by any thread.
 */
#ifndef HAULI_IO_STATE_H
#define HAULI_IO_STATE_H

#include <haul-dpdk/io.h>
#include <haul/driver.h>

#include "base/cacheline.h"
#include "base/counter.h"
#include "conc/word.h"
#include "io/burst.h"
#include "io/wait.h"
#include "net/txq.h"
#include "sched/glue.h"

struct hauli_filter;
struct hauli_poller;
struct hauli_tx;

#define HAULI_BURST_MAX 512
#define HAULI_BURST_DEFAULT 32

/* How long cancelled handlers may take to end. */
#define HAULI_GRACE_NS HAUL_S
/* How long the NIC may take to accept the last packets, once all handlers have ended. */
#define HAULI_LINGER_NS (100 * HAUL_MS)

/* The poller's, but for the counters, which may be read by any thread. */
struct hauli_idle {
	struct hauli_wait wait;

	/* What the policies of its queues come to, and the queues to. hauli_idle_recompute() */
	uint64_t spin_ticks; /* so long without packets before it waits */
	uint64_t pause_ns; /* it pauses so long, and does nothing else; HAUL_FOREVER: it does not */
	uint64_t longest_ns; /* bound of a wait; HAUL_FOREVER: none */
	uint64_t fill_time; /* a sleep that is longer may overflow a queue */

	/* How it stands. */
	uint64_t cycle; /* number of the last empty cycle */
	uint64_t since; /* of the first of a row; ticks, 0: not looked at */
	unsigned empties; /* in a row */
	unsigned in_vain; /* waits in a row that a queue ended without packets */
	bool lost; /* a queue cannot be waited on any more */
	uint64_t step_ns; /* of the last sleep, 0: none since packets came */
	uint64_t late_ns; /* how much longer than asked a sleep takes, on average */
	uint64_t woke_at; /* the last wait's end; ticks */

	struct hauli_counter sleeps, wakes, slept_ns;
	struct hauli_counter latency[HAUL_LATENCY_BUCKETS];
};

struct hauli_rxq {
	HAULI_LINE struct haul_rx rx; /* what handlers get; constant */
	struct hauli_burst burst; /* constant */
	struct hauli_counter empty; /* polls that found nothing. Poller */
	struct hauli_counter packets; /* received. Poller */

	HAULI_LINE struct hauli_counter bytes; /* where they are counted here. Poller */
	struct hauli_counter started; /* handlers. Poller */
	struct hauli_counter ended; /* handlers. Themselves */
	haul_packet_fn *on_packet;
	struct haul_carrier *robbed; /* the poller's, if handlers are stolen; else NULL. Constant */
	struct hauli_counter dropped[HAUL_DROP_REASONS]; /* handlers and poller */
	struct haul_port *port; /* constant */
	unsigned max_in_flight; /* constant */
	struct hauli_counter not_started; /* the part of them that never had a handler */
	struct hauli_relay *relay; /* it feeds others; NULL: it does not. Constant, as the next */
	struct hauli_fed *fed; /* others feed it: it is no queue of the port's; NULL: it is one */

	/* Of the poller. */
	struct haul_poll_policy policy;
	uint64_t fill_time; /* constant, as the next */
	struct hauli_poller *poller;
	struct hauli_wait_source source;

	/* Handlers that run elsewhere. */
	HAULI_LINE struct hauli_tally away_ended, away_dropped[HAUL_DROP_REASONS];
};

struct hauli_tx {
	HAULI_LINE struct hauli_burst burst; /* constant, as the next */
	bool count_bytes;
	struct hauli_counter direct; /* sent without lying in the queue. Poller */
	struct hauli_counter sent; /* from the queue. Poller */
	struct hauli_counter dropped_bytes; /* poller */
	struct hauli_counter full; /* dropped: HAUL_DROP_TX_FULL. Poller */
	struct hauli_counter refused; /* dropped: HAUL_DROP_TX_REFUSED. Poller */
	struct hauli_counter stopping; /* dropped: HAUL_DROP_STOPPING. Poller */
	struct hauli_relay *relay; /* it sends for others too. Constant, as the next two */
	const struct haul_port *port; /* NULL: it is no queue of the port's */
	unsigned queue;
	struct hauli_filter *filter; /* of both directions; NULL: none. Constant */
	struct haul_txq q; /* a line of its own */
};

struct hauli_poller {
	/* Constant while the poller runs. */
	HAULI_LINE struct hauli_rxq *rxqs; /* one per port */
	struct hauli_rxq *rxqs_end;
	struct hauli_tx *txs; /* one per port */
	haul_burst_fn *on_burst;
	haul_source_fn *source;
	const struct haul_coro_opts *coro;
	uint16_t burst;
	bool count_bytes;
	bool feeds; /* others */
	bool waits; /* it does not only spin. Poller's carrier */

	HAULI_LINE struct hauli_counter cycles; /* poller */
	struct hauli_counter ended; /* poller, when it ends */
	struct hauli_count drained; /* 1: the last one has handed over all that it sends */
	struct hauli_count may_begin; /* 1: each carrier has a poller. Who starts */
	bool pending; /* a transmit queue holds packets. Senders, poller */

	/* Of the thread that starts and stops. */
	HAULI_LINE struct haul_carrier *carrier;
	struct haul_coro *coroutine; /* to be joined; NULL: none */
	struct hauli_ending ending; /* of coroutine */
	struct rte_mempool *pool; /* constant */
	uint64_t cancel_at; /* when hauli_poll_drain() cancels handlers; haul_now()'s clock */

	HAULI_LINE struct hauli_idle idle;
};

HAULI_ASSERT_LINE(struct hauli_rxq, bytes);
HAULI_ASSERT_LINE(struct hauli_rxq, away_ended);
HAULI_ASSERT_LINE(struct hauli_poller, cycles);
HAULI_ASSERT_LINE(struct hauli_poller, carrier);
HAULI_ASSERT_LINE(struct hauli_poller, idle);
_Static_assert(offsetof(struct hauli_rxq, rx) == 0, "handlers get &rxq->rx");

/* The side of a carrier that is fed, for one port. */
struct hauli_fed {
	struct hauli_handover in; /* what its feeder has received for it */
	struct hauli_batch batch; /* about to be handed over. Feeder */
	struct hauli_counter passed; /* packets handed over. Feeder */

	/* Constant. */
	HAULI_LINE struct hauli_rxq *rxq; /* its own */
	struct hauli_relay *relay;
	struct rte_eth_fp_ops ops; /* of its queue pair */
	void *queue, *no_callbacks;
};

#define HAULI_RELAY_CHUNK 64u

/* The side of a carrier that feeds, for one port. */
struct hauli_relay {
	struct hauli_handover in; /* what it is to send for others */
	HAULI_LINE struct rte_mbuf *pkts[HAULI_RELAY_CHUNK]; /* of that, taken out */
	unsigned first, end; /* what of pkts is not sent yet */
	struct hauli_counter dropped; /* at the end */
	struct hauli_counter refused; /* by the NIC */
	struct hauli_counter lost_bytes; /* of both */
	unsigned nb_fed; /* constant, as the next */
	struct hauli_fed **fed;
};

/* The stages of haul_io_stop(). */
enum hauli_io_stage {
	HAULI_IO_RUNS,
	HAULI_IO_ENDS, /* the pollers are asked to end */
	HAULI_IO_DRAINS, /* they have; the last ones drain */
	HAULI_IO_STOPPED,
};

#define HAULI_NO_IO "NULL is given; give what haul_io_start() has given"

struct haul_io {
	struct haul_io_opts opts; /* constant from the start on, as is all but the last two */
	struct haul_runtime *rt;
	struct haul_coro_opts coro;
	struct haul_port **ports; /* copy of opts.ports */
	struct haul_txq **txqs; /* [nb_ports][nb_pollers], with HAUL_ORDER_ANY */
	struct hauli_poller **pollers; /* [nb_pollers], of the carriers with these numbers */
	unsigned nb_pollers;
	char notice[512];
	enum hauli_io_stage stage;
	char why[256]; /* haul_io_healthy()'s line */
};

static inline uint64_t hauli_bytes_of(struct rte_mbuf **pkts, uint32_t n)
{
	uint64_t bytes = 0;
	uint32_t i;

#pragma GCC unroll 8
	for (i = 0; i < n; i++)
		bytes += pkts[i]->pkt_len;
	return bytes;
}

static inline struct hauli_rxq *hauli_rxq_of(struct haul_rx *rx)
{
	return (struct hauli_rxq *)rx;
}

static inline struct hauli_tx *hauli_tx_of(struct haul_txq *txq)
{
	return (struct hauli_tx *)((char *)txq - offsetof(struct hauli_tx, q));
}

/* Where handlers are not stolen. */
static inline uint64_t hauli_rxq_in_flight_here(const struct hauli_rxq *r)
{
	return hauli_counter_read(&r->started) - hauli_counter_read(&r->ended);
}

static inline uint64_t hauli_rxq_in_flight(const struct hauli_rxq *r)
{
	return hauli_rxq_in_flight_here(r) - hauli_tally_get(&r->away_ended);
}

static inline uint64_t hauli_rxq_dropped(const struct hauli_rxq *r, unsigned reason)
{
	return hauli_counter_read(&r->dropped[reason]) + hauli_tally_get(&r->away_dropped[reason]);
}

/* Whether the caller, a handler, was stolen and runs elsewhere. */
static inline bool hauli_rxq_is_away(const struct hauli_rxq *r)
{
	return r->robbed && hauli_unlikely(r->robbed != haul_carrier_self());
}

#endif
