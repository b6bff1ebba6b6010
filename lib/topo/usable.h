/* SPDX-License-Identifier: BSD-3-Clause */
/* The CPUs that this process may use. */
#ifndef HAULI_TOPO_USABLE_H
#define HAULI_TOPO_USABLE_H

#include <hwloc.h>
#include <stdbool.h>

/*
 * The CPUs that any thread of the process may run on. The kernel keeps the cgroup's cpuset in
 * each thread's mask, and a thread that has pinned itself takes nothing away from the others.
 * Any thread. 0 or -errno.
 */
int hauli_usable_get(hwloc_bitmap_t set);

/* The CPUs that the kernel was told to keep from its scheduler (isolcpus): no thread has them in
 * its mask until it is bound to one. None where the kernel does not say. */
void hauli_usable_isolated(hwloc_bitmap_t set);

/* Whether threads may be bound at all: some containers refuse the call. Changes nothing. */
bool hauli_usable_binding(void);

/* Lets the calling thread run on the CPUs of set. 0 or -errno. */
int hauli_usable_bind(hwloc_const_bitmap_t set);

#endif
