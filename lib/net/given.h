/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * With -Dchecks=true: detects packets that a caller sends or drops after it has sent or dropped
 * them. A flag in the mbuf marks a packet that was given away; mbufs from the pool and the ports
 * have no flag. Packets with more than one reference are not checked.
 *
 * A second flag marks a packet that a handler was called with, and a field tells which one. While
 * the program runs nothing follows from that: a handler may keep the packet, pass it on, or free it
 * by DPDK's functions. A packet that is not in its pool at the end was lost (io/lost.c).
 */
#ifndef HAULI_NET_GIVEN_H
#define HAULI_NET_GIVEN_H

#include <rte_mbuf.h>

#include "base/assert.h"

/* The flag in mbuf->ol_flags. 0 until it is registered, which means that nothing is detected. */
extern uint64_t hauli_pkt_given;
/* The same for the second flag; and the offset of the field. */
extern uint64_t hauli_pkt_handed;
extern int hauli_pkt_handler_at;

static inline void hauli_pkt_give(struct rte_mbuf *pkt, const char *call)
{
	if (!HAUL_CHECKS)
		return;
	if (rte_mbuf_refcnt_read(pkt) > 1) {
		/* The other references may outlive the caller's. */
		pkt->ol_flags &= ~hauli_pkt_handed;
		return;
	}
	if (pkt->ol_flags & hauli_pkt_given)
		hauli_misuse(call,
			"packet %p was sent or dropped before: the caller does not own it",
			(void *)pkt);
	pkt->ol_flags |= hauli_pkt_given;
}

/* Clears the first flag: the caller owns pkt, still or again. */
static inline void hauli_pkt_take(struct rte_mbuf *pkt)
{
	if (HAUL_CHECKS)
		pkt->ol_flags &= ~hauli_pkt_given;
}

static inline void hauli_pkts_give(struct rte_mbuf **pkts, uint16_t n, const char *call)
{
	for (uint16_t i = 0; HAUL_CHECKS && i < n; i++)
		hauli_pkt_give(pkts[i], call);
}

static inline void hauli_pkts_take(struct rte_mbuf **pkts, uint16_t n)
{
	for (uint16_t i = 0; HAUL_CHECKS && i < n; i++)
		hauli_pkt_take(pkts[i]);
}

/* A dynamic field, as RTE_MBUF_DYNFIELD(). */
static inline uintptr_t *hauli_pkt_handler(const struct rte_mbuf *pkt)
{
	return (uintptr_t *)((uintptr_t)pkt + (uintptr_t)hauli_pkt_handler_at);
}

/* Call before a handler is called with the packets. */
static inline void hauli_pkts_hand(struct rte_mbuf **pkts, uint16_t n, uintptr_t handler)
{
	for (uint16_t i = 0; HAUL_CHECKS && hauli_pkt_handed && i < n; i++) {
		pkts[i]->ol_flags |= hauli_pkt_handed;
		*hauli_pkt_handler(pkts[i]) = handler;
	}
}

/* The handler that was called with a packet and has neither sent nor dropped it; 0: not known. A
 * clone has the flags of its packet. */
static inline uintptr_t hauli_pkt_owner(const struct rte_mbuf *pkt)
{
	if (!HAUL_CHECKS || !(pkt->ol_flags & hauli_pkt_handed) ||
		(pkt->ol_flags & hauli_pkt_given) || RTE_MBUF_CLONED(pkt))
		return 0;
	return *hauli_pkt_handler(pkt);
}

#endif
