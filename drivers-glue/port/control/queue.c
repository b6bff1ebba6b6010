/* SPDX-License-Identifier: BSD-3-Clause */
/* A port's queues: what the PMD tells of one, and a view of the packets that it receives. */
#include <errno.h>
#include <stdlib.h>

#include <rte_ethdev.h>
#include <rte_malloc.h>

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

struct haul_port_rx_callback {
	haul_port_rx_fn *fn;
	void *arg;
	struct haul_queue queue;
	const struct rte_eth_rxtx_callback *ethdev;
};

static uint16_t show(
	uint16_t port, uint16_t queue, struct rte_mbuf **pkts, uint16_t n, uint16_t most, void *arg)
{
	const struct haul_port_rx_callback *callback = arg;

	if (n > 0)
		callback->fn(pkts, n, callback->arg);
	return n;
}

struct haul_port_rx_callback *haul_port_add_rx_callback(
	const struct haul_port *port, unsigned queue, haul_port_rx_fn *fn, void *arg)
{
	struct haul_port_rx_callback *callback;

	HAUL_MISUSE_IF(!port || !fn, HAULI_NO_PORT);
	if (queue >= haul_port_queues(port) || port->detached)
		return NULL;
	callback = malloc(sizeof(*callback));
	if (!callback)
		return NULL;
	*callback = (struct haul_port_rx_callback){
		.fn = fn, .arg = arg, .queue = haul_port_queue(port, queue)};
	callback->ethdev = rte_eth_add_rx_callback(
		callback->queue.port_id, callback->queue.queue_id, show, callback);
	if (callback->ethdev)
		return callback;
	free(callback);
	return NULL;
}

void haul_port_remove_rx_callback(struct haul_port_rx_callback *callback)
{
	HAUL_MISUSE_IF(!callback, "the callback is NULL");
	rte_eth_remove_rx_callback(
		callback->queue.port_id, callback->queue.queue_id, callback->ethdev);
	rte_free((void *)(uintptr_t)callback->ethdev);
	free(callback);
}
