/* SPDX-License-Identifier: BSD-3-Clause */
/* Facts and statistics of the PMDs of a port, as one. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "port/detach.h"
#include "port/ethdev.h"
#include "port/kind.h"
#include "port/missed.h"
#include "port/watch.h"

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
	info->vlan_offload = RTE_MAX(0, rte_eth_dev_get_vlan_offload(id));
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

/* The names of an ethdev's queues begin at 0: with an ethdev for each queue they get the port's
 * numbers, "rx_q0_packets" of the third one becomes "rx_q2_packets". */
static void set_name(
	const struct haul_port *port, unsigned vdev, const char *name, char to[HAUL_XSTAT_NAME])
{
	bool queue = strncmp(name, "rx_q0", 5) == 0 || strncmp(name, "tx_q0", 5) == 0;

	if (queue && port->nb_vdevs > 1)
		snprintf(to, HAUL_XSTAT_NAME, "%.4s%u%s", name, vdev, name + 5);
	else
		snprintf(to, HAUL_XSTAT_NAME, "%s", name);
}

/* Adds to the element of that name, or to a new one while there are fewer than most. */
static void add(
	struct haul_port_xstat *stats, unsigned *n, unsigned most, const struct haul_port_xstat *x)
{
	for (unsigned i = 0; i < *n; i++) {
		if (strcmp(stats[i].name, x->name) == 0) {
			stats[i].value += x->value;
			return;
		}
	}
	if (*n < most)
		stats[(*n)++] = *x;
}

static int add_vdev(const struct haul_port *port, unsigned vdev, struct haul_port_xstat *stats,
	unsigned *n, unsigned most)
{
	uint16_t id = port->vdevs[vdev].port_id;
	int have = rte_eth_xstats_get_names(id, NULL, 0);
	struct rte_eth_xstat_name *names;
	struct rte_eth_xstat *values;
	int err = -ENOMEM;

	if (have <= 0)
		return have;
	names = calloc((size_t)have, sizeof(*names));
	values = calloc((size_t)have, sizeof(*values));
	if (names && values) {
		err = rte_eth_xstats_get_names(id, names, (unsigned)have) == have &&
				rte_eth_xstats_get(id, values, (unsigned)have) == have
			? 0
			: -EIO;
	}
	for (int i = 0; i < have && err == 0; i++) {
		struct haul_port_xstat x = {.value = values[i].value};

		set_name(port, vdev, names[i].name, x.name);
		add(stats, n, most, &x);
	}
	free(names);
	free(values);
	return err;
}

/* All xstats without a base, in new memory. Returns their number or -errno. */
static int read_xstats(const struct haul_port *port, struct haul_port_xstat **stats)
{
	unsigned most = 0, n = 0;
	int err = 0;

	if (port->detached)
		return -ENODEV;
	for (unsigned i = 0; i < port->nb_vdevs; i++)
		most += (unsigned)RTE_MAX(
			0, rte_eth_xstats_get_names(port->vdevs[i].port_id, NULL, 0));
	*stats = calloc(most + 1, sizeof(**stats));
	if (!*stats)
		return -ENOMEM;
	for (unsigned i = 0; i < port->nb_vdevs && err == 0; i++)
		err = add_vdev(port, i, *stats, &n, most);
	if (err == 0)
		return (int)n;
	free(*stats);
	*stats = NULL;
	return err;
}

int haul_port_get_xstats(const struct haul_port *port, struct haul_port_xstat *stats, unsigned n)
{
	struct haul_port_xstat *now;
	int have;

	HAUL_MISUSE_IF(!port || (n > 0 && !stats), HAULI_NO_PORT);
	have = read_xstats(port, &now);
	if (have < 0)
		return have;
	for (unsigned i = 0; (unsigned)have <= n && i < (unsigned)have; i++) {
		stats[i] = now[i];
		if (i < port->base.nb_xstats && strcmp(port->base.xstats[i].name, now[i].name) == 0)
			stats[i].value -= port->base.xstats[i].value;
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
	base->xstats = NULL; /* a detached port has none */
	n = read_xstats(port, &base->xstats);
	base->nb_xstats = n > 0 ? (unsigned)n : 0;
	if (read_stats(port, &base->stats) < 0)
		memset(&base->stats, 0, sizeof(base->stats));
}
