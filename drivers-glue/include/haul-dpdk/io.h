/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packet I/O: a poller on each carrier receives from the carrier's queues of every port (poller i
 * of n has queues i, i + n, ..., and sends on queue i) and passes packets to a handler: a function
 * called for each burst (run to completion, on the poller's stack), or a coroutine started for each
 * packet.
 *
 * Order of calls: haul_port_open(), haul_port_start(), haul_start(), haul_io_start(); to end,
 * haul_io_stop(), haul_stop(), haul_port_close(), haul_io_free(). In between, haul_io_stop() and
 * haul_io_resume() any number of times. The runtime has the launcher of haul_eal_launcher():
 * threads that EAL does not know have no caches of packet buffers, and are several times slower.
 */
#ifndef HAUL_DPDK_IO_H
#define HAUL_DPDK_IO_H

#include <rte_mbuf.h>

#include <haul-dpdk/overload.h>
#include <haul-dpdk/port.h>
#include <haul/hist.h>
#include <haul/net.h>
#include <haul/runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The source of packets: a carrier's receive queue of one port. Only that carrier uses it. */
struct haul_rx {
	unsigned port; /* index into haul_io_opts.ports */
	uint16_t queue; /* of the port; with spreading: the carrier's number */
	uint16_t carrier; /* haul_carrier_id(), for handlers with data per carrier (see coro) */
	struct haul_txq *reply; /* this carrier's transmit queue of the same port */
	struct haul_txq *peer; /* the same of the port's peer (haul_io_opts.peers) */
	void *arg; /* haul_io_opts.arg */
};

/* Handles a burst on the poller's stack, and owns the packets: it sends, drops or frees each one,
 * or passes it on to code that will. It may make burst calls of DPDK, but must not suspend: a haul
 * call that may suspend aborts with one line (haul/coro.h). */
typedef void haul_burst_fn(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n);

/* Handles a packet in a coroutine of its own, and owns the packet, as above; it may return before
 * the packet is sent or freed. It may suspend, but must not make burst calls of DPDK: these need
 * the stack of a poller. */
typedef void haul_packet_fn(struct haul_rx *rx, struct rte_mbuf *pkt);

/* Produces up to n packets to send on rx->reply into pkts, and returns their number. Called in each
 * cycle of the poller, on its stack; must not suspend. n is 0 while packets that the NIC has not
 * taken wait on rx->reply. A result above n aborts with one line. */
typedef uint16_t haul_source_fn(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n);

struct haul_io;
struct haul_capture;

/* What a poller does while there are no packets. */
enum haul_poll_how {
	HAUL_POLL_SPIN, /* polls again at once */
	HAUL_POLL_BLOCK, /* blocks until packets or work for coroutines arrive */
	HAUL_POLL_ADAPTIVE, /* spins for ns, then blocks */
	HAUL_POLL_SLEEP, /* sleeps 1, 2, 4, ... us, up to ns, between polls; for any port */
	/* Rests the CPU for at most ns between polls; for any port, on CPUs with an instruction for
	 * that. Packets may end a rest; work from other threads does not. */
	HAUL_POLL_PAUSE,
};
struct haul_poll_policy {
	enum haul_poll_how how;
	/* Nanoseconds. 0: 50 us (adaptive), 100 us (sleep), 1 us (pause). pause: at most 50 us. */
	uint64_t ns;
};

/* Parses "spin", "pause[:US]", "block", "adaptive[:US]" or "sleep[:US]" (US: microseconds). Any
 * thread. Returns 0, or -EINVAL with one line in errbuf. */
HAUL_API int haul_poll_parse(
	struct haul_poll_policy *policy, const char *text, char *errbuf, size_t errlen);
HAUL_API const char *haul_poll_name(enum haul_poll_how how); /* "adaptive" */

/* A kind of poller. */
struct haul_poll_kind {
	enum haul_poll_how how;
	const char *name; /* "adaptive" */
	const char *form; /* "adaptive[:US]", for haul_poll_parse() */
	const char *help; /* for --help: less than a line */
	uint64_t ns; /* the time of a policy whose ns is 0; 0: the kind has no time */
	uint64_t ns_max; /* that haul_poll_parse() takes */
	bool needs_wait_source; /* haul_port_wait_source(): the poller waits for packets */
	bool opens_interrupts; /* the port is to be opened with haul_port_opts.waits */
	bool may_overflow; /* a queue may be full before its poller is back from a wait */
};
/* The i-th kind, in the order for --help; NULL: there are no more. Any thread, before EAL too. */
/* A struct has the same name, of which -Wshadow of C++ would warn. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
HAUL_API const struct haul_poll_kind *haul_poll_kind(unsigned i);
#pragma GCC diagnostic pop
HAUL_API const struct haul_poll_kind *haul_poll_kind_of(enum haul_poll_how how); /* NULL: none */

/* True if this CPU supports it: only pause needs a special instruction. Any thread, also without
 * EAL. */
HAUL_API bool haul_poll_is_available(enum haul_poll_how how);

/* The order in which handlers send, if they can be stolen. */
enum haul_send_order {
	/* Handlers send from their home, in the order they would have without stealing: packets of
	 * a flow (haul_net_flow()) stay in order. A handler that waits before it sends gives up its
	 * position in this order. */
	HAUL_ORDER_FLOW,
	HAUL_ORDER_ANY, /* handlers send on the carrier that runs them, in any order */
};

/*
 * Spreading in software (like RPS), for ports with fewer queues than carriers: a carrier with a
 * queue passes packets, by their flow (haul_net_flow()), to carriers of its cluster without a
 * queue, and sends for them. Handlers see no difference. Passing a packet on costs less than 1 us,
 * but more than a handler of a few dozen instructions.
 */
enum haul_io_spread {
	HAUL_SPREAD_PACKETS, /* with on_packet */
	HAUL_SPREAD_ALL, /* with on_burst too */
	HAUL_SPREAD_OFF,
};

/* The number of drop reasons that a program may have of its own (enum haul_drop). */
#define HAUL_DROP_OWN_MAX 8

struct haul_io_opts {
	struct haul_port **ports;
	unsigned nb_ports;
	struct rte_mempool *pool; /* of received packets; haul_io_free() checks it for leaks */
	uint16_t burst; /* maximum of packets per poll, 1 to 512; 0: 32 */
	/*
	 * With on_packet: maximum of handlers per carrier and port that have started and not ended.
	 * At the maximum the poller leaves packets in the NIC, or drops them (overload). 0: half of
	 * the pool, divided among carriers and ports.
	 */
	unsigned max_in_flight;
	/*
	 * true: haul counts the bytes of each packet, which is cheap if the handler reads packets
	 * anyway. false: bytes are those that the PMD counted since the port was opened; haul does
	 * not touch packets, and those of PMDs that count no bytes (ring; null before DPDK 25.07)
	 * are uncounted in haul_io_stats.
	 */
	bool count_bytes;
	/* One of on_burst and on_packet, or source, or source and one of these: then each cycle of
	 * a poller sends packets of the source on each port before it receives. Without them a
	 * poller receives nothing. */
	haul_burst_fn *on_burst;
	haul_packet_fn *on_packet;
	haul_source_fn *source;
	/*
	 * For all queues. An error: block or adaptive, with a port that has no
	 * haul_port_wait_source() or with source; pause, unless haul_poll_is_available().
	 */
	struct haul_poll_policy policy;
	/*
	 * Maximum rate of a queue, in packets per second. A poller sleeps no longer than its
	 * receive rings hold at this rate. 0: the link rate of a NIC; unlimited for other ports.
	 */
	uint64_t packet_rate;
	/*
	 * For on_packet: name and stack_size of the handlers' coroutines; pinned: with stealing,
	 * handlers always run on the carrier that received the packet, so data per carrier
	 * (rx->carrier) needs no lock. Otherwise they may be stolen; haul_pin() returns one to its
	 * home. NULL: the defaults. Without a name they are called "port 0 queue 1", after the
	 * queue that received the packet, or "port 0 carrier 1" if spreading passed it on.
	 */
	const struct haul_coro_opts *coro;
	enum haul_send_order send_order;
	enum haul_io_spread spread; /* with source: off */
	/* Names of the program's own reasons, HAUL_DROP_OWN + i, such as "blocked"; they must
	 * outlive io. */
	const char *drop_names[HAUL_DROP_OWN_MAX];
	/* The peer of each port, as indexes into ports, for haul_rx.peer; copied. NULL: 0 and 1, 2
	 * and 3, ... are peers of each other, a last port without a pair of itself. */
	const unsigned *peers;
	/* By index into ports; copied. true: pollers receive nothing from this port, whose packets
	 * stay in its rings, and call no source for it. Handlers may send on it. NULL: none. */
	const bool *idle;
	struct haul_capture *capture; /* begins with the first packet (capture.h); NULL: none */
	void *arg; /* for haul_rx.arg */
	bool times; /* records stages of each packet's time (enum haul_stage) */
	bool stopped; /* haul_io_start() starts no poller: haul_io_resume() does */
	/* haul_tx_burst() for which the queue lacks room: the carrier tries again so many times,
	 * with tx_retry_ns in between, and nothing else, for HAUL_IO_RETRY_MAX at most. */
	uint32_t tx_retries;
	uint64_t tx_retry_ns;
	struct haul_overload overload; /* drops the excess of packets, and tells which */
};
#define HAUL_IO_RETRY_MAX (10 * HAUL_MS)

/*
 * Sends a burst at once, on a queue of the calling carrier; for burst handlers. The queue owns all
 * packets afterwards: it buffers those that the PMD does not take now, until the next flush. It
 * drops and counts those for which it has no room (HAUL_DROP_TX_FULL), after tx_retries if there
 * are any, and those that the PMD can never send (HAUL_DROP_TX_REFUSED). Does not suspend.
 */
HAUL_API void haul_tx_burst(struct haul_txq *txq, struct rte_mbuf **pkts, uint16_t n);

/*
 * A handler ends its ownership of a packet by a send, by haul_drop(), by giving the packet to other
 * code (a queue or a coroutine of the program), or by rte_pktmbuf_free(). All are correct; only the
 * first two appear in the counters.
 *
 * Reasons of haul_drop(), with a counter each.
 */
enum haul_drop {
	HAUL_DROP_TX_FULL, /* the transmit queue was full */
	/* the device cannot send the frame: too long, too short, or the port is detached */
	HAUL_DROP_TX_REFUSED,
	HAUL_DROP_NO_COROUTINE, /* no memory for a handler's stack */
	HAUL_DROP_MALFORMED,
	HAUL_DROP_NOT_FOR_US,
	HAUL_DROP_UNSUPPORTED,
	HAUL_DROP_STOPPING, /* not sent before the end of the program */
	HAUL_DROP_CONSUMED, /* the program has used the packet and needs it no more: no loss */
	HAUL_DROP_LATE, /* by overload control (overload.h): it would have waited too long */
	HAUL_DROP_OVER_SHARE, /* the same, and its source sends more than others */
	HAUL_DROP_OWN, /* with the next seven: reasons of the program (haul_io_opts.drop_names) */
	HAUL_DROP_REASONS = HAUL_DROP_OWN + HAUL_DROP_OWN_MAX,
};
HAUL_API const char *haul_drop_name(enum haul_drop reason); /* "tx_full", ..., "own0", ... */
/* The same, with the names of the program; NULL: a reason of its own without a name. Any thread. */
HAUL_API const char *haul_io_drop_name(const struct haul_io *io, enum haul_drop reason);
/* Frees n packets, and counts them for rx under the reason. Called in handlers. Does not
 * suspend. */
HAUL_API void haul_drop(
	struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n, enum haul_drop reason);
/* haul_send(), and if that fails, haul_drop() with HAUL_DROP_STOPPING. Most handlers end so; it is
 * cheaper than the two calls. Called in coroutine handlers. */
HAUL_API void haul_send_or_drop(
	struct haul_rx *rx, struct haul_txq *txq, struct rte_mbuf *pkt) HAUL_SUSPENDS;
/* haul_drop() of a packet for which haul_net_parse() or haul_net_answer() did not return
 * HAUL_NET_OK. Unsupported frames to a group (LLDP, STP, ...) count as not for us. */
HAUL_API void haul_drop_verdict(struct haul_rx *rx, struct rte_mbuf *pkt, enum haul_verdict v);

/*
 * Registers a poller on each carrier that has a queue of every port, or gets packets by spreading.
 * Packets on queues of other carriers are lost, so open all ports with the same number of queues.
 * Handlers send on queues of their own carrier only. Any thread that is no carrier. Returns 0, and
 * the caller owns *io until haul_io_free(); or -EINVAL (options; a port that is not started),
 * -EBUSY (a carrier has a poller), -EPERM (called on a carrier), -ENOMEM and others, with one line
 * in errbuf. *io is set before the first call of a handler. *opts, its array of ports and
 * *opts->coro are copied.
 */
HAUL_API int haul_io_start(struct haul_io **io, struct haul_runtime *rt,
	const struct haul_io_opts *opts, char *errbuf, size_t errlen);

/*
 * Changes the policy of the queues that one carrier or HAUL_ALL polls of one port or HAUL_ALL, and
 * returns once it is in effect. A poller with queues of different policies follows the least
 * patient one: it spins if one of them spins, and sleeps no longer than the shortest sleep.
 *
 * timeout_ns: how long each carrier may take to answer, without the time for which its thread waits
 * for a CPU; HAUL_FOREVER: no limit. A carrier does not answer while a coroutine keeps it busy.
 * Any thread that is no carrier. Returns 0; or with one line in errbuf:
 *	-EINVAL	there is no such port or carrier, or pollers cannot wait for it so: nothing has
 *		changed
 *	-ETIMEDOUT, -ECANCELED, -ENOMEM	a carrier does not answer; the runtime is being stopped; no
 *			memory. Carriers before that one have changed, the others will not
 */
HAUL_API int haul_io_set_policy(struct haul_io *io, unsigned port, unsigned carrier,
	const struct haul_poll_policy *policy, uint64_t timeout_ns, char *errbuf, size_t errlen);

/* Changes haul_io_opts.burst (1 to 512) of all pollers, and returns once it is in effect. Any
 * thread that is no carrier. timeout_ns, and what it returns: as haul_io_set_policy(). */
HAUL_API int haul_io_set_burst(
	struct haul_io *io, uint16_t burst, uint64_t timeout_ns, char *errbuf, size_t errlen);

/* The transmit queue of a carrier and port, for coroutines that are no packet handlers; NULL if the
 * carrier has no poller. Any thread. */
HAUL_API struct haul_txq *haul_io_txq(const struct haul_io *io, unsigned port, unsigned carrier);

/* One line for the user, or "": carriers without a poller, and the reason; a queue that may
 * overflow while its poller sleeps; a runtime without haul_eal_launcher(). io owns it. Any
 * thread. */
HAUL_API const char *haul_io_notice(const struct haul_io *io);

/* Counters of a port. Each is exact; they are not read at one instant. */
struct haul_io_stats {
	uint64_t rx_packets, rx_bytes;
	/* Passed to the NIC. With haul_io_opts.spread the count of one carrier includes packets
	 * that it passed to another carrier and that were dropped there; the sum does not. */
	uint64_t tx_packets, tx_bytes;
	/* Packets whose bytes neither the PMD nor haul has counted: rx_bytes and tx_bytes lack
	 * them. */
	uint64_t rx_uncounted, tx_uncounted;
	uint64_t dropped[HAUL_DROP_REASONS]; /* by haul and haul_drop() */
	/* Handlers that have not ended. While those of a burst run one after another, none of which
	 * has waited, it counts all of that burst. */
	uint64_t in_flight;
	/* Packets in transmit queues that the poller has seen, not yet passed to the NIC. */
	uint64_t tx_queued;
	uint64_t polls, empty_polls;
	uint64_t held_polls; /* of empty_polls: max_in_flight handlers had not ended */
	/* Lost by the PMD or the kernel. Only in the sum over all carriers. */
	/* Dropped before the PMD, since the port's first start: the receive ring of the NIC, or the
	 * queue of the TAP or the socket, was full, or the kernel had no buffer. (The page "Where
	 * was my packet lost?" of the guide lists what each kind of port counts.) */
	uint64_t rx_missed;
	uint64_t rx_nombuf; /* the pool was empty */
	uint64_t rx_errors; /* malformed, or too long for a packet buffer */
	uint64_t tx_errors; /* taken by the PMD and not sent */
};
/* Copies the counters of one carrier, or the sum of HAUL_ALL, into *st. Any thread. */
HAUL_API void haul_io_get_stats(
	const struct haul_io *io, unsigned port, unsigned carrier, struct haul_io_stats *st);

/* A wait of this length is reported with its call stack. */
#define HAUL_IO_LONG_WAIT HAUL_S

/* Handlers of a carrier that wait: for a time, a lock, a channel, another coroutine, ... */
struct haul_io_waits {
	uint64_t handlers;
	/* The age of the oldest of these waits, in steps of about a millisecond; 0 with virtual
	 * time. A handler that waits anew, as in a loop, begins a new wait. */
	uint64_t longest_ns;
	/* The call stack of that wait, in one line, such as "haul_park+0x20 (libhaul.so.0.1) <
	 * ask+0x31 (resolver)"; "" if it is shorter than HAUL_IO_LONG_WAIT. */
	char longest_at[192];
};
/* Counts the handlers of carriers 0 to n-1 that wait now, into waits[0..n-1]. It looks at each
 * coroutine of the runtime, and costs nothing while it is not called. Any thread that is no
 * carrier; not during haul_stop(). */
HAUL_API void haul_io_get_waits(const struct haul_io *io, struct haul_io_waits *waits, unsigned n);

/* Handlers that waited in the same call stack when a stop cancelled them. */
struct haul_io_cancelled {
	uint64_t handlers;
	/* As haul_io_waits.longest_at; "": they did not wait, or waited in one of many others. */
	char at[192];
};
#define HAUL_IO_CANCELLED_MAX 17
/* Handlers that haul_io_stop() has cancelled, of all stops since haul_io_start(), because they had
 * not ended in time: the largest numbers first, that without a call stack last. *sum gets the sum.
 * Returns the number of entries. Any thread, after a stop, and before haul_io_resume() and
 * haul_io_free(). */
HAUL_API unsigned haul_io_get_cancelled(const struct haul_io *io,
	struct haul_io_cancelled cancelled[HAUL_IO_CANCELLED_MAX], uint64_t *sum);

/* What was received from one queue of a port. */
struct haul_queue_stats {
	unsigned carrier; /* that polls it */
	uint64_t rx_packets, polls, empty_polls;
	uint64_t dropped; /* of rx_packets, by handlers, for any reason */
	struct haul_poll_policy policy; /* what is asked of that carrier's poller */
};
/* Copies the counters of a receive queue into *st. Any thread. False: the port has no such queue,
 * or no carrier polls it. */
HAUL_API bool haul_io_get_queue_stats(
	const struct haul_io *io, unsigned port, unsigned queue, struct haul_queue_stats *st);

/* How often and how long pollers waited for packets. */
struct haul_io_wait_stats {
	uint64_t sleeps; /* waits of any kind, with pauses */
	uint64_t wakes; /* waits ended early, by a packet or another thread */
	uint64_t slept_ns; /* the sum of all waits, including the one under way */
	/* Nanoseconds from the end of a wait to the call of the handler of its first packet. */
	struct haul_hist latency;
};
/* Copies the counters of one carrier, or the sum of HAUL_ALL, into *st. Any thread. */
HAUL_API void haul_io_get_wait_stats(
	const struct haul_io *io, unsigned carrier, struct haul_io_wait_stats *st);

/* Stages of a packet's time. docs/guide/latency.md */
enum haul_stage {
	/* From the packet's arrival in the kernel, or from the time at which a generator should
	 * have sent it, to the dequeue by the poller. Recorded for ports whose PMD gives the
	 * kernel's receive timestamps (pcap of an interface; afpacket since DPDK 23.07), and by
	 * handlers that know an intended time (haul_record()). */
	HAUL_STAGE_ARRIVAL,
	/* To the start of the handler: the burst function, or the first instruction of the packet's
	 * coroutine. */
	HAUL_STAGE_START,
	/* To the end of the handler; each packet of a burst has the time of the whole burst. A
	 * stolen handler counts for the carrier on which it ends. */
	HAUL_STAGE_HANDLER,
	/* From haul_tx_burst() or haul_send() until the PMD has taken the packet: of the port that
	 * sends. Dropped packets are not in it. */
	HAUL_STAGE_TRANSMIT,
	HAUL_STAGES
};
HAUL_API const char *haul_stage_name(enum haul_stage stage); /* "arrival", ... */

/* Adds n packets that took ns in a stage, for a handler that knows it better than haul. Called in
 * handlers. Does nothing without haul_io_opts.times. Does not suspend. */
HAUL_API void haul_record(struct haul_rx *rx, enum haul_stage stage, uint64_t ns, uint64_t n);

/* Copies the histogram of a port and stage, in ns, of one carrier or of HAUL_ALL, into *h:
 * empty without haul_io_opts.times. Any thread. */
HAUL_API void haul_io_get_times(const struct haul_io *io, unsigned port, unsigned carrier,
	enum haul_stage stage, struct haul_hist *h);

/*
 * How a carrier has spent the time since its poller began: their sum is the time elapsed.
 *	work	in handlers and other coroutines, and in polls that found packets or sent some
 *	empty	in polls that found nothing, with what the scheduler does between them
 *	asleep	in waits of the poller, with pauses
 */
struct haul_io_share {
	uint64_t work_ns, empty_ns, asleep_ns;
};
/* Of one carrier, or the sum of HAUL_ALL; zeros for a carrier without a poller. Any
 * thread, also while the carrier works or sleeps for long; not during haul_stop(). */
HAUL_API void haul_io_get_share(
	const struct haul_io *io, unsigned carrier, struct haul_io_share *s);

/* True while all pollers run and all attached ports are alive (haul_port_fault()); else *why gets
 * one line, owned by io and valid until the next call. Called by the thread that called
 * haul_io_start(). */
HAUL_API bool haul_io_is_healthy(struct haul_io *io, const char **why);

/*
 * haul_io_stop() ends the pollers and waits until the handlers have ended; after timeout_ns it
 * cancels those that have not, and waits one more second. Then it sends or drops the packets in
 * the transmit queues, which take no more, and checks the ledger of each queue: received ==
 * handled + dropped + in flight (0 now), and accepted for sending == sent + dropped. It blocks for
 * at most timeout_ns and 1.5 s; these times leave out those in which carriers wait for a CPU. Any
 * thread that is no carrier. Returns 0, or with one line in errbuf:
 *	-EIO		a ledger does not add up, or handlers have not ended. The stop is complete
 *			all the same: no poller uses a port
 *	-ETIMEDOUT	carriers do not respond, because a handler there does not suspend. Their
 *			pollers may still use the ports: close and free nothing, and call it again
 *	-EDEADLK	called on a carrier; nothing was done
 *
 * haul_io_resume() starts stopped pollers again, on the same ports and carriers, with the options
 * in *change (NULL: those of before). Packets that arrived meanwhile wait in the receive rings, as
 * far as they had room. Transmit queues keep their addresses and take packets again; counters
 * continue. A program may change the handler, burst, policy, peers, count_bytes, coro,
 * max_in_flight, drop_names and arg; ports, pool, packet_rate, send_order, spread, times, overload
 * and the pollers' number stay those of haul_io_start(). Not while another thread reads counters.
 * Returns 0, or with one line in errbuf, and the pollers remain stopped: -EINVAL (options; a port
 * that is not started), -EBUSY (the pollers run; handlers have not ended; a carrier has another
 * poller), -EPERM (called on a carrier), -ENOMEM and others.
 *
 * haul_io_free() checks the pool for packets that were lost, and for packets that were sent,
 * dropped or freed twice, and frees io. Call it after haul_stop() and after haul_port_close() of
 * all ports, while nobody uses the pool. With -Dchecks=true it names the handlers that were called
 * with the lost packets, and neither sent nor dropped them. Returns 0, or with one line in errbuf:
 * -EIO (packets are missing, or came back twice; io is freed), -EBUSY (haul_io_stop() has not
 * completed; io remains). If as many are missing as came back twice, it finds neither.
 */
HAUL_API int haul_io_stop(struct haul_io *io, uint64_t timeout_ns, char *errbuf, size_t errlen);
HAUL_API int haul_io_resume(
	struct haul_io *io, const struct haul_io_opts *change, char *errbuf, size_t errlen);
HAUL_API int haul_io_free(struct haul_io *io, char *errbuf, size_t errlen);

#ifdef __cplusplus
}
#endif

#include <haul-dpdk/io_move.h>

#endif
