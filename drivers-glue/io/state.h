/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of io: struct haul_io, and each carrier's part of it: a poller, and for each port a
 * receive queue and a transmit queue. A carrier's part is written on the carrier's thread only, by
 * the poller and by handlers; counters may be read by any thread.
 */
#ifndef HAULI_IO_STATE_H
#define HAULI_IO_STATE_H

#include <pthread.h>

#include <haul-dpdk/io.h>
#include <haul/driver.h>

#include "base/cacheline.h"
#include "base/counter.h"
#include "base/stopwatch.h"
#include "conc/word.h"
#include "io/burst.h"
#include "io/wait.h"
#include "net/txq.h"
#include "sched/glue.h"

struct hauli_filter;
struct hauli_poller;
struct hauli_shed;
struct hauli_times;
struct hauli_tx;

#define HAULI_BURST_MAX 512
#define HAULI_BURST_DEFAULT 32

/* Time for cancelled handlers to end. */
#define HAULI_GRACE_NS HAUL_S
/* Time for the NIC to accept the last packets, once all handlers have ended. */
#define HAULI_LINGER_NS (100 * HAUL_MS)

/* The poller's, but for the counters, which may be read by any thread. */
struct hauli_idle {
	struct hauli_io_wait wait;

	/* Merged from the policies and fill times of the queues. hauli_idle_recompute() */
	uint64_t spin_ticks; /* time without packets before the poller waits */
	uint64_t pause_ns; /* length of a pause; HAUL_FOREVER: the poller does not pause */
	uint64_t longest_ns; /* longest wait; HAUL_FOREVER: no bound */
	uint64_t fill_time; /* shortest of the queues: a longer sleep may overflow one */

	/* The current row of empty cycles. */
	uint64_t cycle; /* number of the last empty cycle */
	uint64_t since; /* first cycle of the row; ticks, 0: not read yet */
	unsigned empties; /* in a row */
	uint64_t busy; /* cycles with packets since the last wait */
	unsigned in_vain; /* consecutive waits that a queue ended, without packets */
	bool lost; /* a queue was taken out of the epoll set */
	uint64_t step_ns; /* length of the last sleep; 0: none since the last packet */
	uint64_t late_ns; /* mean delay of the end of a sleep */
	uint64_t woke_at; /* end of the last wait; ticks */

	struct hauli_counter sleeps, wakes;
	struct hauli_stopwatch asleep;
	struct haul_hist latency;
};

struct hauli_rxq {
	HAULI_LINE struct haul_rx rx; /* what handlers get; constant */
	struct hauli_burst burst; /* carrier: a capture changes it */
	struct hauli_counter empty; /* polls that got no packet. Poller */
	struct hauli_counter packets; /* received. Poller */

	HAULI_LINE struct hauli_counter bytes; /* if haul counts bytes, not the PMD. Poller */
	struct hauli_counter started; /* handlers. Poller */
	struct hauli_counter ended; /* handlers. Written by handlers */
	haul_packet_fn *on_packet;
	struct haul_carrier
		*home; /* the carrier, if thieves may steal handlers; else NULL. Constant */
	struct hauli_counter dropped[HAUL_DROP_REASONS]; /* handlers and poller */
	struct haul_port *port; /* constant */
	unsigned max_in_flight; /* carrier: a move changes it */
	struct hauli_counter not_started; /* dropped packets that never had a handler */
	struct hauli_counter held; /* of empty: max_in_flight was reached. Poller */
	/* Cycles of the poller while it polls this queue: its clock is hauli_poller.cycles.
	 * Carrier */
	struct hauli_stopwatch polls;
	struct hauli_tx_proxy
		*proxy; /* NULL: the carrier is no proxy here. Constant, as the next */
	struct hauli_rps_target
		*target; /* NULL: a queue of the port's; else packets come from a proxy */

	/* The poller's. */
	struct haul_poll_policy policy; /* hauli_rxq_set_policy() */
	struct hauli_u64_owned told_policy; /* the same, for other threads. Carrier */
	uint64_t fill_time; /* constant, as the next */
	struct hauli_poller *poller;
	struct hauli_times *times; /* NULL: stages are not recorded. Constant */
	struct hauli_filter *filter; /* NULL: of an RPS target; the first queue's also sends */
	struct hauli_io_wait_source source;
	struct hauli_prototype prototype; /* of handlers. Constant while there are any */
	bool spawns; /* handlers cannot be records. Constant, as the next */
	char name[32]; /* of handlers, if haul_io_opts.coro has none */
	struct hauli_shed *shed; /* NULL: no overload control. Constant */

