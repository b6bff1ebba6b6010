/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/ethdev.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_dev.h>
#include <rte_ethdev.h>

#include "eal/interrupts.h"
#include "linux/iface.h"

#define RING_DEFAULT 512
#define LINK_WAIT_MS 2000
#define LINK_LOOK_MS 10

static int attach(struct haul_port *port, struct hauli_vdev *v, char *errbuf, size_t errlen)
{
	int err;

	if (rte_eth_dev_count_total() >= RTE_MAX_ETHPORTS)
		return hauli_spec_fail(&port->spec, -ENOSPC, errbuf, errlen,
			"DPDK has room for %d devices, and all are taken; use fewer ports or "
			"queues",
			RTE_MAX_ETHPORTS);
	err = rte_eal_hotplug_add(v->bus, v->name, v->args);
	if (err < 0)
		return err;
	err = rte_eth_dev_get_port_by_name(v->name, &v->port_id);
	if (err < 0) {
		(void)rte_eal_hotplug_remove(v->bus, v->name);
		err = hauli_spec_fail(
			&port->spec, -ENODEV, errbuf, errlen, "%s is no network device", v->name);
	}
	return err;
}

int hauli_ethdevs_attach(struct haul_port *port, char *errbuf, size_t errlen)
{
	int err = 0;

	for (unsigned i = 0; i < port->nb_vdevs && err == 0; i++)
		err = attach(port, &port->vdevs[i], errbuf, errlen);
	return err;
}

/* The number of queues for the wished number, with one ethdev for all or one for each. */
static int count_queues(struct haul_port *port, char *errbuf, size_t errlen)
{
	struct rte_eth_dev_info info;
	unsigned most;
	int err;

	if (port->nb_vdevs > 1)
		return 0;
	err = rte_eth_dev_info_get(port->vdevs[0].port_id, &info);
	if (err < 0)
		return err;
	most = RTE_MIN(info.max_rx_queues, info.max_tx_queues);
	if (most == 0)
		return hauli_spec_fail(&port->spec, -ENODEV, errbuf, errlen,
			"the device has no queue to receive from or send to");
	port->queues = RTE_MIN(port->queues, most);
	return 0;
}

void hauli_ethdev_rings(const struct hauli_kind *kind, uint16_t *rx_ring, uint16_t *tx_ring)
{
	if (kind->rings)
		kind->rings(rx_ring, tx_ring);
	if (*rx_ring == 0)
		*rx_ring = RING_DEFAULT;
	if (*tx_ring == 0)
		*tx_ring = RING_DEFAULT;
}

static int set_up_queues(struct haul_port *port, const struct hauli_vdev *v, unsigned first,
	uint16_t n, char *errbuf, size_t errlen)
{
	const struct hauli_kind *kind = port->kind;
	uint16_t rx_ring = port->opts.rx_ring;
	uint16_t tx_ring = port->opts.tx_ring;
	int node = rte_eth_dev_socket_id(v->port_id);
	int err;

	hauli_ethdev_rings(kind, &rx_ring, &tx_ring);
	err = rte_eth_dev_adjust_nb_rx_tx_desc(v->port_id, &rx_ring, &tx_ring);
	for (uint16_t q = 0; q < n && err == 0; q++) {
		if (kind->queue_begins)
			err = kind->queue_begins(port, first + q, errbuf, errlen);
		if (err == 0)
			err = rte_eth_rx_queue_setup(
				v->port_id, q, rx_ring, (unsigned)node, NULL, port->opts.pool);
		if (err == 0)
			err = rte_eth_tx_queue_setup(v->port_id, q, tx_ring, (unsigned)node, NULL);
		if (err == 0 && kind->queue_ready)
			err = kind->queue_ready(port, first + q, errbuf, errlen);
	}
	return err;
}

/* NICs may receive more slowly with interrupts, so with a NIC the user decides. */
static bool wants_interrupts(const struct haul_port *port)
{
	return port->kind->rx_interrupts ||
		(port->opts.waits && port->kind->wait_on == HAULI_WAIT_ON_INTERRUPT);
}

