/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/ethdev.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_dev.h>
#include <rte_ethdev.h>

#include "eal/interrupts.h"
#include "linux/iface.h"
#include "port/check.h"

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

/* True if the NIC receives on its first queue only, whatever its PMD takes: others would keep their
 * carriers from what is spread by software. */
static bool has_idle_queues(const struct rte_eth_dev_info *info)
{
	return strcmp(info->driver_name, "net_e1000_em") == 0;
}

/* The number of queues for the wished number, with one ethdev for all or one for each. */
unsigned hauli_ethdev_queues_most(const struct haul_port *port, const struct rte_eth_dev_info *info)
{
	unsigned most = RTE_MIN(info->max_rx_queues, info->max_tx_queues);

	return port->kind->queues_most ? RTE_MIN(most, port->kind->queues_most) : most;
}

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
	most = hauli_ethdev_queues_most(port, &info);
	if (most > 1 && has_idle_queues(&info))
		most = 1;
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

/* Without a configuration of its own a queue gets the PMD's. */
static int set_up_rxq(const struct haul_port *port, const struct rte_eth_dev_info *info,
	struct haul_queue q, unsigned queue, uint16_t ring)
{
	const struct hauli_queue_own own = hauli_queue_own(port, queue, true);
	struct rte_eth_rxconf conf = info->default_rxconf;

	conf.offloads |= own.offloads;
	return rte_eth_rx_queue_setup(q.port_id, q.queue_id, ring,
		(unsigned)rte_eth_dev_socket_id(q.port_id), own.offloads ? &conf : NULL,
		port->opts.pool);
}

static int set_up_txq(const struct haul_port *port, const struct rte_eth_dev_info *info,
	struct haul_queue q, unsigned queue, uint16_t ring)
{
	const struct hauli_queue_own own = hauli_queue_own(port, queue, false);
	struct rte_eth_txconf conf = info->default_txconf;

	conf.offloads |= own.offloads;
	return rte_eth_tx_queue_setup(q.port_id, q.queue_id, ring,
		(unsigned)rte_eth_dev_socket_id(q.port_id), own.offloads ? &conf : NULL);
}

static int set_up_queues(struct haul_port *port, const struct hauli_vdev *v, unsigned first,
	uint16_t n, char *errbuf, size_t errlen)
{
	const struct hauli_kind *kind = port->kind;
	uint16_t rx_ring = port->opts.rx_ring;
	uint16_t tx_ring = port->opts.tx_ring;
	struct rte_eth_dev_info info;
	int err = rte_eth_dev_info_get(v->port_id, &info);

	hauli_ethdev_rings(kind, &rx_ring, &tx_ring);
	if (err == 0)
		err = rte_eth_dev_adjust_nb_rx_tx_desc(v->port_id, &rx_ring, &tx_ring);
	for (uint16_t q = 0; q < n && err == 0; q++) {
		const struct haul_queue queue = {.port_id = v->port_id, .queue_id = q};

		if (kind->queue_begins)
			err = kind->queue_begins(port, first + q, errbuf, errlen);
		if (err == 0)
			err = set_up_rxq(port, &info, queue, first + q, rx_ring);
		if (err == 0)
			err = set_up_txq(port, &info, queue, first + q, tx_ring);
		if (err == 0 && kind->queue_ready)
			err = kind->queue_ready(port, first + q, errbuf, errlen);
	}
	return err;
}

/* NICs may receive more slowly with interrupts, so with a NIC the user decides. */
static bool wants_interrupts(const struct haul_port *port)
{
	return port->kind->rx_interrupts ||
		(port->opts.waits && port->kind->wait_on == HAULI_PORT_WAIT_ON_INTERRUPT);
}

uint64_t hauli_ethdev_rss(const struct haul_port *port, const struct rte_eth_dev_info *info)
{
	if (port->config.rss == HAUL_RSS_OFF)
		return 0;
	if (port->config.rss == HAUL_RSS_FUNCTIONS)
		return port->config.rss_functions;
	if (!port->kind->rss || port->queues == port->nb_vdevs)
		return 0;
	return info->flow_type_rss_offloads & (RTE_ETH_RSS_IP | RTE_ETH_RSS_TCP | RTE_ETH_RSS_UDP);
}

/* mq_mode RSS is an error for PMDs without RSS, and for some that claim to have it: so by default
 * it is set only for kinds that are known to have it. */
static void configure_rss(const struct haul_port *port, const struct rte_eth_dev_info *info,
	struct rte_eth_conf *conf)
{
	const struct haul_port_config *config = &port->config;
	struct rte_eth_rss_conf *rss = &conf->rx_adv_conf.rss_conf;

