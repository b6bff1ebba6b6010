/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Spreading, for ports with fewer queues than carriers, like the kernel's RPS. A carrier with a
 * queue passes the packets of a flow to one RPS target, a carrier of its cluster without a queue,
 * and is the tx proxy of its targets: it sends for them. A target has a queue pair like any other
 * carrier, but its burst calls (burst.h) hand packets over in place of a PMD's.
 */
#ifndef HAULI_IO_SPREAD_H
#define HAULI_IO_SPREAD_H

#include "io/state.h"

/* The proxy of carrier c, which has no queue: a carrier of its cluster below queues; -1: none. */
int hauli_spread_proxy(struct haul_runtime *rt, unsigned queues, unsigned c);

/* Makes p an RPS target of proxy on that port. Call before they run. False: no memory. */
bool hauli_spread_set_up(struct hauli_poller *p, struct hauli_poller *proxy_poller, unsigned port);
/* Call when no poller runs. Waits until p's carrier has handled the messages sent to it. */
void hauli_spread_free(struct hauli_poller *p);

/* Proxy. Passes received packets to the targets of their flows; returns the number of packets, at
 * the begin of pkts, that the proxy keeps. */
uint16_t hauli_spread(struct hauli_rxq *r, struct rte_mbuf **pkts, uint16_t n);

/* Proxy. The oldest packets that a move of a bucket has held for the proxy itself: as a burst
 * call. */
uint16_t hauli_spread_take_back(struct hauli_tx_proxy *proxy, struct rte_mbuf **pkts, uint16_t n);

/* Proxy. True if each target may have more packets in flight, and a move may hold more. */
bool hauli_spread_has_room(const struct hauli_rxq *r);

/* Proxy. True if a target has handed over packets to send. */
bool hauli_spread_has_to_send(const struct hauli_poller *p);

/* True if the poller has packets for a NIC, its own or its targets'. */
static inline bool hauli_has_to_send(const struct hauli_poller *p)
{
	return p->pending || (hauli_unlikely(p->is_proxy) && hauli_spread_has_to_send(p));
}

/* Proxy. Sends its targets' packets until the NIC is full, and drops those that the NIC refuses;
 * true: all are sent. */
bool hauli_tx_proxy_flush(struct hauli_tx *tx);

/* Call in a poller before its wait, and before the cycle that looks once more: from now on a packet
 * handed to the poller wakes its carrier, unless there are some already. */
void hauli_spread_listen(struct hauli_poller *p);

/* After that cycle, which has received nothing. False: there were packets of targets before the
 * poller could listen, so the next ones would not wake it. */
bool hauli_spread_wakes(const struct hauli_poller *p);

/* At the end, when no proxy receives any more: drops packets handed to a target, or held for a
 * proxy, that have no handler. */
void hauli_spread_drop_received(struct hauli_poller *p);

/* Proxy, at the end. is_drained: true if all targets have handed over their last packet. drop:
 * drops the targets' unsent packets. */
bool hauli_spread_is_drained(const struct hauli_poller *p);
void hauli_tx_proxy_drop(struct hauli_tx *tx);

#endif