	/* Written by stolen handlers, on the carriers of their thieves. */
	HAULI_LINE struct hauli_u64_shared remote_ended, remote_dropped[HAUL_DROP_REASONS];
};

struct hauli_tx {
	HAULI_LINE struct hauli_burst burst; /* carrier: a capture changes it */
	bool count_bytes; /* constant, as the next */
	bool observed; /* count_bytes, or times is set */
	bool detached; /* the port is, or its queue is stopped: all packets are refused. Carrier */
	bool no_source; /* detached, or an idle port. Carrier */
	struct hauli_counter direct; /* sent, past the queue. Poller */
	struct hauli_counter sent; /* sent, out of the queue. Poller */
	struct hauli_counter dropped_bytes; /* poller */
	struct hauli_counter full; /* dropped: HAUL_DROP_TX_FULL. Poller */
	struct hauli_counter refused; /* dropped: HAUL_DROP_TX_REFUSED. Poller */
	struct hauli_counter stopping; /* dropped: HAUL_DROP_STOPPING. Poller */
	struct hauli_tx_proxy *proxy; /* NULL: no proxy. Constant, as the next two */
	const struct haul_port *port; /* NULL: a target's queue, which is none of the port's */
	unsigned queue;
	struct hauli_times *times; /* NULL: stages are not recorded. Constant, as the next two */
	uint32_t retries; /* haul_io_opts.tx_retries, tx_retry_ns */
	uint64_t retry_ns;
	struct haul_txq q; /* a line of its own */
};

/* The poller's; read by any thread. Over all runs (haul_io_resume()). Each is one word, so that a
 * reader counts no time twice, or not at all, when a run begins or ends. Model:
 * tests/model/share.c. */
struct hauli_share {
	struct hauli_stopwatch elapsed;
	struct hauli_stopwatch worked; /* its clock is the carrier's work (hauli_glue_work()) */
};

struct hauli_poller {
	/* Constant while the poller runs. */
	/* First the carrier's first queue of each port, by port. Then its other queues, if ports
	 * have more queues than there are pollers. Then those that may move here (move.c). */
	HAULI_LINE struct hauli_rxq *rxqs;
	struct hauli_rxq *rxqs_end;
	/* The queues that it polls, and NULL in all places behind them. A move may change the
	 * places in the middle of a cycle. Carrier */
	struct hauli_rxq **active;
	struct hauli_tx *txs; /* by port */
	unsigned nb_ports;
	haul_burst_fn *on_burst;
	haul_source_fn *source;
	uint16_t burst;
	bool count_bytes;
	bool is_proxy; /* of RPS targets, on some port */
	bool waits; /* false: the poller only spins. Poller's carrier */
	bool runs; /* between its first cycle and its last. Poller */
	bool works; /* the last cycle found something to do (share.h). Poller */

	HAULI_LINE struct hauli_counter cycles; /* poller */
	struct hauli_counter ended; /* 1: the poller has ended. Poller */
	struct hauli_u32_published drained; /* 1: the last poller has handed over all its packets */
	struct hauli_u32_published may_begin; /* 1: each carrier has a poller. haul_io_start() */
	bool pending; /* a transmit queue has packets. Senders, poller */
	/* 1: not in use, so it waits until it is. Carrier, under haul_io.moving (use.c) */
	struct hauli_u32_published spared;
	/* Packets received from `active` by the last event of the timeline. Carrier */
	uint64_t told;

	/* The thread that starts and stops. */
	HAULI_LINE struct haul_carrier *carrier;
	struct haul_coro *coroutine; /* to be joined; NULL: none */
	struct hauli_ending ending; /* of coroutine */
	struct rte_mempool *pool; /* constant */
	/* When hauli_drain() cancels handlers, in time of haul_now() and without the run delay of
	 * the carrier since delay_seen. */
	uint64_t cancel_at;
	struct hauli_delay delay_seen;
	struct hauli_delay delay_waited; /* the same, of the thread that waits */

	HAULI_LINE struct hauli_idle idle;
	struct hauli_share share;
	/* Handlers that stops have cancelled. hauli_drain(); read after it has ended */
	struct hauli_sites cancelled;
};