	rss->rss_hf = hauli_ethdev_rss(port, info);
	if (rss->rss_hf == 0)
		return;
	conf->rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
	if (config->rss_key_len) {
		rss->rss_key = (uint8_t *)(uintptr_t)config->rss_key;
		rss->rss_key_len = config->rss_key_len;
	}
}

static int configure(struct haul_port *port, const struct hauli_vdev *v, unsigned first, uint16_t n,
	char *errbuf, size_t errlen)
{
	struct rte_eth_conf conf = {.intr_conf.rxq = wants_interrupts(port)};
	struct rte_eth_dev_info info;
	int err = rte_eth_dev_info_get(v->port_id, &info);

	if (err == 0 && port->leaves_out)
		hauli_check_leave_out(port, &info);
	if (err == 0)
		err = hauli_check_config(port, &port->config, &info, errbuf, errlen);
	if (err < 0)
		return err;
	conf.rxmode.mtu = port->kind->set_mtu ? 0 : port->config.mtu;
	conf.rxmode.offloads = port->config.rx_offloads;
	conf.link_speeds = port->config.link_speeds;
	conf.txmode.offloads = port->config.tx_offloads;
	configure_rss(port, &info, &conf);
	if (port->kind->stamps)
		conf.rxmode.offloads |= info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_TIMESTAMP;
	err = rte_eth_dev_configure(v->port_id, n, n, &conf);
	if (err == 0 && port->config.mtu && !port->kind->set_mtu)
		err = hauli_ethdev_set_mtu(v->port_id, port->config.mtu);
	return err < 0 ? err : set_up_queues(port, v, first, n, errbuf, errlen);
}

int hauli_ethdev_set_mtu(uint16_t port_id, uint16_t mtu)
{
	int err = rte_eth_dev_set_mtu(port_id, mtu);

	/* For PMDs without a function for it the configuration is enough. */
	return err == -ENOTSUP ? 0 : err;
}

uint16_t hauli_port_mtu(const struct haul_port *port)
{
	uint64_t tagged = (uint64_t)port->tx.most + port->tx.tag;
	uint64_t most = tagged - RTE_ETHER_HDR_LEN - RTE_VLAN_HLEN;
	uint16_t mtu;

	if (rte_eth_dev_get_mtu(port->vdevs[0].port_id, &mtu) != 0)
		mtu = 0;
	if (port->kind->set_mtu && port->config.mtu)
		mtu = port->config.mtu;
	return (uint16_t)RTE_MIN(mtu, most);
}

