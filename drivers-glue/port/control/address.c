/* SPDX-License-Identifier: BSD-3-Clause */
/* MAC addresses whose frames a port's device passes. */
#include <errno.h>
#include <stdio.h>

#include "base/assert.h"
#include "port/apply.h"

static int set_mac(uint16_t port_id, const struct hauli_change *change)
{
	/* Some ethdev functions take a pointer to what they do not change. */
	return rte_eth_dev_default_mac_addr_set(
		port_id, (struct rte_ether_addr *)(uintptr_t)change->macs);
}

static int refuse_mac(const struct haul_port *port, char *errbuf, size_t errlen)
{
	return hauli_spec_fail(
		&port->spec, -EINVAL, errbuf, errlen, "this is no MAC address of one host");
}

int haul_port_set_mac(
	struct haul_port *port, const struct rte_ether_addr *mac, char *errbuf, size_t errlen)
{
	const struct hauli_change change = {"MAC address that can be set", set_mac, .macs = mac};
	int err;

	HAUL_MISUSE_IF(!port || !mac, "the port or the address is NULL");
	if (!rte_is_valid_assigned_ether_addr(mac))
		return refuse_mac(port, errbuf, errlen);
	err = hauli_port_apply(port, &change, errbuf, errlen);
	if (err == 0)
		port->mac = *mac;
	return err;
}

static int change_mac(uint16_t port_id, const struct hauli_change *change)
{
	struct rte_ether_addr *mac = (struct rte_ether_addr *)(uintptr_t)change->macs;

	return change->on ? rte_eth_dev_mac_addr_add(port_id, mac, 0)
			  : rte_eth_dev_mac_addr_remove(port_id, mac);
}

int haul_port_change_mac(struct haul_port *port, const struct rte_ether_addr *mac, bool on,
	char *errbuf, size_t errlen)
{
	const struct hauli_change change = {
		"further MAC addresses", change_mac, .on = on, .macs = mac};

	HAUL_MISUSE_IF(!port || !mac, "the port or the address is NULL");
	if (!rte_is_valid_assigned_ether_addr(mac))
		return refuse_mac(port, errbuf, errlen);
	return hauli_port_apply(port, &change, errbuf, errlen);
}

static int set_groups(uint16_t port_id, const struct hauli_change *change)
{
	return rte_eth_dev_set_mc_addr_list(
		port_id, (struct rte_ether_addr *)(uintptr_t)change->macs, change->number);
}

int haul_port_set_groups(struct haul_port *port, const struct rte_ether_addr *groups, uint16_t n,
	char *errbuf, size_t errlen)
{
	const struct hauli_change change = {
		"filter of groups", set_groups, .number = n, .macs = groups};

	HAUL_MISUSE_IF(!port || (n > 0 && !groups), "the port or the list is NULL");
	for (uint16_t i = 0; i < n; i++)
		if (!rte_is_multicast_ether_addr(&groups[i]))
			return hauli_spec_fail(&port->spec, -EINVAL, errbuf, errlen,
				"address %u of the list is no group's", i);
	return hauli_port_apply(port, &change, errbuf, errlen);
}
