/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * With -Dchecks=true: detects packets that a caller sends or drops after it has sent or dropped
 * them. A flag in the mbuf marks a packet that was given away; mbufs from the pool and the ports
 * have no flag. Packets with more than one reference are not checked.
 */
#ifndef HAULI_NET_GIVEN_H
#define HAULI_NET_GIVEN_H

#include <rte_mbuf.h>

#include "base/assert.h"

/* The flag in mbuf->ol_flags. 0 until it is registered, which means that nothing is detected. */
extern uint64_t hauli_pkt_given;

static inline void hauli_pkt_give(struct rte_mbuf *pkt, const char *call)
{
	if (!HAUL_CHECKS || rte_mbuf_refcnt_read(pkt) > 1)
		return;
	if (pkt->ol_flags & hauli_pkt_given)
		hauli_misuse(call,
			"packet %p was sent or dropped before: the caller does not own it",
			(void *)pkt);
	pkt->ol_flags |= hauli_pkt_given;
}

/* Clears the flag: the caller owns pkt, still or again. */
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

#endif
