/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/offer.h"

#include "io/filter.h"
#include "port/kind.h"

__attribute__((cold)) bool hauli_tx_has_room(const struct hauli_tx *tx, const struct rte_mbuf *pkt)
{
	const struct haul_port *port = tx->port;

	if (!port)
		return false;
	if (tx->filter && !hauli_filter_fits(port, pkt))
		return true;
	return port->kind->has_room && port->kind->has_room(port, tx->queue, pkt);
}
