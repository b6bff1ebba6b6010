/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Moving packets: a poller on each carrier that receives from its queue of every port and hands
 * packets to a handler, which is either a function called for each burst (run to
 * completion on the poller's stack) or a coroutine started for each packet.
 *
 * A program's order: open and start the ports, haul_start(), haul_io_start(); then haul_io_stop(),
 * haul_stop(), close the ports, haul_io_free().
 */
#ifndef HAUL_DPDK_IO_H
#define HAUL_DPDK_IO_H

#include <rte_mbuf.h>

#include <haul-dpdk/port.h>
#include <haul/net.h>
#include <haul/runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where packets come from: one carrier's receive queue of one port. Its carrier's alone. */
struct haul_rx {
	unsigned port; /* index into haul_io_opts.ports */
	unsigned carrier; /* its number, for state that handlers keep per carrier (see coro) */
	struct haul_txq *reply; /* this carrier's transmit queue of the same port */
	struct haul_txq
		*peer; /* and of the port that it is paired with (0-1, 2-3; itself if alone) */
	void *arg; /* haul_io_opts.arg */
};

/* Run to completion: called on the poller's large stack, may make burst calls. Owns the packets.
 * Must not suspend: a call that may suspend ends the program with one line (haul/coro.h). */
typedef void haul_burst_fn(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n);

/* A coroutine for each packet: owns it, may suspend, makes no burst calls. */
typedef void haul_packet_fn(struct haul_rx *rx, struct rte_mbuf *pkt);

/* Produces packets (txonly): fills up to n into pkts for tx, returns how many. On the poller's
 * stack. */
typedef uint16_t haul_source_fn(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n);

struct haul_io;

/* What a poller does when there are no packets. */
enum haul_poll_how {
	HAUL_POLL_SPIN, /* looks again at once */
	HAUL_POLL_BLOCK, /* waits until packets come, or work for coroutines */
	HAUL_POLL_ADAPTIVE, /* looks for ns more, then as block */
	HAUL_POLL_SLEEP, /* looks again after 1, 2, 4, ... us, and at most ns; for any port */
	/* As spin, but rests for at most ns between two looks; for any port, on CPUs that have an
	 * instruction for that. Work from other threads does not end a rest. */
	HAUL_POLL_PAUSE,
};
struct haul_poll_policy {
	enum haul_poll_how how;
	/* 0: 50 us for adaptive, 100 us for sleep, 1 us for pause, which takes 50 us at most. */
	uint64_t ns;
};

/* Reads "spin", "pause[:US]", "block", "adaptive[:US]" or "sleep[:US]" (microseconds). 0, or
 * -EINVAL with a line. */
HAUL_API int haul_poll_parse(
	struct haul_poll_policy *policy, const char *text, char *errbuf, size_t errlen);
HAUL_API const char *haul_poll_name(enum haul_poll_how how); /* "adaptive" */
/* True if this machine can do it: only pause needs a CPU with an instruction for it. Any thread,
 * before EAL too. */
HAUL_API bool haul_poll_available(enum haul_poll_how how);

/* How handlers that were stolen send. */
enum haul_io_order {
	/* From their home, in the order in which they would send if none was stolen: packets of one
	 * flow (haul_net_flow()) stay in order. A handler that waits before gives up its place. */
	HAUL_ORDER_FLOW,
	HAUL_ORDER_ANY, /* through the queue of the carrier on which they run: in any order */
};

/*
 * For ports with fewer queues than there are carriers: whether a carrier with a queue hands packets
 * on, by their flow (haul_net_flow()), to carriers of its cluster without one, and sends for them.
 * Handlers there see no difference. Handing a packet on costs less than a microsecond, but more
 * than a handler of a few dozen instructions.
 */
enum haul_io_spread {
	HAUL_SPREAD_PACKETS, /* with on_packet */
	HAUL_SPREAD_ALL, /* with on_burst too */
	HAUL_SPREAD_OFF,
};

struct haul_io_opts {
	struct haul_port **ports;
	unsigned nb_ports;
	struct rte_mempool *pool; /* of received packets; haul_io_free() checks that it is whole */
	uint16_t burst; /* 1..512; 0: 32 */
	/*
	 * With on_packet: the most handlers per carrier and port that have begun and not ended. At
	 * that number nothing is received, and packets wait in the NIC. 0: what half of the pool
	 * allows.
	 */
	unsigned max_in_flight;
	/*
	 * Count bytes packet by packet; cheap where the handler looks at packets anyway (on_packet
	 * implies it). Otherwise bytes are what the PMD has counted since the port was opened:
	 * packets are not touched, and PMDs that count no bytes (null, ring) show 0.
	 */
	bool count_bytes;
	/* Exactly one of the three. */
	haul_burst_fn *on_burst;
	haul_packet_fn *on_packet;
	haul_source_fn *source;
	/*
	 * Of all queues. block and adaptive are refused for ports without haul_port_wait_source(),
	 * and with source; pause unless haul_poll_available().
	 */
	struct haul_poll_policy policy;
	/*
	 * Packets per second that a queue gets at most; 0: what a NIC's link allows, no bound for
	 * what is not a NIC. With a bound a poller sleeps no longer than its queues last.
	 */
	uint64_t packet_rate;
	/*
	 * For on_packet: name, stack size. pinned: handlers always run on the carrier that received
	 * the packet, so that what they keep per carrier (rx->carrier) is theirs alone. Otherwise
	 * they may be stolen where the runtime steals; haul_pin() brings one home.
	 */
	const struct haul_coro_opts *coro;
	enum haul_io_order order;
	enum haul_io_spread spread;
	void *arg;
};

/*
 * Sends from a burst handler, at once, through the carrier's own queue. Packets that the PMD does
 * not take now are kept for the next flush. They are dropped and counted if there is no room for
 * them (HAUL_DROP_TX_FULL), or if the PMD never takes such a packet (HAUL_DROP_TX_REFUSED).
 * All packets are the queue's afterwards.
 */
HAUL_API void haul_tx_burst(struct haul_txq *txq, struct rte_mbuf **pkts, uint16_t n);

/* Drops packets in a handler and counts them under the reason: ledger and --json show it. */
enum haul_drop {
	HAUL_DROP_TX_FULL, /* transmit queue full */
	HAUL_DROP_TX_REFUSED, /* the device cannot send the frame: too long or too short */
	HAUL_DROP_NO_COROUTINE, /* no stack for a handler */
	HAUL_DROP_MALFORMED,
	HAUL_DROP_NOT_FOR_US,
	HAUL_DROP_UNSUPPORTED,
	HAUL_DROP_STOPPING, /* not sent when the program ended */
	HAUL_DROP_REASONS,
};
HAUL_API const char *haul_drop_name(enum haul_drop reason); /* "tx_full", ... */
HAUL_API void haul_drop(
	struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n, enum haul_drop reason);

/*
 * Registers a poller on each carrier that has a queue of every port, or is fed (spread). What comes
 * on the queues of others is lost: open each port with as many as all of them have. 0; -EINVAL
 * (options), -EBUSY (a carrier has a poller already), -ENOMEM and others, with a line in errbuf.
 * Any thread that is no carrier. Handlers send on their own carrier only.
 */
HAUL_API int haul_io_start(struct haul_io **io, struct haul_runtime *rt,
	const struct haul_io_opts *opts, char *errbuf, size_t errlen);

/*
 * Changes what pollers do about a port, on one carrier or all (carrier < 0), and returns when they
 * do. A carrier whose queues differ does as the least patient: where one spins it spins, and where
 * one sleeps it waits no longer than that one. Any thread that is no carrier. 0; -EINVAL (no such
 * queue, or it cannot be waited on), -ECANCELED (stopping), -ENOMEM: with a line in errbuf.
 */
HAUL_API int haul_io_set_policy(struct haul_io *io, unsigned port, int carrier,
	const struct haul_poll_policy *policy, char *errbuf, size_t errlen);

/* A carrier's transmit queue of a port, for coroutines that send without having received; NULL when
 * the carrier has no poller. Any thread. */
HAUL_API struct haul_txq *haul_io_txq(const struct haul_io *io, unsigned port, unsigned carrier);

/* "" or one line: which carriers got no poller, and why; which queue may overflow while its poller
 * is away. */
HAUL_API const char *haul_io_notice(const struct haul_io *io);

/*
 * Sums over carriers, or one carrier's part (carrier < 0: all). Any thread; each number is exact,
 * the set is not a snapshot.
 */
struct haul_io_stats {
	uint64_t rx_packets, rx_bytes;
	/* Given to the NIC. One carrier's part includes packets that it handed to another carrier
	 * for sending (haul_io_opts.spread) and that were dropped there; the sum does not. */
	uint64_t tx_packets, tx_bytes;
	uint64_t dropped[HAUL_DROP_REASONS];
	uint64_t in_flight; /* handlers that have not ended */
	uint64_t polls, empty_polls;
	/* Packets that the PMD or the kernel lost. Only in the sum over all carriers. */
	uint64_t rx_missed; /* the PMD's ring or the kernel's socket was full */
	uint64_t rx_nombuf; /* no packet buffer */
	uint64_t rx_errors; /* malformed, or too long to be received whole */
	uint64_t tx_errors; /* the PMD took them and did not send them */
};
HAUL_API void haul_io_get_stats(
	const struct haul_io *io, unsigned port, int carrier, struct haul_io_stats *st);

/* How often and how long pollers waited, of all carriers or one (carrier < 0: all). Any thread. */
#define HAUL_LATENCY_BUCKETS 256
struct haul_io_wait_stats {
	uint64_t sleeps; /* waits of any kind, pauses too */
	uint64_t wakes; /* those that ended before their time, by a packet or another thread */
	uint64_t slept_ns; /* all of them */
	/* From the end of a wait to the call of the handler of its first packet, in ns: those below
	 * 8 have one bucket each, then there are eight for each power of two. */
	uint64_t latency[HAUL_LATENCY_BUCKETS];
};
HAUL_API void haul_io_get_wait_stats(
	const struct haul_io *io, int carrier, struct haul_io_wait_stats *st);

/* The quantile of the wake-ups' latencies, in ns: share of them (0.5: the median, 0.99) took at
 * most this long. Exact to an eighth. 0 if there were none. */
HAUL_API uint64_t haul_io_latency_ns(const struct haul_io_wait_stats *st, double share);

/* True while all pollers run and all ports are alive; else *why gets one line, valid until the next
 * call. The thread that started. */
HAUL_API bool haul_io_healthy(struct haul_io *io, const char **why);

/*
 * Ends the pollers and waits until handlers have ended. After timeout_ns it cancels those that have
 * not, and gives them one more second. Then it sends or drops what the queues hold, and checks the
 * ledger of each queue: received == handled + dropped + in flight (0 now), and taken to be sent ==
 * sent + dropped. The queues take nothing more. It takes at most timeout_ns and one and a half
 * seconds. Any thread that is no carrier. 0, or with one line in errbuf:
 *	-EIO		a ledger does not match, or handlers have not ended. The stop is complete
 *			all the same: no poller uses a port
 *	-ETIMEDOUT	carriers do not answer, because something runs there that does not suspend.
 *			Their pollers may still use the ports: close and free nothing; call it again
 *	-EDEADLK	called on a carrier; nothing was done
 *
 * haul_io_free() is called after haul_stop() and after haul_port_close() of all ports. It checks
 * that the pool is whole, and frees io. 0; with one line in errbuf: -EIO if packets are missing (io
 * is freed all the same), -EBUSY if haul_io_stop() has not completed (io is not freed).
 */
HAUL_API int haul_io_stop(struct haul_io *io, uint64_t timeout_ns, char *errbuf, size_t errlen);
HAUL_API int haul_io_free(struct haul_io *io, char *errbuf, size_t errlen);

#ifdef __cplusplus
}
#endif

#endif
