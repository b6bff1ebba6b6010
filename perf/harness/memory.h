/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory of the process. */
#ifndef PERF_MEMORY_H
#define PERF_MEMORY_H

/* A figure of /proc/self/status in bytes, such as "VmRSS:"; 0 if it is not there. */
double perf_memory(const char *key);

#endif
