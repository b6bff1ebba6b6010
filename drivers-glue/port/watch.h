/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether what a port stands on is still there. */
#ifndef HAULI_PORT_WATCH_H
#define HAULI_PORT_WATCH_H

#include "port/kind.h"

/* Remembers the interface as it is now, and listens for a device that is unplugged. 0 or -errno. */
int hauli_watch_begin(struct haul_port *port);
void hauli_watch_end(struct haul_port *port);

#endif
