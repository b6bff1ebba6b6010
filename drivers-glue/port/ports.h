/* SPDX-License-Identifier: BSD-3-Clause */
/* The open ports. For threads that open and close ports, one at a time. */
#ifndef HAULI_PORT_PORTS_H
#define HAULI_PORT_PORTS_H

struct haul_port;

/* The first of them; haul_port.next links the others. NULL: none. */
struct haul_port *hauli_ports_open(void);
/* For loops over other ports that have devices: the first one from p on that is not port; NULL:
 * none. */
struct haul_port *hauli_ports_other(const struct haul_port *port, struct haul_port *p);

void hauli_ports_add(struct haul_port *port);
/* Removes the port if it is in the list. */
void hauli_ports_remove(struct haul_port *port);

#endif
