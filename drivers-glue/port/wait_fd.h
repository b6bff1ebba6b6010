/* SPDX-License-Identifier: BSD-3-Clause */
/* The descriptor of a queue that says when packets have come. */
#ifndef HAULI_PORT_WAIT_FD_H
#define HAULI_PORT_WAIT_FD_H

#include "port/kind.h"

/* The descriptor to wait on for queue q of a started port, as its kind's wait_on says; -1: none. */
int hauli_port_wait_fd(const struct haul_port *port, unsigned q);

/* True if each queue of a started port can be waited on. */
bool hauli_port_is_waitable(const struct haul_port *port);

#endif
