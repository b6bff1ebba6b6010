/* SPDX-License-Identifier: BSD-3-Clause */
/* A port's facts, known once it is open. */
#include <string.h>

#include "base/assert.h"
#include "port/kind.h"
#include "port/kinds/table.h"

const char *haul_port_spec(const struct haul_port *port)
{
	HAUL_MISUSE_IF(!port, HAULI_NO_PORT);
	return ((const struct hauli_port_text *)hauli_ptr_published_get(&port->text))->text;
}

bool haul_port_is_empty(const struct haul_port *port)
{
	HAUL_MISUSE_IF(!port, HAULI_NO_PORT);
	return port->spec.kind == &hauli_kind_empty;
}

unsigned haul_port_queues(const struct haul_port *port)
{
	HAUL_MISUSE_IF(!port, HAULI_NO_PORT);
	return port->queues;
}

struct haul_queue haul_port_queue(const struct haul_port *port, unsigned q)
{
	HAUL_MISUSE_IF(!port, HAULI_NO_PORT);
	HAUL_MISUSE_IF(q >= port->queues, "%s has no queue %u: it has %u", port->spec.text, q,
		port->queues);
	if (port->nb_vdevs == 0)
		return (struct haul_queue){.port_id = RTE_MAX_ETHPORTS};
	if (port->nb_vdevs > 1)
		return (struct haul_queue){.port_id = port->vdevs[q].port_id, .queue_id = 0};
	return (struct haul_queue){.port_id = port->vdevs[0].port_id, .queue_id = (uint16_t)q};
}

struct rte_ether_addr haul_port_mac(const struct haul_port *port)
{
	HAUL_MISUSE_IF(!port, HAULI_NO_PORT);
	return port->mac;
}

const char *haul_port_nic(const struct haul_port *port)
{
	bool pci;

	HAUL_MISUSE_IF(!port, HAULI_NO_PORT);
	pci = port->nb_vdevs > 0 && strcmp(port->vdevs[0].bus, "pci") == 0;
	return pci ? port->vdevs[0].name : port->iface;
}

const char *haul_port_notice(const struct haul_port *port)
{
	HAUL_MISUSE_IF(!port, HAULI_NO_PORT);
	return port->notice;
}

const char *haul_port_wait_source(const struct haul_port *port)
{
	HAUL_MISUSE_IF(!port, HAULI_NO_PORT);
	return port->waitable ? port->kind->wait_name : "";
}
