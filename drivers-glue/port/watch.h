/* SPDX-License-Identifier: BSD-3-Clause */
/* Watches the interface or device behind a port. */
#ifndef HAULI_PORT_WATCH_H
#define HAULI_PORT_WATCH_H

#include "port/kind.h"

/* Remembers the interface's index, and registers for the unplugging of the device. 0 or -errno. */
int hauli_watch_begin(struct haul_port *port);
/* The device is about to be closed. The fault stays. */
void hauli_watch_detach(struct haul_port *port);
void hauli_watch_end(struct haul_port *port);

/* The device is open again: what it was lost by is no fault now. recall: it is, after all. */
void hauli_watch_forget(struct haul_port *port);
void hauli_watch_recall(struct haul_port *port);

/* The program sets the link: an interface that is down then is no fault. */
void hauli_watch_set_link(struct haul_port *port, bool up);

/* True unless the program itself has set the link down, or stopped the port. */
bool hauli_watch_is_to_be_up(const struct haul_port *port);

/* False: the interface has no link, which PMDs over sockets do not tell. */
bool hauli_watch_sees_link(const struct haul_port *port);

#endif
