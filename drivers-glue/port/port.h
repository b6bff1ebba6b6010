/* SPDX-License-Identifier: BSD-3-Clause */
/* A port whose device is opened again. */
#ifndef HAULI_PORT_PORT_H
#define HAULI_PORT_PORT_H

#include "port/kind.h"

/*
 * Opens and starts the device of a detached port again, by the same spec and configuration. 0; or
 * -errno with a line, and the port has no device, as before: also if it has another number of
 * queues now. No other thread uses the port meanwhile but for its statistics, which go on.
 */
int hauli_port_reopen(struct haul_port *port, char *errbuf, size_t errlen);

/* The spec that haul_port_set_spec() has given stays, or is taken back. */
void hauli_port_keep_spec(struct haul_port *port);
void hauli_port_drop_spec(struct haul_port *port);

#endif
