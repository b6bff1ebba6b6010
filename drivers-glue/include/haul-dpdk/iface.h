/* SPDX-License-Identifier: BSD-3-Clause */
/* Properties of a kernel network interface, for choosing and checking ports. */
#ifndef HAUL_DPDK_IFACE_H
#define HAUL_DPDK_IFACE_H

#include <haul/base.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HAUL_IFACE_NAME 16 /* bytes, with the terminating NUL */

struct haul_iface {
	char driver[32]; /* name of its driver; "" if unknown */
	bool up; /* administratively (ip link set IFACE up) */
	bool link; /* has a carrier signal */
	bool xdp; /* an XDP program is attached */
	bool veth;
	char peer[HAUL_IFACE_NAME]; /* the other end of a veth; "" if in another namespace */
	unsigned mtu;
	unsigned queues, queues_most; /* receive queues now, and at most; 0: unknown */
	bool combined; /* ethtool -L sets them as combined; else as rx and tx */
	/* Offloads to turn off for AF_XDP, as arguments of ethtool -K: "tx off tso off" */
	char offloads[64];
	char fixed_offloads[64]; /* those of them that cannot be turned off: "rx-gro-hw" */
};

/* Fills *iface for the interface name. Any thread, also without EAL. Does not suspend. Returns 0,
 * or -ENODEV. */
HAUL_API int haul_iface_get(struct haul_iface *iface, const char *name);

#ifdef __cplusplus
}
#endif

#endif