HAULI_ASSERT_LINE(struct hauli_rxq, bytes);
HAULI_ASSERT_LINE(struct hauli_rxq, remote_ended);
HAULI_ASSERT_LINE(struct hauli_poller, cycles);
HAULI_ASSERT_LINE(struct hauli_poller, carrier);
HAULI_ASSERT_LINE(struct hauli_poller, idle);
_Static_assert(offsetof(struct hauli_rxq, rx) == 0, "handlers get &rxq->rx");

/* Where a proxy puts packets that it has received. Proxy */
struct hauli_pass {
	struct hauli_bulk bulk; /* not handed over yet */
	struct hauli_counter passed; /* packets, since the start or the last release */
};

/* An RPS target, for one port: a carrier without a queue that gets packets from another. */
struct hauli_rps_target {
	struct hauli_handover in; /* packets that the proxy has received for the target */
	struct hauli_pass pass; /* about to be handed over */

	/* Constant. */
	HAULI_LINE struct hauli_rxq *rxq; /* the target's */
	struct hauli_tx_proxy *proxy;
	struct rte_eth_fp_ops ops; /* of the target's queue pair */
	void *queue, *no_callbacks;
};

/* Packets per burst call: every PMD takes this number, and few PMDs take more at once. */
#define HAULI_OFFER_MAX 64u

#define HAULI_TX_PROXY_CHUNK 64u
#define HAULI_TX_PROXY_CHUNKS 16u /* in a cycle: targets may hand over faster than the NIC takes */

/* A tx proxy, for one port: a carrier with a queue that receives and sends for RPS targets. */
struct hauli_tx_proxy {
	struct hauli_handover in; /* packets that targets have handed over */
	HAULI_LINE struct rte_mbuf *pkts[HAULI_TX_PROXY_CHUNK]; /* taken out of in */
	unsigned first, end; /* the part of pkts that is not sent yet */
	unsigned chunks; /* that this cycle may still take */
	struct hauli_counter dropped; /* not sent when the program ended */
	struct hauli_counter refused; /* by the NIC */
	struct hauli_counter lost_bytes; /* of dropped and refused packets */
	struct hauli_counter emptied; /* flushes that have left no packet. Poller */
	unsigned nb_targets; /* constant, as the next */
	struct hauli_rps_target **targets;

	/* By bucket, which is the highest bits of haul_net_flow(). Two arrays, as the index of each
	 * then needs no instruction. */
	HAULI_LINE struct hauli_pass
		*to[HAUL_IO_BUCKETS]; /* NULL: the proxy keeps them. Proxy's carrier, as the next */
	struct hauli_counter packets[HAUL_IO_BUCKETS];
	struct hauli_pass held; /* packets of the buckets that move (bucket.c) */
	/* Packets that were held, and are the proxy's now: oldest first. Its poller takes them. */
	struct hauli_node *back;
	/* By bucket: its carrier. Changed under haul_io.moving, read by any thread. */
	struct hauli_u32_published carriers[HAUL_IO_BUCKETS];
};

/* A port's redirection table, as haul has read or changed it (entries.c). */
struct hauli_reta {
	struct hauli_reta *older; /* of another device; threads may still read it */
	unsigned n;
	/* By entry: the queue. Changed under haul_io.moving, read by any thread. */
	struct hauli_u32_published queues[];
};

/* The stages of haul_io_stop(). */
enum hauli_io_stage {
	HAULI_IO_RUNS,
	HAULI_IO_ENDS, /* pollers are cancelled */
	HAULI_IO_DRAINS, /* pollers have ended; the last pollers drain */
	HAULI_IO_STOPPED,
};

/* What a carrier has counted before the last haul_io_reshape(), also if it has no poller now. */
struct hauli_earlier {
	struct haul_io_wait_stats waits;
	struct haul_io_share share;
	struct {
		struct haul_io_stats io; /* bytes are those that haul has counted */
		struct haul_overload_stats overload;
	} ports[]; /* by port */
};

/* Bytes of a port and carrier in one direction. Sums continue when haul counts them instead of the
 * PMD, or vice versa. */
struct hauli_bytes {
	uint64_t more; /* to be added to what is counted now */
	/* When that changed last: sums of that time. */
	uint64_t packets, bytes, uncounted;
};
struct hauli_port_bytes {
	struct hauli_bytes rx, tx;
};

