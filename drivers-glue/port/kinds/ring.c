/* SPDX-License-Identifier: BSD-3-Clause */
/* ring: a packet sent on a queue is received on it. */
#include <stdio.h>

#include <rte_ethdev.h>
#include <rte_ring.h>

#include "port/kinds/list.h"

#define RING_SIZE 1024 /* the PMD's ring size, of each queue */
#define MAX_RINGS 16 /* that the PMD makes, however many queues the port has */
#define DRAIN 64

static int prepare(struct haul_port *port, char *errbuf, size_t errlen)
{
	return hauli_port_vdevs(port, 1, errbuf, errlen);
}

/* The PMD frees its rings without the packets in them. */
static void stops(struct haul_port *port)
{
	const struct hauli_vdev *v = &port->vdevs[0];
	struct rte_eth_dev_info info;
	struct rte_mbuf *pkts[DRAIN];
	uint16_t n;

	/* Those of the device: the port may be about to have another number. */
	if (rte_eth_dev_info_get(v->port_id, &info) != 0)
		return;
	for (uint16_t q = 0; q < info.nb_rx_queues; q++) {
		while ((n = rte_eth_rx_burst(v->port_id, q, pkts, DRAIN)) > 0)
			rte_pktmbuf_free_bulk(pkts, n);
	}
}

/* The PMD has freed the rings of queues that were in use, and leaks the others: after some 80
 * ports, one after the other, EAL would have no memzone left. */
static void closed(struct haul_port *port)
{
	char name[HAULI_VDEV_NAME + 16]; /* long enough for the name of any ring */

	for (unsigned q = 0; q < MAX_RINGS; q++) {
		snprintf(name, sizeof(name), "ETH_RXTX%u_%s", q, port->vdevs[0].name);
		rte_ring_free(rte_ring_lookup(name));
	}
}

static unsigned held(unsigned rx_ring, unsigned tx_ring)
{
	return RING_SIZE;
}

static const struct hauli_key keys[] = {{NULL}};

const struct hauli_kind hauli_kind_ring = {
	.name = "ring",
	.form = "ring:[NAME]",
	.help = "in memory: packets sent on a queue are received on it (NAME is a comment)",
	.driver = "net_ring",
	.main = HAULI_MAIN_OPTIONAL,
	.keys = keys,
	.prepare = prepare,
	.stops = stops,
	.closed = closed,
	.held = held,
};
