/* SPDX-License-Identifier: BSD-3-Clause */
/* What the kernel counts for an XDP socket. */
#ifndef HAULI_LINUX_XDP_STATS_H
#define HAULI_LINUX_XDP_STATS_H

#include <stdint.h>

/*
 * The number of packets that the kernel dropped because the socket's receive ring was full. 0 for
 * other descriptors. The PMD's count (imissed) has the packets for which the kernel had no buffer,
 * or only a shorter one, and not these.
 */
uint64_t hauli_xdp_stats_ring_full(int fd);

#endif
