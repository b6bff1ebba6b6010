/* SPDX-License-Identifier: BSD-3-Clause */
/* What other processes have used so far, all their threads together. */
#ifndef PERF_HTTP_USAGE_H
#define PERF_HTTP_USAGE_H

#include <stdint.h>

struct usage {
	uint64_t cpu_ns, switches; /* switches of both kinds */
};

/* Adds what the process has used. Threads that have ended do not count. Returns 0 or -errno. */
int usage_add(struct usage *u, int pid);

#endif
