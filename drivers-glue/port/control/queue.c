/* SPDX-License-Identifier: BSD-3-Clause */
/* Single queues of a port. */
#include <errno.h>
#include <string.h>

#include <rte_ethdev.h>

#include "base/assert.h"
#include "eal/log.h"
#include "port/check.h"
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

int haul_port_switch_queue(
	struct haul_port *port, unsigned queue, bool rx, bool start, char *errbuf, size_t errlen)
{
	char line[HAULI_LOG_LINE];
	struct haul_queue q;
	int err;

	HAUL_MISUSE_IF(!port, HAULI_NO_PORT);
	err = hauli_check_unpolled(port, "stopped in part", errbuf, errlen);
	if (err < 0)
		return err;
	if (queue >= haul_port_queues(port))
		return hauli_spec_fail(&port->spec, -EINVAL, errbuf, errlen,
			"there is no queue %u; it has %u", queue, haul_port_queues(port));
	q = haul_port_queue(port, queue);
	hauli_log_hold();
	if (rx)
		err = start ? rte_eth_dev_rx_queue_start(q.port_id, q.queue_id)
			    : rte_eth_dev_rx_queue_stop(q.port_id, q.queue_id);
	else
		err = start ? rte_eth_dev_tx_queue_start(q.port_id, q.queue_id)
			    : rte_eth_dev_tx_queue_stop(q.port_id, q.queue_id);
	hauli_log_release(line);
	if (err == -ENOTSUP)
		return hauli_spec_fail(&port->spec, err, errbuf, errlen,
			"its PMD does not %s single queues", start ? "start" : "stop");
	if (err)
		return hauli_spec_fail(&port->spec, err, errbuf, errlen, "queue %u: %s", queue,
			line[0] ? line : strerror(-err));
	return 0;
}
