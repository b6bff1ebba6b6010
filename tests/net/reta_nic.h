/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A NIC with a redirection table, made of a ring port: haul's questions about the port's table, and
 * its changes of it, go here (--wrap), and reta_nic_give() puts packets into the queue that an
 * entry names. Questions about other devices go to DPDK.
 */
#ifndef RETA_NIC_H
#define RETA_NIC_H

#include "io_bed.h"

#define RETA_ENTRIES 128
#define RETA_QUEUES_MAX 8

/* What the NIC is like. Any of it may change at any time. */
struct reta_nic_is {
	bool has_none; /* no table */
	bool rss_is_off;
	int error; /* of changes, such as -EIO */
	/* Called in each change, before it; NULL: not. */
	void (*in_change)(unsigned entry, unsigned queue);
};

extern struct reta_nic_is reta_nic;

/* That port has the table from now on: entry i names queue i % queues. */
void reta_nic_begin(const struct haul_port *port);
void reta_nic_end(void); /* no port has it */

unsigned reta_nic_changes(void); /* since the begin */
unsigned reta_nic_queue(unsigned entry);
void reta_nic_set(unsigned entry, unsigned queue); /* past haul */

/* Gives the NIC a packet whose hash picks that entry. False: the queue is full. One thread at a
 * time. A change of the table returns when earlier packets are in their queues. */
bool reta_nic_give(struct rte_mbuf *pkt, unsigned entry);

#endif
