/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of CPUs as the kernel writes them. */
#ifndef HAULI_TOPO_CPUFILE_H
#define HAULI_TOPO_CPUFILE_H

#include <hwloc.h>
#include <stdbool.h>

/* Reads a file of /sys that holds "0-3,8" or nothing. False, and an empty set, when it is not there
 * or holds something else. */
bool hauli_cpufile_read(const char *path, hwloc_bitmap_t set);

#endif
