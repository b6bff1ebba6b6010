/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One carrier's part of a struct haul_io: its poller, and for each port a receive queue and a
 * transmit queue. All of it is written on the carrier's thread only, by the poller and by handlers;
 * counters may be read by any thread.
 */
#ifndef HAULI_IO_POLL_H
#define HAULI_IO_POLL_H

#include <haul-dpdk/io.h>
#include <haul/driver.h>
#include <rte_mbuf_dyn.h>

#include "base/cacheline.h"
#include "base/counter.h"
#include "conc/word.h"
#include "io/burst.h"
#include "io/idle.h"
#include "io/spread.h"
#include "net/txq.h"
#include "sched/wait.h"

#define HAULI_BURST_MAX 512
#define HAULI_BURST_DEFAULT 32

/* How long cancelled handlers may take to end. */
#define HAULI_GRACE_NS HAUL_S
/* How long the NIC may take to accept the last packets, once all handlers have ended. */
#define HAULI_LINGER_NS (100 * HAUL_MS)

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

/* Whether the NIC is to be given something. */
static inline bool hauli_has_to_send(const struct hauli_poller *p)
{
	return p->pending || (hauli_unlikely(p->feeds) && hauli_spread_relays(p));
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

/*
 * What a packet carries in a dynamic field: its queue, for the handler, or while it is handed over
 * its place in the list. A store and a load in a line that freeing the packet touches anyway.
 */
union hauli_pkt {
	struct hauli_rxq *rx;
	struct hauli_node node;
};
extern int hauli_pkt_at; /* offset of the field */

static inline struct hauli_rxq **hauli_pkt_rx(struct rte_mbuf *pkt)
{
	return &RTE_MBUF_DYNFIELD(pkt, hauli_pkt_at, union hauli_pkt *)->rx;
}

static inline struct hauli_node *hauli_pkt_node(struct rte_mbuf *pkt)
{
	return &RTE_MBUF_DYNFIELD(pkt, hauli_pkt_at, union hauli_pkt *)->node;
}

static inline struct rte_mbuf *hauli_pkt_of(struct hauli_node *node)
{
	return (struct rte_mbuf *)((char *)node - hauli_pkt_at);
}

/* Before the first poller: registers the field. 0 or -errno. */
int hauli_poll_init(void);

/* Whether it is the body of a handler's coroutine. */
bool hauli_is_handler(haul_fn *fn);

/* Bodies of pollers, one for each way to handle. arg: struct hauli_poller. */
void *hauli_poll_bursts(void *arg);
void *hauli_poll_packets(void *arg);
void *hauli_poll_source(void *arg);

/* The body of the poller that comes after one of the above: it receives nothing, sends what
 * handlers still have to send, and ends when they have, or had their time. */
void *hauli_poll_drain(void *arg);

/* Gives packets of the transmit queues to the NIC until it takes no more, and drops those that it
 * refuses. On the poller's stack. */
void hauli_tx_flush(struct hauli_poller *p);

/* Called when the NIC has taken nothing of a burst that begins with pkt. True if the NIC has room
 * for pkt, so that it never takes pkt if it does not take it in the next call. */
bool hauli_tx_has_room(const struct hauli_tx *tx, const struct rte_mbuf *pkt);

/* Drops what the transmit queues hold, and closes them. */
void hauli_tx_close(struct hauli_poller *p);

/* Counts packets that had no handler as dropped, and frees them. */
void hauli_drop_unhandled(
	struct hauli_rxq *r, struct rte_mbuf **pkts, uint16_t n, enum haul_drop reason);

/* Checks one carrier's books on one port, when nothing moves any more. False: one line in buf says
 * what is wrong; where says which queue. */
bool hauli_ledger_check_rx(const struct hauli_rxq *r, const char *where, char *buf, size_t len);
bool hauli_ledger_check_tx(const struct hauli_tx *tx, const char *where, char *buf, size_t len);

#endif
