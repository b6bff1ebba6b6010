/* SPDX-License-Identifier: BSD-3-Clause */
/* The stamp of a packet, in ticks (base/clock.h): the time of its dequeue, and once its handler has
 * started the time of the call that sends it. Only while stages of packets' time are recorded. */
#ifndef HAULI_NET_STAMP_H
#define HAULI_NET_STAMP_H

#include <stdint.h>

struct rte_mbuf;

/* The offset of the stamp in an mbuf; -1 until it is registered. */
extern int hauli_pkt_stamp_at;

static inline uint64_t *hauli_pkt_stamp(struct rte_mbuf *pkt)
{
	return (uint64_t *)((char *)pkt + hauli_pkt_stamp_at);
}

#endif
