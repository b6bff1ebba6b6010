/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where a port has fewer queues than there are carriers: a carrier that has a queue feeds others of
 * its cluster, each packet going where its flow does, and sends for them. One that is fed has a
 * queue pair like any other, whose burst calls (burst.h) hand over in place of a PMD's.
 */
#ifndef HAULI_IO_SPREAD_H
#define HAULI_IO_SPREAD_H

#include "io/state.h"

/* Who feeds carrier c, which is not below queues: one of its cluster that has a queue; -1: none. */
int hauli_spread_feeder(struct haul_runtime *rt, unsigned queues, unsigned c);

/* Has feeder feed p on that port. Before they run. false: no memory. */
bool hauli_spread_set_up(struct hauli_poller *p, struct hauli_poller *feeder, unsigned port);
/* When no poller runs. Waits for messages that are still on their way to p's carrier. */
void hauli_spread_free(struct hauli_poller *p);

/* Feeder, with what it has received. Passes on what belongs to others; how many of pkts are
 * left. */
uint16_t hauli_spread(struct hauli_rxq *r, struct rte_mbuf **pkts, uint16_t n);

/* Feeder. Whether nobody whom it feeds has as many packets under way as one may. */
bool hauli_spread_has_room(const struct hauli_rxq *r);

/* Feeder. Whether there is something to be sent for others. */
bool hauli_spread_relays(const struct hauli_poller *p);

/* Whether the NIC is to be given something. */
static inline bool hauli_has_to_send(const struct hauli_poller *p)
{
	return p->pending || (hauli_unlikely(p->feeds) && hauli_spread_relays(p));
}

/* Feeder. Sends it, as far as the NIC takes it, and drops what that refuses; true: all. */
bool hauli_relay_flush(struct hauli_tx *tx);

/* Any, about to wait: what comes from others is to wake its carrier. */
void hauli_spread_listen(struct hauli_poller *p);

/* At the end, when nobody receives any more: drops what was handed over and is not handled. */
void hauli_spread_drop_received(struct hauli_poller *p);

/* Feeder, at the end. Whether all whom it feeds have sent their last; then drops what was not
 * sent for them. */
bool hauli_spread_is_drained(const struct hauli_poller *p);
void hauli_relay_drop(struct hauli_tx *tx);

#endif
