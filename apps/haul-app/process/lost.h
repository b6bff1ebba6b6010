/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports that get a fault (haul_port_fault()) while the program runs: the others go on, and with
 * --lost-port return those are taken again whose device is back. */
#ifndef HAULI_APP_PROCESS_LOST_H
#define HAULI_APP_PROCESS_LOST_H

#include "process/state.h"

#define HAULI_LOST_PORT_NAMES "go-on|end|return" /* enum hauli_lost_port */
enum hauli_lost_port { HAULI_LOST_PORT_GO_ON, HAULI_LOST_PORT_END, HAULI_LOST_PORT_RETURN };

/*
 * Detaches ports that have a fault, and tries to attach those that had, each with a line. False:
 * the program is to end, for the reason in *why: no port would be left, or --lost-port says so.
 * Main thread, once a second.
 */
bool hauli_app_lost_look(struct hauli_app *a, const char **why);

/* True if the next look finds a port to detach. */
bool hauli_app_lost_any(const struct hauli_app *a);

#endif
