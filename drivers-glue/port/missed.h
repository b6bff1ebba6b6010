/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets that the kernel dropped in front of a port, and that are not in the PMD's counters. */
#ifndef HAULI_PORT_MISSED_H
#define HAULI_PORT_MISSED_H

#include "port/kind.h"

/* Counts from now on. 0 or -ENOMEM. */
int hauli_missed_begin(struct haul_port *port);
void hauli_missed_end(struct haul_port *port);

/* Counts from now on again. */
void hauli_missed_count(struct haul_port *port);

/* The device was opened again, and its counts may begin anew: adds to those until now. */
void hauli_missed_resume(struct haul_port *port);

/* Their number since the last of the two. It never falls, also when the interface goes. Any
 * thread. */
uint64_t hauli_missed(const struct haul_port *port);

#endif
