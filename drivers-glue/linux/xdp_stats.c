/* SPDX-License-Identifier: BSD-3-Clause */
#include "linux/xdp_stats.h"

#include <linux/if_xdp.h>
#include <stddef.h>
#include <sys/socket.h>

#ifndef SOL_XDP
#define SOL_XDP 283
#endif

/*
 * rx_fill_ring_empty_descs counts no packets: where the kernel copies, it counts each packet in
 * rx_dropped, too; where the NIC's driver takes buffers, it counts its attempts.
 */
uint64_t hauli_xdp_stats_ring_full(int fd)
{
	struct xdp_statistics st;
	socklen_t len = sizeof(st);

	/* Before Linux 5.9 the answer ends behind rx_dropped, which has both. */
	if (getsockopt(fd, SOL_XDP, XDP_STATISTICS, &st, &len) < 0 ||
		len < offsetof(struct xdp_statistics, rx_ring_full) + sizeof(st.rx_ring_full))
		return 0;
	return st.rx_ring_full;
}
