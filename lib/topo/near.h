/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of the machine that a NIC is attached to. */
#ifndef HAULI_TOPO_NEAR_H
#define HAULI_TOPO_NEAR_H

#include <hwloc.h>
#include <stdbool.h>

/*
 * Sets *part to the smallest part of the machine that contains all CPUs close to nic, an interface
 * name or a PCI address; to NULL where nothing is known (veth and TAP have no device). here: topo
 * describes this machine. 0, or -EINVAL with one line in errbuf when there is no such NIC.
 */
int hauli_near_find(hwloc_obj_t *part, hwloc_topology_t topo, bool here, const char *nic,
	char *errbuf, size_t errlen);

/*
 * Sets the CPUs of this machine that are close to nic; leaves set as it is where nothing is known.
 * 0, or -EINVAL when there is no such NIC.
 */
int hauli_near_cpus(hwloc_bitmap_t set, const char *nic);

#endif
