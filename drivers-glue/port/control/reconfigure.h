/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HAULI_PORT_CONTROL_RECONFIGURE_H
#define HAULI_PORT_CONTROL_RECONFIGURE_H

#include "port/kind.h"

/* Stops a port that no poller uses, configures it anew, and starts it again. If it fails the caller
 * may restore the old configuration by another call. 0 or -errno with a line. */
int hauli_port_reconfigure(struct haul_port *port, char *errbuf, size_t errlen);

#endif
