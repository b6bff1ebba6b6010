/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The wire of bench-skew: a `ring:` port with one or two queues, and what stands around it, which
 * runs on the pollers' threads as callbacks of the port's. Packets of 64 flows come in; each flow
 * has its queue. What goes out is looked at as it does, in this order: how long it has taken, and
 * whether a later one of its flow was faster.
 *
 * Closed: each packet that goes out comes in again at once, as one of a random flow. Paced: they
 * come in at random times that do not depend on when others go out, and count from there.
 */
#ifndef PERF_SKEW_WIRE_H
#define PERF_SKEW_WIRE_H

#include <stdatomic.h>
#include <stdint.h>

#include <rte_mempool.h>

#include <haul-dpdk/port.h>

#define SKEW_BUCKETS 1024

struct skew_wire {
	unsigned queues;
	unsigned share; /* of queue 0, in percent */
	uint64_t gap_ns; /* mean time from one packet to the next; 0: closed */
	unsigned packets; /* that there are */
};

/* Packets sent; only grows. */
struct skew_counts {
	uint64_t packets, reordered;
	uint64_t took[SKEW_BUCKETS]; /* from receiving to sending */
};

/* 0, or -errno with a line in why. */
int skew_wire_open(const struct skew_wire *wire, struct rte_mempool *pool, char *why, size_t len);
struct haul_port *skew_wire_port(void);
void skew_wire_close(void);

/* Puts the packets on the wire; removes all of them, with no poller running. */
void skew_wire_fill(void);
void skew_wire_drain(void);

/* Any thread. */
void skew_wire_count(struct skew_counts *counts);
uint64_t skew_percentile(const uint64_t *took, double share); /* ns */

#endif
