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
	q = haul_port_queue(port, queue);
	err = rx ? rte_eth_rx_queue_info_get(q.port_id, q.queue_id, &rxq)
		 : rte_eth_tx_queue_info_get(q.port_id, q.queue_id, &txq);
	if (!err)
		*info = (struct haul_queue_info){
			.pool = rxq.mp, .descriptors = rx ? rxq.nb_desc : txq.nb_desc};
	return err;
}

struct haul_port_sight {
	haul_port_seen_fn *seen;
	void *arg;
	struct haul_queue queue;
	const struct rte_eth_rxtx_callback *callback;
};

static uint16_t show(
	uint16_t port, uint16_t queue, struct rte_mbuf **pkts, uint16_t n, uint16_t most, void *arg)
{
	const struct haul_port_sight *sight = arg;

	if (n > 0)
		sight->seen(pkts, n, sight->arg);
	return n;
}

struct haul_port_sight *haul_port_see_rx(
	const struct haul_port *port, unsigned queue, haul_port_seen_fn *seen, void *arg)
{
	struct haul_port_sight *sight;

	if (queue >= haul_port_queues(port))
		return NULL;
	sight = malloc(sizeof(*sight));
	if (!sight)
		return NULL;
	*sight = (struct haul_port_sight){
		.seen = seen, .arg = arg, .queue = haul_port_queue(port, queue)};
	sight->callback =
		rte_eth_add_rx_callback(sight->queue.port_id, sight->queue.queue_id, show, sight);
	if (sight->callback)
		return sight;
	free(sight);
	return NULL;
}

void haul_port_unsee_rx(struct haul_port_sight *sight)
{
	rte_eth_remove_rx_callback(sight->queue.port_id, sight->queue.queue_id, sight->callback);
	rte_free((void *)(uintptr_t)sight->callback);
	free(sight);
}
