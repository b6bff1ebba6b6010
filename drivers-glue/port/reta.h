/* SPDX-License-Identifier: BSD-3-Clause */
/* The redirection table of a port's device: a hash of a packet's flow picks an entry, which names
 * the queue that gets the packet. */
#ifndef HAULI_PORT_RETA_H
#define HAULI_PORT_RETA_H

#include "port/kind.h"

/* The number of entries; 0, with the reason in one line: the device has no table, or does not use
 * it. */
unsigned hauli_reta_size(const struct haul_port *port, char *errbuf, size_t errlen);

/* Copies the queues that n entries name; n is the size of the table. 0 or -errno with a line. */
int hauli_reta_read(
	const struct haul_port *port, uint16_t *queues, unsigned n, char *errbuf, size_t errlen);

/* Lets an entry of n name another queue. 0 or -errno with a line. */
int hauli_reta_set(struct haul_port *port, unsigned entry, unsigned queue, unsigned n, char *errbuf,
	size_t errlen);

#endif
