/* SPDX-License-Identifier: BSD-3-Clause */
/* What the PMD tells of a port's queues. */
#include <errno.h>

#include <rte_ethdev.h>

#include "base/assert.h"
#include "port/kind.h"

int haul_port_get_queue_info(
	const struct haul_port *port, unsigned queue, bool rx, struct haul_queue_info *info)
{
	struct rte_eth_rxq_info rxq = {0};
	struct rte_eth_txq_info txq = {0};
	struct haul_queue q;
	int err;

	HAUL_MISUSE_IF(!port || !info, HAULI_NO_PORT);
	if (queue >= haul_port_queues(port))
		return -EINVAL;
	if (port->detached)
		return -ENODEV;
	q = haul_port_queue(port, queue);
	err = rx ? rte_eth_rx_queue_info_get(q.port_id, q.queue_id, &rxq)
		 : rte_eth_tx_queue_info_get(q.port_id, q.queue_id, &txq);
	if (!err)
		*info = (struct haul_queue_info){
			.pool = rxq.mp, .descriptors = rx ? rxq.nb_desc : txq.nb_desc};
	return err;
}
