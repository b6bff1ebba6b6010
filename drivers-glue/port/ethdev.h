/* SPDX-License-Identifier: BSD-3-Clause */
/* The common part of a port: its ethdevs attached, configured, started and taken away again. */
#ifndef HAULI_PORT_ETHDEV_H
#define HAULI_PORT_ETHDEV_H

#include "port/kind.h"

/* Each: 0, or -errno with a line in errbuf; or with none, and DPDK's log tells why. */
int hauli_ethdevs_attach(struct haul_port *port, char *errbuf, size_t errlen);
int hauli_ethdevs_configure(struct haul_port *port, char *errbuf, size_t errlen);
int hauli_ethdevs_start(struct haul_port *port, char *errbuf, size_t errlen);

/* Of whatever state. */
void hauli_ethdevs_detach(struct haul_port *port);

/* The ring sizes that a queue gets: the asked ones as far as possible. */
void hauli_ethdev_rings(const struct hauli_kind *kind, uint16_t *rx_ring, uint16_t *tx_ring);

#endif
