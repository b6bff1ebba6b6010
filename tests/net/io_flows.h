/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets of several flows, told apart by a MAC address: they come back on port 0, where handlers
 * forward them; packets that then come back on port 1 are checked for the order of each flow. Both
 * are ring ports.
 */
#ifndef IO_FLOWS_H
#define IO_FLOWS_H

#include "io_bed.h"

#define FLOWS 24

struct flows {
	unsigned (*of)(uint32_t number); /* the flow of the packet with that number, below FLOWS */
	unsigned burst; /* packets between two yields of the sender; 0: it does not yield */
	bool disorder; /* disorder is not checked */
};

/* Opens both ports, with that number of queues, and the runtime. */
void flows_open(struct bed *bed, unsigned queues, enum haul_steal steal, const struct flows *flows);

/* Starts the poller with ports and pool filled in, and sends that number of packets. */
void flows_run(struct bed *bed, struct haul_io_opts *opts, uint32_t packets);

/* Sends packets numbered from first on; returns when the queue of port 0 has taken them. */
void flows_send(struct bed *bed, uint32_t first, uint32_t packets);

/* Stops the poller. True if all flows were in order. */
bool flows_stop(struct bed *bed);

/* Computes for ns, as a handler might. */
void flows_work(uint64_t ns);

#endif
