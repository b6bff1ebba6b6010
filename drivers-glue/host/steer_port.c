/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RSS is known if one device has all queues of the port, is configured for RSS, and tells its key
 * and its table of queues. Where it hashes something else than that says, replies come to other
 * carriers, and are handed over.
 */
#include "host/steer_port.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ethdev.h>

#include <haul-dpdk/port_config.h>

#include "io/state.h"
#include "port/kind.h"

/* The queues of the port that pollers have, each with the RPS targets of its carrier. */
static int init_queue(struct hauli_steer *steer, const struct hauli_rxq *r)
{
	const struct hauli_tx_proxy *proxy = r->proxy;
	struct hauli_steer_queue *queue = &steer->queues[r->rx.queue];

	queue->ways = 1 + (proxy ? proxy->nb_targets : 0);
	queue->carriers = malloc(queue->ways * sizeof(queue->carriers[0]));
	if (!queue->carriers)
		return -ENOMEM;
	queue->carriers[0] = r->rx.carrier;
	for (unsigned i = 1; i < queue->ways; i++)
		queue->carriers[i] = proxy->targets[i - 1]->rxq->rx.carrier;
	return 0;
}

static int init_queues(struct hauli_steer *steer, const struct haul_io *io, unsigned port)
{
	int err = 0;

	steer->nb_queues = haul_port_queues(io->ports[port]);
	steer->queues = calloc(steer->nb_queues, sizeof(steer->queues[0]));
	if (!steer->queues)
		return -ENOMEM;
	for (unsigned c = 0; c < io->nb_pollers; c++)
		for (struct hauli_rxq **r = io->pollers[c]->active; *r; r++)
			if (!err && (*r)->rx.port == port && !(*r)->target)
				err = init_queue(steer, *r);
	return err;
}

static bool is_one_device(const struct haul_port *port, unsigned nb_queues)
{
	for (unsigned q = 0; q < nb_queues; q++)
		if (haul_port_queue(port, q).port_id != haul_port_queue(port, 0).port_id)
			return false;
	return true;
}

/* The functions by which the device spreads packets, and their key; 0: unknown. */
static uint64_t read_key(const struct haul_port *port, uint8_t key[static HAUL_RSS_KEY_MAX])
{
	uint64_t functions = 0;
	uint8_t len = 0;
	char line[256];

	/* Others tell functions without spreading by them. */
	if (port->config.rss != HAUL_RSS_FUNCTIONS && !port->kind->rss)
		return 0;
	if (haul_port_get_rss(port, &functions, key, &len, line, sizeof(line)))
		return 0;
	return len < HAULI_STEER_BYTES + 4 ? 0 : functions;
}

static int read_reta(struct hauli_steer *steer, uint16_t device)
{
	struct rte_eth_rss_reta_entry64 groups[RTE_ETH_RSS_RETA_SIZE_512 / RTE_ETH_RETA_GROUP_SIZE];
	struct rte_eth_dev_info info;

	if (rte_eth_dev_info_get(device, &info) || info.reta_size == 0 ||
		info.reta_size > RTE_ETH_RSS_RETA_SIZE_512 ||
		(info.reta_size & (info.reta_size - 1)))
		return 0;
	memset(groups, 0, sizeof(groups));
	for (unsigned i = 0; i < RTE_DIM(groups); i++)
		groups[i].mask = UINT64_MAX;
	if (rte_eth_dev_rss_reta_query(device, groups, info.reta_size))
		return 0;
	steer->reta = malloc(info.reta_size * sizeof(steer->reta[0]));
	if (!steer->reta)
		return -ENOMEM;
	for (unsigned i = 0; i < info.reta_size; i++)
		steer->reta[i] =
			groups[i / RTE_ETH_RETA_GROUP_SIZE].reta[i % RTE_ETH_RETA_GROUP_SIZE];
	steer->reta_mask = info.reta_size - 1U;
	return 0;
}

static int init_rss(struct hauli_steer *steer, const struct haul_port *port)
{
	uint8_t key[HAUL_RSS_KEY_MAX] = {0};
	uint64_t functions = read_key(port, key);
	int err;

	steer->rss[0] = functions & RTE_ETH_RSS_NONFRAG_IPV4_UDP;
	steer->rss[1] = functions & RTE_ETH_RSS_NONFRAG_IPV6_UDP;
	if (!steer->rss[0] && !steer->rss[1])
		return 0;
	err = hauli_steer_set_key(steer, key);
	return err ? err : read_reta(steer, haul_port_queue(port, 0).port_id);
}

int hauli_steer_init(struct hauli_steer *steer, const struct haul_io *io, unsigned port)
{
	int err;

	*steer = (struct hauli_steer){0};
	err = init_queues(steer, io, port);
	if (!err && steer->nb_queues > 1 && is_one_device(io->ports[port], steer->nb_queues))
		err = init_rss(steer, io->ports[port]);
	if (err)
		hauli_steer_fini(steer);
	return err;
}
