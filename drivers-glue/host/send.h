/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets of the host's own: headers for a destination, and the queue on which they leave. */
#ifndef HAULI_HOST_SEND_H
#define HAULI_HOST_SEND_H

#include "host/state.h"

/* What a packet to a destination needs. */
struct hauli_out {
	struct haul_head head;
	struct haul_txq *txq;
	uint64_t offloads;
	unsigned port;
	bool segments; /* hauli_host_port.segments */
	/* Of the host before all this was found; 0: it is good for one packet. */
	uint32_t version;
	/* The slot is HAULI_NO_NEIGH, and version 0, if the neighbour has just changed. */
	struct hauli_neigh_seen neigh;
};

/* Fills *out for packets to dst; waits for the neighbour until the deadline. Errors of
 * haul_host_send_udp(). Good until the next suspension: the neighbour, a route or the host may
 * change. */
int hauli_host_prepare(struct haul_host *host, struct hauli_out *out, const struct haul_addr *dst,
	uint64_t deadline) HAUL_SUSPENDS;

/* The queue of a port on the caller's home, by which a stolen coroutine sends, too; NULL: there is
 * none, or the host is stopped. */
struct haul_txq *hauli_host_txq(struct haul_host *host, unsigned port);

/* A packet that is built becomes one segment if the port sends no others. 0, or -ENOBUFS: there is
 * not enough room in the first one. */
int hauli_send_whole(const struct hauli_out *out, struct rte_mbuf *pkt);

/* Takes headers away in front of len bytes: a packet that was built is its payload again. */
void hauli_send_undo(struct rte_mbuf *pkt, uint32_t len);

/* Sends a packet on a queue, and waits for room there, and for a turn, until the deadline; 0: it
 * does not wait. Errors of haul_send(), and -ETIMEDOUT. */
int hauli_send_on(struct haul_txq *txq, struct rte_mbuf *pkt, uint64_t deadline) HAUL_SUSPENDS;

#endif
