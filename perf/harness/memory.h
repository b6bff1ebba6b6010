/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory of the process. */
#ifndef PERF_MEMORY_H
#define PERF_MEMORY_H

#include <stdint.h>

/* A figure of /proc/self/status in bytes, such as "VmRSS:"; 0 if it is not there. */
double perf_memory(const char *key);

/* Around n things of which each takes memory: adds bytes_each and page_table_bytes_each, by what
 * has become resident since perf_memory_begin(). */
void perf_memory_begin(void);
void perf_memory_end(uint64_t n);

#endif
