/* SPDX-License-Identifier: BSD-3-Clause */
/* Views of what a port receives and sends (haul_port_add_callback()), over all its devices. */
#ifndef HAULI_PORT_CALLBACKS_H
#define HAULI_PORT_CALLBACKS_H

#include "port/kind.h"

/* The port has a device; it is about to be closed. No poller uses it. */
void hauli_callbacks_connect(struct haul_port *port);
void hauli_callbacks_disconnect(struct haul_port *port);

/* The port is closed, and whoever has a callback may remove it later. */
void hauli_callbacks_forget(struct haul_port *port);

#endif
