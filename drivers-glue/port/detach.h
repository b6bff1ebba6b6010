/* SPDX-License-Identifier: BSD-3-Clause */
/* A port whose device is closed before haul_port_close(), and the figures that it leaves. */
#ifndef HAULI_PORT_DETACH_H
#define HAULI_PORT_DETACH_H

#include "port/kind.h"

/* Closes the device, which may be half open. */
void hauli_port_close_device(struct haul_port *port);

/* Closes the device, which may be gone. No thread uses the port meanwhile, nor polls it later. */
void hauli_port_detach(struct haul_port *port);

/* What the PMDs have counted, without hauli_missed() and the base of haul_port_reset_stats(). Of a
 * detached port: until then. 0, or -errno of the first device that failed, with what the
 * others have counted. */
int hauli_port_stats(const struct haul_port *port, struct rte_eth_stats *stats);

#endif
