/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The packet buffers that DPDK's AF_XDP PMD loses. It gives buffers to the kernel, in rings shared
 * by both, and at its close it unmaps the rings with thousands of buffers in them. The rings'
 * layout is the kernel's ABI (include/uapi/linux/if_xdp.h), and this process has them mapped; so
 * haul reads them before the close, and returns the buffers to the pool after it.
 *
 * A buffer that the PMD took is in one of these places:
 *	fill ring: given to the kernel, to receive into
 *	in the kernel: taken from the fill ring, not yet in the receive ring
 *	receive ring: a packet that the PMD has not taken
 *	transmit ring: a packet that the kernel has not sent
 *	completion ring: sent, and not yet freed by the PMD
 * The kernel takes from the fill ring in order, fills the receive ring in order, and numbers both;
 * so the difference of the numbers is the number of buffers in the kernel: the last ones it took.
 */
#ifndef HAULI_LINUX_XDP_RINGS_H
#define HAULI_LINUX_XDP_RINGS_H

#include <rte_mempool.h>

struct hauli_xdp_left; /* buffers in the rings of a socket */

/*
 * Reads the rings of a socket, whose packet rings have ring_size entries. No thread polls it any
 * more; the kernel may continue to receive. NULL if its rings differ from the expected ones, or
 * there is no memory.
 */
struct hauli_xdp_left *hauli_xdp_rings_read(int fd, uint32_t ring_size, struct rte_mempool *pool);

/* True if the kernel has packets that it has not sent. */
bool hauli_xdp_rings_sending(int fd, uint32_t ring_size);

/* Call after the PMD has closed the socket, or believes so: returns the buffers to the pool. left
 * may be NULL. */
void hauli_xdp_left_free(struct hauli_xdp_left *left);

#endif
