/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What DPDK's AF_XDP PMD leaves behind. It gives packet buffers to the kernel, in rings that both
 * share, and when it is closed it unmaps the rings with thousands of buffers in them: they are
 * never seen again. The rings' layout is the kernel's ABI (include/uapi/linux/if_xdp.h), and this
 * process has them mapped; so before the close they are read, and after it what was in them goes
 * back to the pool.
 *
 * A buffer that the PMD took is in one of these places:
 *	fill ring: given to the kernel, to receive into
 *	in the kernel: taken from the fill ring, not yet in the receive ring
 *	receive ring: a packet that the PMD has not taken
 *	transmit ring: a packet that the kernel has not sent
 *	completion ring: sent, and not yet looked at
 * The kernel takes from the fill ring in order and fills the receive ring in order, and numbers
 * both; so the difference of the numbers says how many it has, and they are the last that it took.
 */
#ifndef HAULI_LINUX_XDP_RINGS_H
#define HAULI_LINUX_XDP_RINGS_H

#include <rte_mempool.h>

struct hauli_xdp_left; /* buffers that are in the rings of a socket */

/*
 * Reads the rings of a socket, of which those for packets have ring_size entries. No thread polls
 * it any more; the kernel may go on receiving. NULL when its rings are not where and what they
 * should be, or there is no memory.
 */
struct hauli_xdp_left *hauli_xdp_rings_read(int fd, uint32_t ring_size, struct rte_mempool *pool);

/* Whether the kernel has packets that it has not sent. */
bool hauli_xdp_rings_sending(int fd, uint32_t ring_size);

/* The PMD has closed the socket, or believes so: gives the buffers back. left may be NULL. */
void hauli_xdp_left_free(struct hauli_xdp_left *left);

#endif
