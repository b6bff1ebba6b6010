/* SPDX-License-Identifier: BSD-3-Clause */
/* The fill time of a queue: the longest time without a poll. */
#ifndef HAULI_PORT_FILL_TIME_H
#define HAULI_PORT_FILL_TIME_H

#include "port/kind.h"

#define HAULI_FILL_TIME_MIN (10 * HAUL_US) /* lower bound: a wait and its wake-up take as long */

/* Nanoseconds until an empty queue q of the port overflows, at rate packets per second (0: the rate
 * of the NIC's link); HAUL_FOREVER: not known. The port is started. */
uint64_t hauli_fill_time(const struct haul_port *port, unsigned q, uint64_t rate);

/* The number of packets that queue q holds while it is not polled; 0: not known. */
unsigned hauli_queue_room(const struct haul_port *port, unsigned q);

#endif
