/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The wire of bench-skew: a `ring:` port with one or two queues, and callbacks of the port, which
 * run on the pollers' threads. Packets of 64 flows come in; each flow has its queue. The wire
 * checks each outgoing packet, in this order: its latency, and whether a later packet of its flow
 * overtook it.
 *
 * Closed: each outgoing packet comes in again at once, with a random flow. Paced: packets come in
 * at random times that do not depend on the outgoing ones, and latency counts from these times.
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
	uint64_t gap_ns; /* mean time between packets; 0: closed */
	unsigned packets; /* total number */
};

/* Packets sent; only grows. */
struct skew_counts {
	uint64_t packets, reordered;
	uint64_t took[SKEW_BUCKETS]; /* latency from reception to sending */
};

/* 0, or -errno with a line in why. */
int skew_wire_open(const struct skew_wire *wire, struct rte_mempool *pool, char *why, size_t len);
struct haul_port *skew_wire_port(void);
void skew_wire_close(void);

/* Puts the packets on the wire; removes all of them, without a running poller. */
void skew_wire_fill(void);
void skew_wire_drain(void);

/* For any thread. */
void skew_wire_count(struct skew_counts *counts);
uint64_t skew_percentile(const uint64_t *took, double share); /* ns */

#endif
