/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/wait_fd.h"

#include <rte_ethdev.h>

int hauli_port_wait_fd(const struct haul_port *port, unsigned q)
{
	struct haul_queue id = haul_port_queue(port, q);

	switch (port->kind->wait_on) {
	case HAULI_PORT_WAIT_ON_SOCKET:
		return port->fds ? port->fds[q] : -1;
	case HAULI_PORT_WAIT_ON_DESCRIPTOR:
	case HAULI_PORT_WAIT_ON_INTERRUPT:
		return rte_eth_dev_rx_intr_ctl_q_get_fd(id.port_id, id.queue_id);
	default:
		return -1;
	}
}

static bool try_interrupt(struct haul_queue id)
{
	return rte_eth_dev_rx_intr_enable(id.port_id, id.queue_id) == 0 &&
		rte_eth_dev_rx_intr_disable(id.port_id, id.queue_id) == 0;
}

bool hauli_port_is_waitable(const struct haul_port *port)
{
	for (unsigned q = 0; q < port->queues; q++) {
		if (hauli_port_wait_fd(port, q) < 0)
			return false;
		if (port->kind->wait_on == HAULI_PORT_WAIT_ON_INTERRUPT &&
			!try_interrupt(haul_port_queue(port, q)))
			return false;
	}
	return true;
}
