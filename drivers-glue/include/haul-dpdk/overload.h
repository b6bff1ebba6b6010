/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Overload control: a carrier that gets more packets than its handlers can serve drops the excess
 * at once, before any work is spent on it, instead of serving all of them late. Why and by which
 * rules: docs/design/0041-overload.md; how to use it: docs/guide/overload.md.
 *
 * A receive queue is late once its age has been above a target for an interval. The age is that of
 * its oldest packet that waits: in the queue (since the poller last saw it empty, an upper bound),
 * and then for the first instruction of its handler. While a queue is late, its poller empties it
 * in each cycle, and
 *	- begins all packets of class HAUL_CLASS_FIRST, before others;
 *	- of the others begins as many as the target allows, those of the sources that have sent
 *	  least lately, and drops the rest: HAUL_DROP_OVER_SHARE if the source sends more than twice
 *	  the mean of all, else HAUL_DROP_LATE.
 * It is late no more after an interval in which nothing had to be dropped.
 *
 * haul_io_opts.max_in_flight remains the limit of handlers that have not ended. A queue at this
 * limit ages: without overload control its packets wait in the NIC; with it they are dropped once
 * the queue is late. Sources that send no more than their share may exceed the limit by an eighth,
 * and packets of class HAUL_CLASS_FIRST by a quarter: else a flood would have each place at once.
 * Buffers are bounded by the pool: choose max_in_flight, and a quarter, below its size.
 */
#ifndef HAUL_DPDK_OVERLOAD_H
#define HAUL_DPDK_OVERLOAD_H

#include <rte_mbuf.h>

#include <haul/base.h>

#ifdef __cplusplus
extern "C" {
#endif

struct haul_io;
struct haul_rx;

enum haul_class {
	HAUL_CLASS_OTHER,
	/* Not shed because the queue is late. Unless its source alone sends more of all classes
	 * than its share, and than a burst per interval. */
	HAUL_CLASS_FIRST,
};

/* Says the class of a packet, which may hold anything; it may read it, and its flow mark. Called on
 * the poller's stack, only while the queue is late. Must not suspend. */
typedef enum haul_class haul_class_fn(struct haul_rx *rx, const struct rte_mbuf *pkt);

/* The default: ARP, ICMP and ICMPv6 are first, so that neighbours and pings are answered. A
 * function of the program may call it, and add health probes or control traffic. */
HAUL_API enum haul_class haul_class_default(struct haul_rx *rx, const struct rte_mbuf *pkt);

/* haul_io_opts.overload. */
struct haul_overload {
	uint64_t target_ns; /* of the age; 0: no overload control, at no cost */
	uint64_t interval_ns; /* 0: ten times the target */
	haul_class_fn *classify; /* NULL: haul_class_default() */
};

/* What haul-echo and other programs use with --overload. */
#define HAUL_OVERLOAD_TARGET HAUL_MS

struct haul_overload_stats {
	uint64_t episodes; /* times that a queue became late */
	uint64_t late_ns; /* the sum of these times; of several queues each counts */
	/* Packets that were received late, by class. Those of class other either began, or were
	 * dropped: see haul_io_stats.dropped. */
	uint64_t first, other;
	uint64_t demoted; /* of first: handled as others, for their source floods */
	bool is_late; /* now: one of the queues */
};
/* Copies the counters of a port and one carrier, or the sum of HAUL_ALL, into *st; zeros without
 * overload control. Any thread. */
HAUL_API void haul_io_get_overload(
	const struct haul_io *io, unsigned port, unsigned carrier, struct haul_overload_stats *st);

#ifdef __cplusplus
}
#endif

#endif
