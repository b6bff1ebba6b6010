/* SPDX-License-Identifier: BSD-3-Clause */
/* Facts and statistics of the PMDs of a port, as one. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_bus.h>
#include <rte_dev.h>

#include "base/assert.h"
#include "port/detach.h"
#include "port/ethdev.h"
#include "port/kind.h"
#include "port/missed.h"
#include "port/watch.h"
#include "port/xstats.h"

static void read_link(const struct haul_port *port, struct rte_eth_link *link)
{
	struct rte_eth_link other;

	memset(link, 0, sizeof(*link));
	for (unsigned i = 0; i < port->nb_vdevs; i++) {
		if (rte_eth_link_get_nowait(port->vdevs[i].port_id, &other) < 0)
			continue;
		if (i == 0)
			*link = other;
		else if (!other.link_status)
			link->link_status = RTE_ETH_LINK_DOWN;
	}
	if (!hauli_watch_sees_link(port))
		link->link_status = RTE_ETH_LINK_DOWN;
}

bool haul_port_has_link(const struct haul_port *port)
{
	struct rte_eth_link link;

	HAUL_MISUSE_IF(!port, HAULI_NO_PORT);
	if (port->detached)
		return false;
	read_link(port, &link);
	return link.link_status == RTE_ETH_LINK_UP;
}

/* ethdev knows it only of a device that is configured, and some are when they start. */
static int vlan_offload(uint64_t rx_offloads)
{
	static const struct {
		uint64_t offload;
		int vlan;
	} all[] = {
		{RTE_ETH_RX_OFFLOAD_VLAN_STRIP, RTE_ETH_VLAN_STRIP_OFFLOAD},
		{RTE_ETH_RX_OFFLOAD_VLAN_FILTER, RTE_ETH_VLAN_FILTER_OFFLOAD},
		{RTE_ETH_RX_OFFLOAD_VLAN_EXTEND, RTE_ETH_VLAN_EXTEND_OFFLOAD},
		{RTE_ETH_RX_OFFLOAD_QINQ_STRIP, RTE_ETH_QINQ_STRIP_OFFLOAD},
	};
	int vlan = 0;

	for (unsigned i = 0; i < RTE_DIM(all); i++)
		if (rx_offloads & all[i].offload)
			vlan |= all[i].vlan;
	return vlan;
}

int haul_port_get_info(const struct haul_port *port, struct haul_port_info *info)
{
	uint16_t id;
	int err;

	HAUL_MISUSE_IF(!port || !info, HAULI_NO_PORT);
	memset(info, 0, sizeof(*info));
	if (port->detached)
		return -ENODEV;
	id = port->vdevs[0].port_id;
	err = rte_eth_dev_info_get(id, &info->dev);
	if (err < 0)
		return err;
	read_link(port, &info->link);
	info->ethdevs = port->nb_vdevs;
	info->rx_queues = info->tx_queues = port->queues;
	info->socket = rte_eth_dev_socket_id(id);
	info->promiscuous = rte_eth_promiscuous_get(id) == 1;
	info->allmulticast = rte_eth_allmulticast_get(id) == 1;
	info->vlan_offload = vlan_offload(port->config.rx_offloads);
	info->rx_offloads = port->config.rx_offloads;
	info->tx_offloads = port->config.tx_offloads;
	info->mtu = hauli_port_mtu(port);
	snprintf(info->device, sizeof(info->device), "%s", port->vdevs[0].name);
	if (rte_eth_dev_fw_version_get(id, info->firmware, sizeof(info->firmware)) != 0)
		info->firmware[0] = '\0';
	info->devargs = port->vdevs[0].args;
	info->pool_socket = port->opts.pool->socket_id;
	return 0;
}

int haul_port_get_device(const struct haul_port *port, unsigned i, struct haul_port_device *device)
{
	struct rte_eth_dev_info info;
	const struct rte_devargs *args;

	HAUL_MISUSE_IF(!port || !device, HAULI_NO_PORT);
	if (port->detached || i >= port->nb_vdevs)
		return -ENODEV;
	if (rte_eth_dev_info_get(port->vdevs[i].port_id, &info) < 0)
		return -EIO;
	args = rte_dev_devargs(info.device);
	*device = (struct haul_port_device){.bus = rte_bus_name(rte_dev_bus(info.device)),
		.driver = info.driver_name,
		.args = args && args->args ? args->args : "",
		.socket = rte_dev_numa_node(info.device),
		.speeds = info.speed_capa};
	snprintf(device->name, sizeof(device->name), "%s", rte_dev_name(info.device));
	return 0;
}

static uint64_t base_of(const struct hauli_stats_base *base, const char *name)
{
	for (unsigned i = 0; i < base->nb_xstats; i++)
		if (strcmp(base->xstats[i].name, name) == 0)
			return base->xstats[i].value;
	return 0;
}

int haul_port_get_xstats(const struct haul_port *port, struct haul_port_xstat *stats, unsigned n)
{
	struct haul_port_xstat *now;
	int have;

	HAUL_MISUSE_IF(!port || (n > 0 && !stats), HAULI_NO_PORT);
	have = hauli_xstats_read(port, &now);
	if (have < 0)
		return have;
	for (unsigned i = 0; (unsigned)have <= n && i < (unsigned)have; i++) {
		stats[i] = now[i];
		stats[i].value -= base_of(&port->base, now[i].name);
	}
	free(now);
	return have;
}

static int read_stats(const struct haul_port *port, struct rte_eth_stats *stats)
{
	int err = hauli_port_stats(port, stats);

	stats->imissed += hauli_missed(port);
	return err;
}

int haul_port_get_stats(const struct haul_port *port, struct rte_eth_stats *stats)
{
	const struct rte_eth_stats *base;
	int err;

	HAUL_MISUSE_IF(!port || !stats, HAULI_NO_PORT);
	err = read_stats(port, stats);
	base = &port->base.stats;
	stats->ipackets -= base->ipackets;
	stats->opackets -= base->opackets;
	stats->ibytes -= base->ibytes;
	stats->obytes -= base->obytes;
	stats->imissed -= base->imissed;
	stats->ierrors -= base->ierrors;
	stats->oerrors -= base->oerrors;
	stats->rx_nombuf -= base->rx_nombuf;
	return err;
}

void haul_port_reset_stats(struct haul_port *port)
{
	struct hauli_stats_base *base;
	int n;

	HAUL_MISUSE_IF(!port, HAULI_NO_PORT);
	base = &port->base;
	free(base->xstats);
	n = hauli_xstats_read_all(port, &base->xstats);
	base->nb_xstats = n > 0 ? (unsigned)n : 0;
	if (read_stats(port, &base->stats) < 0)
		memset(&base->stats, 0, sizeof(base->stats));
}
