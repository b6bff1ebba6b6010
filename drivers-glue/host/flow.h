/* SPDX-License-Identifier: BSD-3-Clause */
/* One flow: opening, receiving, closing. */
#ifndef HAULI_HOST_FLOW_H
#define HAULI_HOST_FLOW_H

#include "host/flow_state.h"

/* haul_flow_open() of any protocol: UDP, ICMP, ICMPv6 (to_port is 0, and the local port is the
 * identifier of echo requests), for a call of the host that closes it before it returns. */
int hauli_flow_open(struct haul_flow **out, struct haul_host *host, uint8_t protocol,
	const struct haul_addr *to, uint16_t to_port,
	const struct haul_flow_opts *opts) HAUL_SUSPENDS;

/* haul_flow_recv(); an ICMP error also tells who has sent it, and is -ETIME if it says that there
 * were too many hops. */
int hauli_flow_recv(struct haul_flow *flow, struct rte_mbuf **pkt, struct haul_addr *error_from,
	uint64_t deadline) HAUL_SUSPENDS;
/* The error of which a NULL in the mailbox tells. */
int hauli_flow_error(struct haul_flow *flow, struct haul_addr *from);

/*
 * The steps of a flow's life, on its owner's thread; the last two also after the end of its
 * carrier.
 * make: without a key. is_hosts_own: for a call of the host, which closes it before it returns.
 *     0 or -ENOMEM.
 * add: to the table, by its key, which is not there. 0 or -ENOMEM.
 * remove: from the table; frees it, or keeps it for another one.
 * free: one that was not added.
 */
int hauli_flow_make(struct haul_flow **out, struct hauli_flows_carrier *c, bool is_hosts_own,
	const struct haul_flow_opts *opts);
int hauli_flow_add(struct haul_flow *flow);
void hauli_flow_remove(struct hauli_flows_carrier *c, struct haul_flow *flow);
void hauli_flow_free(struct haul_flow *flow);

/* Any thread: the owner's coroutine looks at what there is to do. */
void hauli_flows_wake(struct hauli_flows_carrier *c);

/* On the owner's thread, or after the end of its carrier: frees flows that others have closed, or
 * all. */
void hauli_flows_free_closing(struct hauli_flows_carrier *c);
void hauli_flows_free_all(struct hauli_flows_carrier *c);

#endif
