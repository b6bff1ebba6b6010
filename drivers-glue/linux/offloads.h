/* SPDX-License-Identifier: BSD-3-Clause */
/* Offloads of a network interface that break the packets received by a port. Any thread. */
#ifndef HAULI_LINUX_OFFLOADS_H
#define HAULI_LINUX_OFFLOADS_H

#include <stddef.h>

/* Offloads that make packets differ from those on a wire. */
enum hauli_offload {
	HAULI_OFFLOAD_SENDING = 1, /* tx, tso, gso: unfinished checksums, oversized packets */
	HAULI_OFFLOAD_HARDWARE = 2, /* lro, rx-gro-hw: packets merged by the NIC */
	HAULI_OFFLOAD_RECEIVING = 6, /* these, and gro: packets merged by the NIC or the kernel */
};

/* which: a set of enum hauli_offload. The first function writes those that are on and can be turned
 * off, as ethtool -K takes them: "tx off tso off"; the second the names of those that are on and
 * fixed. "": none. */
void hauli_iface_offloads(const char *name, unsigned which, char *list, size_t size);
void hauli_iface_fixed_offloads(const char *name, unsigned which, char *list, size_t size);

#endif
