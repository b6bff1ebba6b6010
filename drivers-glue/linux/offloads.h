/* SPDX-License-Identifier: BSD-3-Clause */
/* Offloads of a network interface: which ones break what a port receives. Any thread. */
#ifndef HAULI_LINUX_OFFLOADS_H
#define HAULI_LINUX_OFFLOADS_H

#include <stddef.h>

/* What makes packets other than they are on a wire. */
enum hauli_offload {
	HAULI_OFFLOAD_SENDING = 1, /* tx, tso, gso: unfinished checksums, oversized packets */
	HAULI_OFFLOAD_HARDWARE = 2, /* lro, rx-gro-hw: packets merged by the NIC */
	HAULI_OFFLOAD_RECEIVING = 6, /* these, and gro: merged by anybody */
};

/* Writes those of which that are on, as ethtool -K takes them: "tx off tso off"; "" if none is.
 * Those that cannot be changed are left out: the other has their names. */
void hauli_iface_offloads(const char *name, unsigned which, char *list, size_t size);
void hauli_iface_fixed_offloads(const char *name, unsigned which, char *list, size_t size);

#endif
