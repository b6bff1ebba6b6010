/* SPDX-License-Identifier: BSD-3-Clause */
/* The CPUs that this process may use. */
#ifndef HAULI_TOPO_USABLE_H
#define HAULI_TOPO_USABLE_H

#include <hwloc.h>
#include <stdbool.h>

/*
 * Adds the CPUs that at least one thread of the process may run on. The kernel applies the cgroup's
 * cpuset to each thread's mask; a thread that has pinned itself takes no CPU from the others. Any
 * thread. 0 or -errno.
 */
int hauli_usable_get(hwloc_bitmap_t set);

/* Sets the isolated CPUs (isolcpus): no thread has them in its mask until it is bound to one. An
 * empty set if the kernel does not tell. */
void hauli_usable_isolated(hwloc_bitmap_t set);

/* True if threads can be bound: some containers refuse the call. Changes nothing. */
bool hauli_usable_binding(void);

/* Lets the calling thread run on the CPUs of set. 0 or -errno. */
int hauli_usable_bind(hwloc_const_bitmap_t set);

#endif
