/* SPDX-License-Identifier: BSD-3-Clause */
/* The CPUs of this machine that are close to a NIC, for callers that do not know hwloc. */
#ifndef HAULI_TOPO_LOCAL_H
#define HAULI_TOPO_LOCAL_H

#include <stdbool.h>

/* Sets local[i] for each OS CPU i < n: true if it is close to nic, an interface name or a PCI
 * address. Returns false, and sets all of them to false, when there is no such NIC, or it is not
 * known to which CPUs it is close. */
bool hauli_local_cpus(const char *nic, bool *local, unsigned n);

#endif
