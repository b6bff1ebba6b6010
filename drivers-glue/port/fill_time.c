/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/fill_time.h"

#include <rte_ethdev.h>

#include "linux/iface.h"

#define WIRE_BITS ((RTE_ETHER_MIN_LEN + 20) * 8) /* shortest frame with its gap */

unsigned hauli_queue_room(const struct haul_port *port, unsigned q)
{
	struct haul_queue id = haul_port_queue(port, q);
	struct rte_eth_rxq_info info;

	if (port->kind->backlog)
		return port->kind->backlog(port);
	if (rte_eth_rx_queue_info_get(id.port_id, id.queue_id, &info) == 0)
		return info.nb_desc;
	return 0;
}

/* The speed of a NIC; software PMDs report an invented one. In Mbit/s, 0: not known. */
static uint64_t speed(const struct haul_port *port)
{
	struct rte_eth_link link;

	if (port->iface[0])
		return hauli_iface_has_device(port->iface) ? hauli_iface_speed(port->iface) : 0;
	if (!port->kind->real_speed || rte_eth_link_get_nowait(port->vdevs[0].port_id, &link) < 0 ||
		link.link_speed == RTE_ETH_SPEED_NUM_UNKNOWN)
		return 0;
	return link.link_speed;
}

uint64_t hauli_fill_time(const struct haul_port *port, unsigned q, uint64_t rate)
{
	uint64_t n = hauli_queue_room(port, q);

	if (rate == 0)
		rate = speed(port) * 1000000 / WIRE_BITS;
	return n == 0 || rate == 0 ? HAUL_FOREVER : n * HAUL_S / rate;
}