static int configure(struct haul_port *port, const struct hauli_vdev *v, unsigned first, uint16_t n,
	char *errbuf, size_t errlen)
{
	struct rte_eth_conf conf = {.intr_conf.rxq = wants_interrupts(port)};
	struct rte_eth_dev_info info;
	int err = rte_eth_dev_info_get(v->port_id, &info);

	if (err < 0)
		return err;
	/* As a mode it is an error for PMDs that have none, and for some that claim to have it. */
	if (port->kind->rss && n > 1 && info.flow_type_rss_offloads) {
		conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
		conf.rx_adv_conf.rss_conf.rss_hf = info.flow_type_rss_offloads &
			(RTE_ETH_RSS_IP | RTE_ETH_RSS_TCP | RTE_ETH_RSS_UDP);
	}
	if (port->kind->stamps)
		conf.rxmode.offloads |= info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_TIMESTAMP;
	err = rte_eth_dev_configure(v->port_id, n, n, &conf);
	return err < 0 ? err : set_up_queues(port, v, first, n, errbuf, errlen);
}

/* The kernel interface below the PMD, if the PMD knows one. */
static void find_iface(struct haul_port *port)
{
	struct rte_eth_dev_info info;

	if (port->iface[0] || rte_eth_dev_info_get(port->vdevs[0].port_id, &info) < 0)
		return;
	if (info.if_index == 0 || !if_indextoname(info.if_index, port->iface))
		port->iface[0] = '\0';
}

int hauli_ethdevs_configure(struct haul_port *port, char *errbuf, size_t errlen)
{
	bool one_each = port->nb_vdevs > 1;
	int err = count_queues(port, errbuf, errlen);

	for (unsigned i = 0; i < port->nb_vdevs && err == 0; i++)
		err = configure(port, &port->vdevs[i], i, one_each ? 1 : (uint16_t)port->queues,
			errbuf, errlen);
	if (err < 0)
		return err;
	find_iface(port);
	port->was_promiscuous = port->iface[0] && (hauli_iface_flags(port->iface) & IFF_PROMISC);
	err = rte_eth_macaddr_get(port->vdevs[0].port_id, &port->mac);
	/* Some PMDs without a wire have no address either. */
	if (err == 0 && rte_is_zero_ether_addr(&port->mac))
		rte_eth_random_addr(port->mac.addr_bytes);
	return err;
}

static void wait_link(const struct hauli_vdev *v)
{
	struct rte_eth_link link;

	for (unsigned ms = 0; ms < LINK_WAIT_MS; ms += LINK_LOOK_MS) {
		if (rte_eth_link_get_nowait(v->port_id, &link) < 0 || link.link_status)
			return;
		rte_delay_us_sleep(LINK_LOOK_MS * 1000);
	}
}

int hauli_ethdevs_start(struct haul_port *port, char *errbuf, size_t errlen)
{
	for (unsigned i = 0; i < port->nb_vdevs; i++) {
		struct hauli_vdev *v = &port->vdevs[i];
		int err = rte_eth_dev_start(v->port_id);

		if (err < 0)
			return err;
		v->started = true;
		/* Not every PMD can, and then the port works without it. */
		if (port->kind->promiscuous)
			(void)rte_eth_promiscuous_enable(v->port_id);
		if (port->kind->wait_link)
			wait_link(v);
	}
	return 0;
}

static void stop(const struct haul_port *port, struct hauli_vdev *v)
{
	if (!v->started)
		return;
	if (port->kind->promiscuous && !port->was_promiscuous)
		(void)rte_eth_promiscuous_disable(v->port_id);
	(void)rte_eth_dev_stop(v->port_id);
	v->started = false;
}

static void close_and_remove(struct hauli_vdev *v)
{
	(void)rte_eth_dev_close(v->port_id);
	(void)rte_eal_hotplug_remove(v->bus, v->name);
	v->port_id = RTE_MAX_ETHPORTS;
}

void hauli_ethdevs_detach(struct haul_port *port)
{
	for (unsigned i = 0; i < port->nb_vdevs; i++)
		stop(port, &port->vdevs[i]);
	hauli_interrupts_quiesce();
	for (unsigned i = 0; i < port->nb_vdevs; i++) {
		if (port->vdevs[i].port_id != RTE_MAX_ETHPORTS)
			close_and_remove(&port->vdevs[i]);
	}
	hauli_interrupts_quiesce();
}