#define HAULI_NO_IO "NULL is given; give what haul_io_start() has given"

struct haul_io {
	/* Constant while pollers run, as all but stage and why. */
	struct haul_io_opts opts;
	struct haul_runtime *rt;
	struct haul_coro_opts coro;
	struct haul_port **ports; /* copy of opts.ports */
	unsigned *peers; /* copy of opts.peers, or the default */
	bool *idle; /* copy of opts.idle */
	struct haul_txq **txqs; /* [nb_ports][nb_pollers], with HAUL_ORDER_ANY */
	struct hauli_times **times; /* [nb_ports][nb_carriers]; NULL: stages are not recorded */
	unsigned nb_carriers; /* also those without a poller */
	struct hauli_poller **pollers; /* [nb_pollers]; i: of carrier i */
	unsigned nb_pollers;
	/* By port, then by queue: the carrier that polls it. Changed under `moving`, read by any
	 * thread. NULL for a port some of whose packets are spread. */
	struct hauli_u32_published **owners;
	/* By port: its struct hauli_reta, NULL: there is none. */
	struct hauli_ptr_published *retas;
	/* By port; 1: no poller uses it any more (detach.c). */
	struct hauli_u32_published *detached;
	pthread_mutex_t moving; /* one move, haul_io_use() or haul_io_detach_port() at a time */
	char notice[512];
	enum hauli_io_stage stage;
	/* By carrier of the runtime, and a last one for what proxies have taken back from the sums
	 * of all. NULL: nothing. */
	struct hauli_earlier **earlier;
	/* [nb_ports][carriers + 1], the last of a port for all carriers: added to counted bytes,
	 * because haul counted them before and a PMD now, or vice versa. NULL: nothing to add. */
	struct hauli_port_bytes *bytes_before;
	struct haul_capture *capture; /* NULL: none. The thread that starts and stops */
	char why[256]; /* haul_io_is_healthy()'s line */
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

/* Any thread. */
static inline bool hauli_io_has_port(const struct haul_io *io, unsigned port)
{
	return !hauli_u32_published_get(&io->detached[port]);
}

static inline struct hauli_rxq *hauli_rxq_of(struct haul_rx *rx)
{
	return (struct hauli_rxq *)rx;
}

static inline struct hauli_tx *hauli_tx_of(struct haul_txq *txq)
{
	return (struct hauli_tx *)((char *)txq - offsetof(struct hauli_tx, q));
}

#define HAULI_POLICY_NS_MAX (((uint64_t)1 << 56) - 1)

/* On the carrier, or before its poller runs. */
static inline void hauli_rxq_set_policy(struct hauli_rxq *r, const struct haul_poll_policy *policy)
{
	uint64_t ns = policy->ns < HAULI_POLICY_NS_MAX ? policy->ns : HAULI_POLICY_NS_MAX;

	r->policy = *policy;
	hauli_u64_owned_set(&r->told_policy, (uint64_t)policy->how << 56 | ns);
}

/* Any thread. */
static inline struct haul_poll_policy hauli_rxq_policy(const struct hauli_rxq *r)
{
	uint64_t word = hauli_u64_owned_get(&r->told_policy);

	return (struct haul_poll_policy){
		(enum haul_poll_how)(word >> 56), word & HAULI_POLICY_NS_MAX};
}

/* For queues whose handlers cannot be stolen. */
static inline uint64_t hauli_rxq_in_flight_here(const struct hauli_rxq *r)
{
	return hauli_counter_read(&r->started) - hauli_counter_read(&r->ended);
}

static inline uint64_t hauli_rxq_in_flight(const struct hauli_rxq *r)
{
	return hauli_rxq_in_flight_here(r) - hauli_u64_shared_get(&r->remote_ended);
}

static inline uint64_t hauli_rxq_dropped(const struct hauli_rxq *r, unsigned reason)
{
	return hauli_counter_read(&r->dropped[reason]) +
		hauli_u64_shared_get(&r->remote_dropped[reason]);
}

/* True if the caller, a handler, was stolen and runs on another carrier. */
static inline bool hauli_rxq_is_remote(const struct hauli_rxq *r)
{
	return r->home && hauli_unlikely(r->home != haul_carrier_self());
}

#endif
