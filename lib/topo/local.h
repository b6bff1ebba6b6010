/* SPDX-License-Identifier: BSD-3-Clause */
/* Which CPUs of this machine are close to a NIC; for those who know nothing of hwloc. */
#ifndef HAULI_TOPO_LOCAL_H
#define HAULI_TOPO_LOCAL_H

#include <stdbool.h>

/* local[i], for i < n: whether OS CPU i is close to nic, an interface name or a PCI address. False
 * when there is no such NIC, or nothing is known of where it is. */
bool hauli_local_cpus(const char *nic, bool *local, unsigned n);

#endif
