/* SPDX-License-Identifier: BSD-3-Clause */
/* The CPUs for haul's threads that are no carriers. */
#ifndef HAULI_TOPO_FREE_CPUS_H
#define HAULI_TOPO_FREE_CPUS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define HAULI_CPUS_MOST 8192 /* NR_CPUS is that at most; the kernel accepts a larger mask */

/* The format of cpu_set_t. All zero: not known, so threads keep the mask of their creator. */
struct hauli_free_cpus {
	unsigned long mask[HAULI_CPUS_MOST / (8 * sizeof(unsigned long))];
};

/*
 * Finds the CPUs that the process may use and on which no carrier is pinned. carriers: their number
 * for each CPU. If all have carriers, the result is all that the process may use; isolated CPUs
 * (isolcpus) only if there are no others. Any thread. 0, or -errno, with *cpus unchanged.
 */
int hauli_free_cpus_find(struct hauli_free_cpus *cpus, const uint16_t carriers[HAULI_CPUS_MOST]);

/* Lets a thread that is created with attr begin there. Returns 0 or -errno. */
int hauli_free_cpus_attr(const struct hauli_free_cpus *cpus, pthread_attr_t *attr);

/* Moves the calling thread there. A refusal leaves it where it is. */
void hauli_free_cpus_bind(const struct hauli_free_cpus *cpus);

#endif
