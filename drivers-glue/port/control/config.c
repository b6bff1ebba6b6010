/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes of an open port. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "eal/log.h"
#include "port/apply.h"
#include "port/check.h"
#include "port/control/reconfigure.h"
#include "port/ethdev.h"
#include "port/watch.h"

const struct haul_port_config *haul_port_config(const struct haul_port *port)
{
	HAUL_MISUSE_IF(!port, HAULI_NO_PORT);
	return &port->config;
}

int haul_port_check_config(const struct haul_port *port, char *errbuf, size_t errlen)
{
	struct rte_eth_dev_info info;
	int err;

	HAUL_MISUSE_IF(!port, HAULI_NO_PORT);
	err = hauli_check_attached(port, errbuf, errlen);
	if (err == 0)
		err = rte_eth_dev_info_get(port->vdevs[0].port_id, &info);
	if (err == 0)
		err = hauli_check_config(port, &port->asked, &info, errbuf, errlen);
	if (err == 0 && port->asked.mtu && port->asked.mtu != port->config.mtu)
		err = hauli_spec_fail(&port->spec, -ENOTSUP, errbuf, errlen,
			"MTU %u: this device does not take it", port->asked.mtu);
	return err;
}

static int promiscuous(uint16_t port_id, const struct hauli_change *change)
{
	return change->on ? rte_eth_promiscuous_enable(port_id)
			  : rte_eth_promiscuous_disable(port_id);
}

int haul_port_set_promiscuous(struct haul_port *port, bool on, char *errbuf, size_t errlen)
{
	const struct hauli_change change = {"promiscuous mode", promiscuous, .on = on};
	int err;

	HAUL_MISUSE_IF(!port, HAULI_NO_PORT);
	err = hauli_port_apply(port, &change, errbuf, errlen);
	if (err == 0)
		port->config.promiscuous = port->asked.promiscuous =
			on ? HAUL_FILTER_ON : HAUL_FILTER_OFF;
	return err;
}

static int allmulticast(uint16_t port_id, const struct hauli_change *change)
{
	return change->on ? rte_eth_allmulticast_enable(port_id)
			  : rte_eth_allmulticast_disable(port_id);
}

int haul_port_set_allmulticast(struct haul_port *port, bool on, char *errbuf, size_t errlen)
{
	const struct hauli_change change = {"allmulticast mode", allmulticast, .on = on};
	int err;

	HAUL_MISUSE_IF(!port, HAULI_NO_PORT);
	err = hauli_port_apply(port, &change, errbuf, errlen);
	if (err == 0)
		port->config.allmulticast = port->asked.allmulticast =
			on ? HAUL_FILTER_ON : HAUL_FILTER_OFF;
	return err;
}

static int set_link(uint16_t port_id, const struct hauli_change *change)
{
	return change->on ? rte_eth_dev_set_link_up(port_id) : rte_eth_dev_set_link_down(port_id);
}

int haul_port_set_link(struct haul_port *port, bool up, char *errbuf, size_t errlen)
{
	const struct hauli_change change = {"function to set the link", set_link, .on = up};
	int err;

	HAUL_MISUSE_IF(!port, HAULI_NO_PORT);
	if (!up)
		hauli_watch_set_link(port, false);
	err = hauli_port_apply(port, &change, errbuf, errlen);
	if (up == (err == 0))
		hauli_watch_set_link(port, true);
	return err;
}

static int vlan_filter(uint16_t port_id, const struct hauli_change *change)
{
	return rte_eth_dev_vlan_filter(port_id, change->number, change->on);
}

int haul_port_pass_vlan(struct haul_port *port, uint16_t vlan, bool on, char *errbuf, size_t errlen)
{
	const struct hauli_change change = {"VLAN filter", vlan_filter, .on = on, .number = vlan};

	HAUL_MISUSE_IF(!port, HAULI_NO_PORT);
	if (!(port->config.rx_offloads & RTE_ETH_RX_OFFLOAD_VLAN_FILTER))
		return hauli_spec_fail(&port->spec, -ENOTSUP, errbuf, errlen,
			"it does not filter VLANs; turn on the receive offload VLAN_FILTER first");
	return hauli_port_apply(port, &change, errbuf, errlen);
}

static int get_fc(uint16_t port_id, const struct hauli_change *change)
{
	return rte_eth_dev_flow_ctrl_get(port_id, change->flow_control);
}

int haul_port_get_flow_control(
	const struct haul_port *port, struct rte_eth_fc_conf *conf, char *errbuf, size_t errlen)
{
	const struct hauli_change change = {"flow control", get_fc, .flow_control = conf};

	HAUL_MISUSE_IF(!port || !conf, "the port or the address for the configuration is NULL");
	memset(conf, 0, sizeof(*conf));
	return hauli_port_apply((struct haul_port *)(uintptr_t)port, &change, errbuf, errlen);
}

static int set_fc(uint16_t port_id, const struct hauli_change *change)
{
	return rte_eth_dev_flow_ctrl_set(port_id, change->flow_control);
}

