/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/check.h"

#include <errno.h>
#include <stdio.h>

#include "base/assert.h"
#include "port/kinds/list.h"

int hauli_check_attached(const struct haul_port *port, char *errbuf, size_t errlen)
{
	if (!port->detached)
		return 0;
	return hauli_spec_fail(&port->spec, -ENODEV, errbuf, errlen,
		port->spec.kind != &hauli_kind_empty
			? "it was detached"
			: "it has no device yet; give it another spec");
}

int hauli_check_unpolled(
	const struct haul_port *port, const char *changed, char *errbuf, size_t errlen)
{
	if (port->polled == 0)
		return hauli_check_attached(port, errbuf, errlen);
	return hauli_spec_fail(&port->spec, -EBUSY, errbuf, errlen,
		"cannot be %s while pollers use it; stop forwarding first", changed);
}

/* "VLAN_STRIP, TCP_LRO": the offloads of a set. */
static void name_offloads(
	char *buf, size_t size, uint64_t offloads, const char *(*name)(uint64_t offload))
{
	size_t len = 0;

	buf[0] = '\0';
	for (; offloads && len < size; offloads &= offloads - 1)
		len += (size_t)snprintf(
			buf + len, size - len, "%s%s", len ? ", " : "", name(offloads & -offloads));
}

static int check_offloads(const struct haul_port *port, const char *driver, const char *direction,
	uint64_t missing, const char *(*name)(uint64_t offload), char *errbuf, size_t errlen)
{
	char list[128];

	if (missing == 0)
		return 0;
	name_offloads(list, sizeof(list), missing, name);
	return hauli_spec_fail(&port->spec, -ENOTSUP, errbuf, errlen,
		"its PMD %s has no %s offload %s", driver, direction, list);
}

static int check_rss(const struct haul_port *port, const struct haul_port_config *c,
	const struct rte_eth_dev_info *info, char *errbuf, size_t errlen)
{
	if (c->rss == HAUL_RSS_FUNCTIONS && (c->rss_functions & ~info->flow_type_rss_offloads))
		return hauli_spec_fail(&port->spec, -ENOTSUP, errbuf, errlen,
			info->flow_type_rss_offloads
				? "its PMD %s lacks some of these RSS functions"
				: "its PMD %s has no RSS",
			info->driver_name);
	if (c->rss_key_len > 0 && info->hash_key_size > 0 && c->rss_key_len != info->hash_key_size)
		return hauli_spec_fail(&port->spec, -EINVAL, errbuf, errlen,
			"its RSS key has %u bytes, and %u are given", info->hash_key_size,
			c->rss_key_len);
	return 0;
}

int hauli_check_mtu(const struct haul_port *port, unsigned mtu, const struct rte_eth_dev_info *info,
	char *errbuf, size_t errlen)
{
	unsigned frame = mtu + RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN;
	unsigned most = info->max_mtu;

	if (port->kind->set_mtu)
		return 0; /* the kind checks it */
	/* Some PMDs tell only one of the two. */
	if (info->max_rx_pktlen && info->max_rx_pktlen < frame)
		most = RTE_MIN(most, info->max_rx_pktlen - RTE_ETHER_HDR_LEN - RTE_ETHER_CRC_LEN);
	if (mtu < info->min_mtu || mtu > most)
		return hauli_spec_fail(&port->spec, -EINVAL, errbuf, errlen,
			"MTU %u: its PMD %s takes %u to %u", mtu, info->driver_name, info->min_mtu,
			most);
	if (mtu + RTE_ETHER_HDR_LEN > hauli_port_buffer(port) &&
		!(port->config.rx_offloads & RTE_ETH_RX_OFFLOAD_SCATTER))
		return hauli_spec_fail(&port->spec, -EINVAL, errbuf, errlen,
			"MTU %u: a frame of %u bytes does not fit a packet buffer of %u; start "
			"with --max-pkt-len %u",
			mtu, mtu + RTE_ETHER_HDR_LEN, hauli_port_buffer(port), frame);
	return 0;
}

int hauli_check_config(const struct haul_port *port, const struct haul_port_config *c,
	const struct rte_eth_dev_info *info, char *errbuf, size_t errlen)
{
	int err = check_offloads(port, info->driver_name, "receive",
		c->rx_offloads & ~info->rx_offload_capa, rte_eth_dev_rx_offload_name, errbuf,
		errlen);

	if (err == 0)
		err = check_offloads(port, info->driver_name, "transmit",
			c->tx_offloads & ~info->tx_offload_capa, rte_eth_dev_tx_offload_name,
			errbuf, errlen);
	if (err == 0)
		err = check_rss(port, c, info, errbuf, errlen);
	if (err == 0 && c->mtu)
		err = hauli_check_mtu(port, c->mtu, info, errbuf, errlen);
	return err;
}

static uint64_t leave_out_offloads(struct haul_port *port, uint64_t offloads, uint64_t capa,
	const char *direction, const char *(*name)(uint64_t offload))
{
	char list[128];

	name_offloads(list, sizeof(list), offloads & ~capa, name);
	if (list[0])
		hauli_port_note(
			port, "without %s offload %s, which this device lacks", direction, list);
	return offloads & capa;
}

static void leave_out_rss(struct haul_port *port, const struct rte_eth_dev_info *info)
{
	struct haul_port_config *c = &port->config;

	if (c->rss == HAUL_RSS_FUNCTIONS && (c->rss_functions & ~info->flow_type_rss_offloads)) {
		c->rss_functions &= info->flow_type_rss_offloads;
		hauli_port_note(port, "without %s, which this device lacks",
			c->rss_functions ? "some of the RSS functions" : "RSS");
	}
	if (c->rss == HAUL_RSS_FUNCTIONS && !c->rss_functions)
		c->rss = HAUL_RSS_OFF;
	if (c->rss_key_len > 0 && info->hash_key_size > 0 &&
		c->rss_key_len != info->hash_key_size) {
		c->rss_key_len = 0;
		hauli_port_note(
			port, "with its own RSS key, which has %u bytes", info->hash_key_size);
	}
}

void hauli_check_leave_out_mtu(struct haul_port *port)
{
	hauli_port_note(
		port, "without the MTU %u, which this device does not take", port->config.mtu);
	port->config.mtu = 0;
}

void hauli_check_leave_out(struct haul_port *port, const struct rte_eth_dev_info *info)
{
	struct haul_port_config *c = &port->config;

	c->rx_offloads = leave_out_offloads(port, c->rx_offloads, info->rx_offload_capa, "receive",
		rte_eth_dev_rx_offload_name);
	c->tx_offloads = leave_out_offloads(port, c->tx_offloads, info->tx_offload_capa, "transmit",
		rte_eth_dev_tx_offload_name);
	leave_out_rss(port, info);
	if (c->mtu && hauli_check_mtu(port, c->mtu, info, NULL, 0) < 0)
		hauli_check_leave_out_mtu(port);
}

int hauli_check_queue(const struct haul_port *port, unsigned queue, struct haul_queue *q)
{
	if (queue >= haul_port_queues(port))
		return -EINVAL;
	if (port->detached)
		return -ENODEV;
	*q = haul_port_queue(port, queue);
	return 0;
}
