/* SPDX-License-Identifier: BSD-3-Clause */
/* The fill time of a queue: how long it may go unpolled. */
#ifndef HAULI_PORT_FILL_TIME_H
#define HAULI_PORT_FILL_TIME_H

#include "port/kind.h"

#define HAULI_FILL_TIME_MIN (10 * HAUL_US) /* a wait and its wake-up take that long anyway */

/* Nanoseconds until an empty queue q of the port overflows, at rate packets per second (0: as many
 * as the NIC's link allows); HAUL_FOREVER: not known. The port is started. */
uint64_t hauli_fill_time(const struct haul_port *port, unsigned q, uint64_t rate);

#endif
