/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of CPUs in the kernel's format. */
#ifndef HAULI_TOPO_CPUFILE_H
#define HAULI_TOPO_CPUFILE_H

#include <hwloc.h>
#include <stdbool.h>

/* Reads a file in /sys that contains a list such as "0-3,8", or nothing. False, with an empty set:
 * there is no such file, or it contains something else. */
bool hauli_cpufile_read(const char *path, hwloc_bitmap_t set);

#endif
