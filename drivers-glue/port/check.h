/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a port can have a configuration (haul-dpdk/port_config.h). 0, or -errno with a line. */
#ifndef HAULI_PORT_CHECK_H
#define HAULI_PORT_CHECK_H

#include "port/kind.h"

/* An ethdev with this info has what this configuration of the port asks for. */
int hauli_check_config(const struct haul_port *port, const struct haul_port_config *c,
	const struct rte_eth_dev_info *info, char *errbuf, size_t errlen);

/* Takes what an ethdev with this info lacks out of port->config, with a note for each. */
void hauli_check_leave_out(struct haul_port *port, const struct rte_eth_dev_info *info);
/* Its MTU, which a kind of port refuses. */
void hauli_check_leave_out_mtu(struct haul_port *port);

/* The device takes this MTU, and a packet buffer holds its frames. */
int hauli_check_mtu(const struct haul_port *port, unsigned mtu, const struct rte_eth_dev_info *info,
	char *errbuf, size_t errlen);

/* -ENODEV if the device is closed (haul_io_detach_port()). */
int hauli_check_attached(const struct haul_port *port, char *errbuf, size_t errlen);

/* -EBUSY while pollers use the port: it cannot be CHANGED now. -ENODEV as above. */
int hauli_check_unpolled(
	const struct haul_port *port, const char *changed, char *errbuf, size_t errlen);

/* Finds a queue of the port's device. 0, -EINVAL (there is none), -ENODEV (no device). */
int hauli_check_queue(const struct haul_port *port, unsigned queue, struct haul_queue *q);

#endif
