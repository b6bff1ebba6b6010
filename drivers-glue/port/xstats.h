/* SPDX-License-Identifier: BSD-3-Clause */
/* All counters of a port's PMDs, by name, over all the devices that it has had. */
#ifndef HAULI_PORT_XSTATS_H
#define HAULI_PORT_XSTATS_H

#include "port/kind.h"

/* Those of the device, which go on from earlier devices' of the same name, in new memory. Returns
 * their number; -ENODEV: there is no device; or another -errno. */
int hauli_xstats_read(const struct haul_port *port, struct haul_port_xstat **stats);

/* The same, and those of earlier devices that this one does not have; also without a device. */
int hauli_xstats_read_all(const struct haul_port *port, struct haul_port_xstat **stats);

/* The device is about to be closed: remembers them. If it does not tell, those of earlier devices
 * stay. */
void hauli_xstats_keep(struct haul_port *port);

/* The device was configured anew, and had these n before, of hauli_xstats_read_all(): what it has
 * forgotten stays in the sums. */
void hauli_xstats_go_on(struct haul_port *port, const struct haul_port_xstat *before, int n);

/* The bytes of a queue, received and sent, as far as PMDs have counted them by queue; also of a
 * port without a device. */
struct hauli_queue_bytes {
	uint64_t rx, tx;
};
struct hauli_queue_bytes hauli_xstats_queue_bytes(const struct haul_port *port, unsigned queue);

#endif
