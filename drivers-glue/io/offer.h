/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Offering packets to a NIC until it takes no more. A burst call that takes nothing does not tell
 * the reason: the NIC may be full, or may never take the first packet and so block the others for
 * ever. So haul asks the port for room, and if there is room, the next burst call decides. The
 * order matters: room that appears only after a burst call does not prove that the call could have
 * used it.
 */
#ifndef HAULI_IO_OFFER_H
#define HAULI_IO_OFFER_H

#include "io/filter.h"
#include "io/state.h"
#include "io/times.h"
#include "port/kind.h"

/* Call after a burst call that began with pkt and took nothing. True if the NIC has room for pkt:
 * if the next call does not take pkt either, the NIC never will. */
static __attribute__((noinline, cold, unused)) bool hauli_tx_has_room(
	const struct hauli_tx *tx, const struct rte_mbuf *pkt)
{
	const struct haul_port *port = tx->port;

	if (tx->detached)
		return true;
	if (!port)
		return false;
	if (port->kind->filter && !hauli_filter_fits(port, pkt))
		return true;
	return port->kind->has_room && port->kind->has_room(port, tx->queue, pkt);
}

/*
 * True: all packets are sent; false: the NIC is full. peek() gives the next packets, at most
 * HAULI_OFFER_MAX, and returns their number; sent() gets the number that the NIC took; refuse()
 * drops the first one, which the NIC never takes. timed, a constant: records HAUL_STAGE_TRANSMIT.
 */
static inline __attribute__((always_inline)) bool hauli_tx_offer(struct hauli_tx *tx,
	uint16_t (*peek)(struct hauli_tx *tx, struct rte_mbuf ***pkts),
	void (*sent)(struct hauli_tx *tx, uint16_t n), void (*refuse)(struct hauli_tx *tx),
	bool timed)
{
	struct rte_mbuf **pkts;
	bool had_room = false;
	uint16_t n;

	while ((n = peek(tx, &pkts)) > 0) {
		if (timed)
			hauli_times_offer(tx->times, pkts, n);
		n = hauli_burst_tx(&tx->burst, pkts, n);
		if (hauli_likely(n > 0)) {
			had_room = false;
			if (timed)
				hauli_times_taken(tx->times, n);
			sent(tx, n);
		} else if (had_room) {
			had_room = false;
			refuse(tx);
		} else {
			had_room = hauli_tx_has_room(tx, pkts[0]);
			if (!had_room)
				return false;
		}
	}
	return true;
}

#endif
