/* SPDX-License-Identifier: BSD-3-Clause */
/* The descriptor of a queue that signals packets. */
#ifndef HAULI_PORT_WAIT_FD_H
#define HAULI_PORT_WAIT_FD_H

#include "port/kind.h"

/* The descriptor to wait on for queue q of a started port, by its kind's wait_on; -1: none. */
int hauli_port_wait_fd(const struct haul_port *port, unsigned q);

/* True if each queue of a started port can be waited on. */
bool hauli_port_is_waitable(const struct haul_port *port);

#endif
