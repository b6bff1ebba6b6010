/* SPDX-License-Identifier: BSD-3-Clause */
/* What devices have beside queues and filters: descriptors, packet types, EEPROMs, tags. */
#include <errno.h>

#include <rte_ethdev.h>
#include <rte_version.h>

#include "base/assert.h"
#include "eal/log.h"
#include "port/apply.h"
#include "port/check.h"

int haul_port_get_descriptor(const struct haul_port *port, unsigned queue, bool rx, uint16_t offset)
{
	struct haul_queue q;
	int err;

	HAUL_MISUSE_IF(!port, HAULI_NO_PORT);
	err = hauli_check_queue(port, queue, &q);
	if (err < 0)
		return err;
	return rx ? rte_eth_rx_descriptor_status(q.port_id, q.queue_id, offset)
		  : rte_eth_tx_descriptor_status(q.port_id, q.queue_id, offset);
}

static int count_tx(struct haul_queue q)
{
#if RTE_VERSION >= RTE_VERSION_NUM(24, 3, 0, 0)
	return rte_eth_tx_queue_count(q.port_id, q.queue_id);
#else
	return -ENOTSUP;
#endif
}

int haul_port_count_descriptors(const struct haul_port *port, unsigned queue, bool rx)
{
	struct haul_queue q;
	int err;

	HAUL_MISUSE_IF(!port, HAULI_NO_PORT);
	err = hauli_check_queue(port, queue, &q);
	if (err < 0)
		return err;
	return rx ? rte_eth_rx_queue_count(q.port_id, q.queue_id) : count_tx(q);
}

int haul_port_get_ptypes(const struct haul_port *port, uint32_t mask, uint32_t *ptypes, unsigned n)
{
	HAUL_MISUSE_IF(!port || (!ptypes && n > 0), "the port or the array of types is NULL");
	if (port->detached)
		return -ENODEV;
	return rte_eth_dev_get_supported_ptypes(port->vdevs[0].port_id, mask, ptypes, (int)n);
}

#define PTYPES_MOST 256

static int set_ptypes(uint16_t port_id, const struct hauli_change *change)
{
	uint32_t set[PTYPES_MOST] = {RTE_PTYPE_UNKNOWN};
	int err = rte_eth_dev_set_ptypes(port_id, change->bits, set, PTYPES_MOST);

	/* A PMD that cannot choose succeeds, and has set none. */
	return err == 0 && change->bits && set[0] == RTE_PTYPE_UNKNOWN ? -ENOTSUP : err;
}

int haul_port_set_ptypes(struct haul_port *port, uint32_t mask, char *errbuf, size_t errlen)
{
	const struct hauli_change change = {"choice of packet types", set_ptypes, .bits = mask};

	HAUL_MISUSE_IF(!port, HAULI_NO_PORT);
	return hauli_port_apply(port, &change, errbuf, errlen);
}

static int read_eeprom(uint16_t port_id, void *data, size_t size)
{
	struct rte_dev_eeprom_info info = {.data = data};
	int length = rte_eth_dev_get_eeprom_length(port_id), err;

	if (length <= 0 || (size_t)length > size)
		return length;
	info.length = (uint32_t)length;
	err = rte_eth_dev_get_eeprom(port_id, &info);
	return err < 0 ? err : length;
}

int haul_port_read_eeprom(const struct haul_port *port, void *data, size_t size)
{
	char line[HAULI_LOG_LINE];
	int n;

	HAUL_MISUSE_IF(!port || (!data && size > 0), "the port or the buffer is NULL");
	if (port->detached)
		return -ENODEV;
	hauli_log_hold();
	n = read_eeprom(port->vdevs[0].port_id, data, size);
	hauli_log_release(line);
	return n;
}

static int set_pvid(uint16_t port_id, const struct hauli_change *change)
{
	return rte_eth_dev_set_vlan_pvid(port_id, change->number, change->on);
}

int haul_port_set_pvid(struct haul_port *port, uint16_t vlan, bool on, char *errbuf, size_t errlen)
{
	const struct hauli_change change = {
		"VLAN tag of the port", set_pvid, .on = on, .number = vlan};

	HAUL_MISUSE_IF(!port, HAULI_NO_PORT);
	return hauli_port_apply(port, &change, errbuf, errlen);
}

static int set_vlan_type(uint16_t port_id, const struct hauli_change *change)
{
	return rte_eth_dev_set_vlan_ether_type(port_id,
		change->on ? RTE_ETH_VLAN_TYPE_OUTER : RTE_ETH_VLAN_TYPE_INNER, change->number);
}

int haul_port_set_vlan_type(
	struct haul_port *port, bool outer, uint16_t type, char *errbuf, size_t errlen)
{
	const struct hauli_change change = {
		"choice of the types of tags", set_vlan_type, .on = outer, .number = type};

	HAUL_MISUSE_IF(!port, HAULI_NO_PORT);
	return hauli_port_apply(port, &change, errbuf, errlen);
}