int hauli_ethdevs_reconfigure(struct haul_port *port, char *errbuf, size_t errlen)
{
	bool one_each = port->nb_vdevs > 1;
	int err = 0;

	for (unsigned i = 0; i < port->nb_vdevs && err == 0; i++)
		err = configure(port, &port->vdevs[i], i, one_each ? 1 : (uint16_t)port->queues,
			errbuf, errlen);
	return err;
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
	int err = count_queues(port, errbuf, errlen);

	find_iface(port);
	port->was_mtu = port->iface[0] ? hauli_iface_mtu(port->iface) : 0;
	if (err == 0)
		err = hauli_ethdevs_reconfigure(port, errbuf, errlen);
	if (err == 0 && port->config.mtu && port->kind->set_mtu) {
		err = port->kind->set_mtu(port, port->config.mtu, errbuf, errlen);
		if (err < 0 && port->leaves_out) {
			hauli_check_leave_out_mtu(port);
			err = 0;
		}
	}
	if (err < 0)
		return err;
	if (port->config.mtu && port->kind->sizes)
		port->kind->sizes(port);
	port->was_promiscuous = port->iface[0] && (hauli_iface_flags(port->iface) & IFF_PROMISC);
	err = rte_eth_macaddr_get(port->vdevs[0].port_id, &port->mac);
	/* PMDs of virtual devices may have no MAC address: then a random one is used. */
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

/* Some PMDs ignore functions and key in the configuration, and take them only from a started
 * device. */
static int set_rss(const struct haul_port *port, uint16_t port_id)
{
	const struct haul_port_config *config = &port->config;
	struct rte_eth_rss_conf rss = {.rss_hf = config->rss_functions};
	int err;

	if (config->rss != HAUL_RSS_FUNCTIONS || !config->rss_functions)
		return 0;
	if (config->rss_key_len) {
		rss.rss_key = (uint8_t *)(uintptr_t)config->rss_key;
		rss.rss_key_len = config->rss_key_len;
	}
	err = rte_eth_dev_rss_hash_update(port_id, &rss);
	return err == -ENOTSUP ? 0 : err;
}

/* Not every PMD can set them: unless the user asks for it, that is no error. */
static int set_filters(struct haul_port *port, uint16_t port_id, char *errbuf, size_t errlen)
{
	enum haul_filter promiscuous = port->config.promiscuous;
	enum haul_filter multicast = port->config.allmulticast;
	int err = 0;

	if (promiscuous == HAUL_FILTER_ON)
		err = rte_eth_promiscuous_enable(port_id);
	else if (promiscuous == HAUL_FILTER_OFF)
		err = rte_eth_promiscuous_disable(port_id);
	else if (port->kind->promiscuous)
		(void)rte_eth_promiscuous_enable(port_id);
	if (err == -ENOTSUP && port->leaves_out) {
		hauli_port_note(port, "it has no promiscuous mode to set");
		err = 0;
	}
	if (err == -ENOTSUP)
		return hauli_spec_fail(&port->spec, err, errbuf, errlen,
			"its PMD has no promiscuous mode; leave out --promiscuous");
	if (multicast == HAUL_FILTER_ON)
		err = rte_eth_allmulticast_enable(port_id);
	else if (multicast == HAUL_FILTER_OFF)
		err = rte_eth_allmulticast_disable(port_id);
	if (err == -ENOTSUP && port->leaves_out) {
		hauli_port_note(port, "it has no allmulticast mode to set");
		err = 0;
	}
	if (err == -ENOTSUP)
		return hauli_spec_fail(&port->spec, err, errbuf, errlen,
			"its PMD has no allmulticast mode; leave out --allmulticast");
	return err;
}

void hauli_ethdevs_forget_own(struct haul_port *port)
{
	free(port->rx_own);
	free(port->tx_own);
	port->rx_own = port->tx_own = NULL;
}

void hauli_ethdevs_run_queues(struct haul_port *port)
{
	for (unsigned q = 0; q < port->queues; q++) {
		if (port->rx_own)
			port->rx_own[q].stopped = false;
		if (port->tx_own)
			port->tx_own[q].stopped = false;
	}
}

/* A started device runs all queues: those that are to be stopped are stopped then. ethdev is not
 * asked for a deferred start, which newer versions refuse where the PMD starts no single queues. */
static void start_queues(struct haul_port *port, struct hauli_queue_own *own, bool rx)
{
	for (unsigned i = 0; own && i < port->queues; i++) {
		struct haul_queue q = haul_port_queue(port, i);

		own[i].stopped = (own[i].stopped || own[i].deferred) &&
			(rx ? rte_eth_dev_rx_queue_stop : rte_eth_dev_tx_queue_stop)(
				q.port_id, q.queue_id) == 0;
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
		err = set_rss(port, v->port_id);
		if (err == 0)
			err = set_filters(port, v->port_id, errbuf, errlen);
		if (err < 0)
			return err;
		if (port->kind->wait_link)
			wait_link(v);
	}
	start_queues(port, port->rx_own, true);
	start_queues(port, port->tx_own, false);
	return 0;
}

static void stop(struct haul_port *port, struct hauli_vdev *v)
{
	if (!v->started)
		return;
	if (port->kind->stops)
		port->kind->stops(port);
	/* A PMD cannot unregister a callback that runs, and does not try again. */
	hauli_interrupts_quiesce();
	(void)rte_eth_dev_stop(v->port_id);
	v->started = false;
}

void hauli_ethdevs_stop(struct haul_port *port)
{
	for (unsigned i = 0; i < port->nb_vdevs; i++)
		stop(port, &port->vdevs[i]);
}

/* The kernel interface gets back what the port has changed. */
static void restore_iface(const struct haul_port *port, const struct hauli_vdev *v)
{
	bool ours = port->config.promiscuous != HAUL_FILTER_DEFAULT || port->kind->promiscuous;

	/* Another process has it: the next one, or the one before, which goes on. */
	if (v->port_id == RTE_MAX_ETHPORTS || port->handed_over || port->opts.offer)
		return;
	if (v->started && ours && port->was_promiscuous)
		(void)rte_eth_promiscuous_enable(v->port_id);
	else if (v->started && ours)
		(void)rte_eth_promiscuous_disable(v->port_id);
	if (!port->config.mtu || !port->was_mtu)
		return;
	if (port->kind->set_mtu)
		(void)hauli_iface_set_mtu(port->iface, port->was_mtu);
	else if (port->was_mtu <= UINT16_MAX)
		(void)rte_eth_dev_set_mtu(v->port_id, (uint16_t)port->was_mtu);
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
		restore_iface(port, &port->vdevs[i]);
	hauli_ethdevs_stop(port);
	hauli_interrupts_quiesce();
	for (unsigned i = 0; i < port->nb_vdevs; i++) {
		if (port->vdevs[i].port_id != RTE_MAX_ETHPORTS)
			close_and_remove(&port->vdevs[i]);
	}
	hauli_interrupts_quiesce();
}
