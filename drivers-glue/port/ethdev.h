/* SPDX-License-Identifier: BSD-3-Clause */
/* The common part of a port: its ethdevs are attached, configured, started and detached. */
#ifndef HAULI_PORT_ETHDEV_H
#define HAULI_PORT_ETHDEV_H

#include "port/kind.h"

/* 0; -errno with a line in errbuf, or without a line if DPDK's log has the reason. */
int hauli_ethdevs_attach(struct haul_port *port, char *errbuf, size_t errlen);
int hauli_ethdevs_configure(struct haul_port *port, char *errbuf, size_t errlen);
int hauli_ethdevs_start(struct haul_port *port, char *errbuf, size_t errlen);

/* Configures the stopped ethdevs again, as port->config says. The same. */
int hauli_ethdevs_reconfigure(struct haul_port *port, char *errbuf, size_t errlen);
/* Stops those ethdevs of the port that are started. */
void hauli_ethdevs_stop(struct haul_port *port);

/* 0, also if the PMD has no function for it, or -errno. */
int hauli_ethdev_set_mtu(uint16_t port_id, uint16_t mtu);

/* The RSS functions that the port's devices are configured with. */
uint64_t hauli_ethdev_rss(const struct haul_port *port, const struct rte_eth_dev_info *info);

/* The longest packet that the port sends, without Ethernet's headers; 0: not known. PMDs of sockets
 * do not look at the kernel's interface; its MTU counts as it was when the port was opened. */
uint16_t hauli_port_mtu(const struct haul_port *port);

/* Detaches the ethdevs, whatever their state is. */
void hauli_ethdevs_detach(struct haul_port *port);

/* The number of queues that the port's device can have. */
unsigned hauli_ethdev_queues_most(
	const struct haul_port *port, const struct rte_eth_dev_info *info);

/* The ring sizes of a queue: the requested sizes, as far as the kind allows. */
void hauli_ethdev_rings(const struct hauli_kind *kind, uint16_t *rx_ring, uint16_t *tx_ring);

/* What single queues have of their own is gone. */
void hauli_ethdevs_forget_own(struct haul_port *port);
/* Queues that were stopped run from the next start on, but for deferred ones. */
void hauli_ethdevs_run_queues(struct haul_port *port);

#endif
