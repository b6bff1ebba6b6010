/* SPDX-License-Identifier: BSD-3-Clause */
/* Which part of the machine a NIC is attached to. */
#ifndef HAULI_TOPO_NEAR_H
#define HAULI_TOPO_NEAR_H

#include <hwloc.h>
#include <stdbool.h>

/*
 * *place gets the smallest part of the machine that is close to nic, an interface name or a PCI
 * address; NULL where nothing is known (veth, TAP and the like have no device). here: the
 * topology is that of this machine. 0, or -EINVAL with one line in errbuf when there is no
 * such NIC.
 */
int hauli_near_find(hwloc_obj_t *place, hwloc_topology_t topo, bool here, const char *nic,
	char *errbuf, size_t errlen);

#endif