int haul_port_set_flow_control(
	struct haul_port *port, const struct rte_eth_fc_conf *conf, char *errbuf, size_t errlen)
{
	struct rte_eth_fc_conf copy;
	const struct hauli_change change = {"flow control", set_fc, .flow_control = &copy};

	HAUL_MISUSE_IF(!port || !conf, "the port or the configuration is NULL");
	copy = *conf;
	return hauli_port_apply(port, &change, errbuf, errlen);
}

static int take_vxlan(uint16_t port_id, const struct hauli_change *change)
{
	struct rte_eth_udp_tunnel tunnel = {
		.udp_port = change->number, .prot_type = RTE_ETH_TUNNEL_TYPE_VXLAN};

	return change->on ? rte_eth_dev_udp_tunnel_port_add(port_id, &tunnel)
			  : rte_eth_dev_udp_tunnel_port_delete(port_id, &tunnel);
}

int haul_port_take_vxlan(
	struct haul_port *port, uint16_t udp_port, bool on, char *errbuf, size_t errlen)
{
	const struct hauli_change change = {
		"UDP ports of tunnels", take_vxlan, .on = on, .number = udp_port};

	HAUL_MISUSE_IF(!port, HAULI_NO_PORT);
	return hauli_port_apply(port, &change, errbuf, errlen);
}

static int set_mtu(uint16_t port_id, const struct hauli_change *change)
{
	return rte_eth_dev_set_mtu(port_id, change->number);
}

int haul_port_set_mtu(struct haul_port *port, unsigned mtu, char *errbuf, size_t errlen)
{
	const struct hauli_change change = {"MTU", set_mtu, .number = (uint16_t)mtu};
	struct rte_eth_dev_info info;
	int err;

	HAUL_MISUSE_IF(!port, HAULI_NO_PORT);
	err = hauli_check_unpolled(port, "given another MTU", errbuf, errlen);
	if (err == 0)
		err = rte_eth_dev_info_get(port->vdevs[0].port_id, &info);
	if (err == 0)
		err = hauli_check_mtu(port, mtu, &info, errbuf, errlen);
	if (err == 0 && port->kind->set_mtu)
		err = port->kind->set_mtu(port, mtu, errbuf, errlen);
	else if (err == 0)
		err = hauli_port_apply(port, &change, errbuf, errlen);
	if (err < 0)
		return err;
	port->config.mtu = port->asked.mtu = (uint16_t)mtu;
	if (port->kind->sizes)
		port->kind->sizes(port);
	return 0;
}

/* Takes over a configuration, or restores the former one. */
static int change_config(
	struct haul_port *port, const struct haul_port_config *config, char *errbuf, size_t errlen)
{
	const struct haul_port_config before = port->config;
	struct rte_eth_dev_info info;
	char line[HAULI_LOG_LINE];
	int err = rte_eth_dev_info_get(port->vdevs[0].port_id, &info);

	port->config = *config;
	if (err == 0)
		err = hauli_check_config(port, &port->config, &info, errbuf, errlen);
	if (err < 0) {
		port->config = before;
		return err;
	}
	err = hauli_port_reconfigure(port, errbuf, errlen);
	if (err < 0) {
		port->config = before;
		(void)hauli_port_reconfigure(port, line, sizeof(line));
	}
	return err;
}

int haul_port_set_rings(
	struct haul_port *port, uint16_t rx_ring, uint16_t tx_ring, char *errbuf, size_t errlen)
{
	uint16_t rx, tx;
	char line[HAULI_LOG_LINE];
	int err;

	HAUL_MISUSE_IF(!port, HAULI_NO_PORT);
	err = hauli_check_unpolled(port, "given other rings", errbuf, errlen);
	if (err < 0)
		return err;
	rx = port->opts.rx_ring;
	tx = port->opts.tx_ring;
	port->opts.rx_ring = rx_ring ? rx_ring : rx;
	port->opts.tx_ring = tx_ring ? tx_ring : tx;
	err = hauli_port_reconfigure(port, errbuf, errlen);
	if (err < 0) {
		port->opts.rx_ring = rx;
		port->opts.tx_ring = tx;
		(void)hauli_port_reconfigure(port, line, sizeof(line));
	}
	return err;
}

int haul_port_set_speeds(struct haul_port *port, uint32_t speeds, char *errbuf, size_t errlen)
{
	struct haul_port_config config;
	int err;

	HAUL_MISUSE_IF(!port, HAULI_NO_PORT);
	err = hauli_check_unpolled(port, "given other speeds", errbuf, errlen);
	if (err < 0)
		return err;
	config = port->config;
	config.link_speeds = speeds;
	err = change_config(port, &config, errbuf, errlen);
	if (err == 0)
		port->asked.link_speeds = speeds;
	return err;
}

static uint64_t changed(uint64_t offloads, uint64_t which, bool on)
{
	return on ? offloads | which : offloads & ~which;
}

