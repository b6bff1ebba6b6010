/* SPDX-License-Identifier: BSD-3-Clause */
/* How long a queue may be left alone. */
#ifndef HAULI_PORT_FILL_TIME_H
#define HAULI_PORT_FILL_TIME_H

#include "port/kind.h"

#define HAULI_AWAY_LEAST (10 * HAUL_US) /* what going away and coming back takes anyway */

/* Nanoseconds until a queue of the port that was empty overflows, at so many packets a second (0:
 * as the NIC's link allows); HAUL_FOREVER: not known. The port is started. */
uint64_t hauli_away_ns(const struct haul_port *port, unsigned q, uint64_t rate);

#endif
