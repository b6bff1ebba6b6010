/* SPDX-License-Identifier: BSD-3-Clause */
/* What the kernel knows of a network interface that is to be a port. */
#ifndef HAUL_DPDK_IFACE_H
#define HAUL_DPDK_IFACE_H

#include <haul/base.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HAUL_IFACE_NAME 16 /* with its end */

struct haul_iface {
	char driver[32]; /* "" if it has none, or one that does not tell its name */
	bool up; /* administratively */
	bool link; /* there is a signal on its wire */
	bool xdp; /* an XDP program is attached */
	bool veth;
	char peer[HAUL_IFACE_NAME]; /* of a veth: its other end; "" if out of sight */
	unsigned mtu;
	unsigned queues, queues_most; /* for receiving; 0: the driver does not tell */
	bool combined; /* ethtool -L calls them combined; else rx and tx */
	/* Offloads that are on and break AF_XDP, as ethtool -K takes them: "tx off tso off" */
	char offloads[64];
	char fixed_offloads[64]; /* and those that cannot be turned off: "rx-gro-hw" */
};

/* Fills iface. Any thread, without EAL; does not suspend. 0, or -ENODEV. */
HAUL_API int haul_iface_get(struct haul_iface *iface, const char *name);

#ifdef __cplusplus
}
#endif

#endif
