/* SPDX-License-Identifier: BSD-3-Clause */
/* What the cgroups of this process allow (haul_cgroup_cpus(), haul_cgroup_memory()), of version 1
 * and 2. */
#ifndef HAULI_BASE_CGROUP_H
#define HAULI_BASE_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The same with the cgroups mounted at root, and those of the process listed in the file own. */
double hauli_cgroup_cpus_in(const char *root, const char *own);
uint64_t hauli_cgroup_memory_in(const char *root, const char *own);

/*
 * Memory that a pool takes from the kernel bit by bit. Where a cgroup limits it, a page that is
 * touched beyond the limit ends the process, and no call fails before; so pools ask here. Not
 * thread-safe. Zero is a valid start.
 */
struct hauli_allowance {
	bool limited;
	bool refused; /* the last call */
	uint64_t granted; /* bytes that may be taken before the limit is read again */
	uint64_t look_at; /* ms: when it is read again in any case */
};

/* Memory that is left by pools: by those of many handlers, and by what is needed to end them. */
#define HAULI_KEPT_MOST ((size_t)8 << 20)
#define HAULI_KEPT_SOME ((size_t)4 << 20)

/* True: a pool may touch that many bytes more, and kept bytes are still left then. */
bool hauli_allowance_take(struct hauli_allowance *allowance, size_t bytes, size_t kept);

/* The same at a time in ms, of what left() tells. */
bool hauli_allowance_take_at(struct hauli_allowance *allowance, size_t bytes, size_t kept,
	uint64_t now, uint64_t (*left)(void));

#endif
