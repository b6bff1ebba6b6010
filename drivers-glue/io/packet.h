/* SPDX-License-Identifier: BSD-3-Clause */
/* haul's data in a packet buffer. */
#ifndef HAULI_IO_PACKET_H
#define HAULI_IO_PACKET_H

#include <rte_mbuf_dyn.h>

#include "io/state.h"

/*
 * The contents of the dynamic field: the record of the packet's handler, which tells the handler
 * the packet's queue, or during a hand-over its link in the list. A store and a load in a cache
 * line that freeing the packet touches anyway.
 */
union hauli_pkt {
	struct hauli_record record; /* its prototype is in a struct hauli_rxq */
	struct hauli_node node;
};
extern __attribute__((visibility("hidden"))) ptrdiff_t hauli_pkt_at; /* offset of the field */

static inline struct hauli_record *hauli_pkt_record(struct rte_mbuf *pkt)
{
	return &RTE_MBUF_DYNFIELD(pkt, hauli_pkt_at, union hauli_pkt *)->record;
}

static inline struct rte_mbuf *hauli_pkt_of_record(struct hauli_record *record)
{
	return (struct rte_mbuf *)((char *)record - hauli_pkt_at);
}

/* The queue of a prototype, which is embedded there. */
static inline struct hauli_rxq *hauli_rxq_of_prototype(const struct hauli_prototype *prototype)
{
	return (struct hauli_rxq *)((char *)prototype - offsetof(struct hauli_rxq, prototype));
}

/* The queue whose packet a record belongs to. */
static inline struct hauli_rxq *hauli_rxq_of_record(const struct hauli_record *record)
{
	return hauli_rxq_of_prototype(record->prototype);
}

static inline struct hauli_node *hauli_pkt_node(struct rte_mbuf *pkt)
{
	return &RTE_MBUF_DYNFIELD(pkt, hauli_pkt_at, union hauli_pkt *)->node;
}

static inline struct rte_mbuf *hauli_pkt_of(struct hauli_node *node)
{
	return (struct rte_mbuf *)((char *)node - hauli_pkt_at);
}

static __attribute__((noinline, unused)) void hauli_pkt_free_any(struct rte_mbuf *pkt)
{
	rte_pktmbuf_free(pkt);
}

/* As rte_pktmbuf_free(), in half of the instructions for a packet in one buffer that has no other
 * user. */
static inline void hauli_pkt_free(struct rte_mbuf *pkt)
{
	if (hauli_likely(rte_mbuf_refcnt_read(pkt) == 1 && RTE_MBUF_DIRECT(pkt) &&
		    pkt->nb_segs == 1 && !pkt->next))
		rte_mbuf_raw_free(pkt);
	else
		hauli_pkt_free_any(pkt);
}

/* Frees packets. DPDK's function for many costs twice as much for one as that for one. */
static inline void hauli_pkts_free(struct rte_mbuf **pkts, unsigned n)
{
	if (n == 1)
		hauli_pkt_free(pkts[0]);
	else
		rte_pktmbuf_free_bulk(pkts, n);
}

/* Call before the first poller: registers the field, and that of the stamp (net/stamp.h) if stages
 * of a packet's time are recorded. 0 or -errno. */
int hauli_packet_init(bool times);

#endif