int haul_port_change_offloads(struct haul_port *port, uint64_t rx_offloads, uint64_t tx_offloads,
	bool on, char *errbuf, size_t errlen)
{
	struct haul_port_config config;
	uint64_t rx, tx;
	int err = 0;

	HAUL_MISUSE_IF(!port, HAULI_NO_PORT);
	err = hauli_check_unpolled(port, "given other offloads", errbuf, errlen);
	if (err < 0)
		return err;
	config = port->config;
	rx = config.rx_offloads;
	tx = config.tx_offloads;
	config.rx_offloads = changed(rx, rx_offloads, on);
	config.tx_offloads = changed(tx, tx_offloads, on);
	if (config.rx_offloads != rx || config.tx_offloads != tx)
		err = change_config(port, &config, errbuf, errlen);
	if (err < 0)
		return err;
	port->asked.rx_offloads = changed(port->asked.rx_offloads, rx_offloads, on);
	port->asked.tx_offloads = changed(port->asked.tx_offloads, tx_offloads, on);
	return 0;
}

static void ask_rss(struct haul_port *port)
{
	const struct haul_port_config *c = &port->config;

	port->asked.rss = c->rss;
	port->asked.rss_functions = c->rss_functions;
	if (c->rss_key_len == 0)
		return;
	port->asked.rss_key_len = c->rss_key_len;
	memcpy(port->asked.rss_key, c->rss_key, sizeof(c->rss_key));
}

static int update_rss(uint16_t port_id, const struct hauli_change *change)
{
	return rte_eth_dev_rss_hash_update(port_id, change->rss);
}

int haul_port_set_rss(struct haul_port *port, uint64_t functions, const uint8_t *key,
	uint8_t key_len, char *errbuf, size_t errlen)
{
	struct haul_port_config config;
	struct rte_eth_rss_conf rss = {.rss_hf = functions};
	const struct hauli_change change = {"RSS", update_rss, .rss = &rss};
	bool in_use;
	int err;

	HAUL_MISUSE_IF(!port, HAULI_NO_PORT);
	if (key_len > HAUL_RSS_KEY_MAX || (key_len > 0 && !key))
		return hauli_spec_fail(&port->spec, -EINVAL, errbuf, errlen,
			"an RSS key has 1 to %u bytes", HAUL_RSS_KEY_MAX);
	config = port->config;
	in_use = config.rss == HAUL_RSS_FUNCTIONS && config.rss_functions;
	config.rss = functions ? HAUL_RSS_FUNCTIONS : HAUL_RSS_OFF;
	config.rss_functions = functions;
	if (key_len) {
		memcpy(config.rss_key, key, key_len);
		config.rss_key_len = key_len;
		rss.rss_key = config.rss_key;
		rss.rss_key_len = key_len;
	}
	/* PMDs change the functions on the fly only if they are configured for RSS; some never. */
	if (in_use && functions && port->polled) {
		err = hauli_port_apply(port, &change, errbuf, errlen);
		if (err == 0) {
			port->config = config;
			ask_rss(port);
		}
		if (err != -ENOTSUP)
			return err;
	}
	err = hauli_check_unpolled(port, "given other RSS functions", errbuf, errlen);
	if (err == 0)
		err = change_config(port, &config, errbuf, errlen);
	if (err == 0)
		ask_rss(port);
	return err;
}

static int read_rss(uint16_t port_id, const struct hauli_change *change)
{
	return rte_eth_dev_rss_hash_conf_get(port_id, change->rss);
}

int haul_port_get_rss(const struct haul_port *port, uint64_t *functions, uint8_t *key,
	uint8_t *key_len, char *errbuf, size_t errlen)
{
	uint8_t own[HAUL_RSS_KEY_MAX] = {0};
	struct rte_eth_rss_conf rss = {.rss_key = key ? key : own, .rss_key_len = HAUL_RSS_KEY_MAX};
	const struct hauli_change change = {"RSS", read_rss, .rss = &rss};
	struct rte_eth_dev_info info;
	int err;

	HAUL_MISUSE_IF(!port, HAULI_NO_PORT);
	err = hauli_port_apply((struct haul_port *)(uintptr_t)port, &change, errbuf, errlen);
	if (err < 0 && err != -ENOTSUP)
		return err;
	if (rte_eth_dev_info_get(port->vdevs[0].port_id, &info) < 0)
		return err < 0 ? err : -EIO;
	/* Some PMDs have RSS and cannot read it back. */
	if (err < 0 && info.flow_type_rss_offloads == 0)
		return err;
	if (err < 0)
		rss = (struct rte_eth_rss_conf){.rss_hf = hauli_ethdev_rss(port, &info)};
	*functions = rss.rss_hf;
	if (!rss.rss_key && key)
		memcpy(key, port->config.rss_key, port->config.rss_key_len);
	if (key_len)
		*key_len = rss.rss_key && info.hash_key_size
			? RTE_MIN(info.hash_key_size, HAUL_RSS_KEY_MAX)
			: port->config.rss_key_len;
	return 0;
}
