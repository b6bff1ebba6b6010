/* SPDX-License-Identifier: BSD-3-Clause */
/* Handlers of packets: the coroutines that pollers start. */
#ifndef HAULI_IO_HANDLER_H
#define HAULI_IO_HANDLER_H

#include "io/packet.h"
#include "io/state.h"

/* Before the first packet of a queue; on its carrier. */
void hauli_handler_init(struct hauli_rxq *r);

/* Starts a handler for each packet, in order, on the queue's carrier. woken: the first packets
 * after a wait. */
void hauli_handler_start(struct hauli_rxq *r, struct rte_mbuf **pkts, uint16_t n, bool woken);

/* For a queue whose handlers cannot be stolen. Runs handlers at once, if they would be next anyway.
 * False: nothing was done. */
static inline bool hauli_handler_run(struct hauli_rxq *r, struct rte_mbuf **pkts, uint16_t n)
{
	struct haul_carrier *c = r->poller->carrier;

	if (!hauli_glue_records_are_next(c, &r->prototype))
		return false;
	hauli_counter_add(&r->started, n);
	hauli_counter_add(&r->ended,
		hauli_glue_run_records(c, &r->prototype, (void *const *)pkts, hauli_pkt_at, n));
	return true;
}

/* The order key of a handler, from its packet's record. */
uint8_t hauli_handler_order(const void *record);

/* True if fn is the body of a handler's coroutine. */
bool hauli_is_handler(haul_fn *fn);

#endif
