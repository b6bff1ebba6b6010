/* SPDX-License-Identifier: BSD-3-Clause */
/* EAL for benchmarks that receive packets. The harness's thread is its main lcore. */
#ifndef PERF_EAL_H
#define PERF_EAL_H

#include <haul/topo.h>

#define PERF_EAL_MBUFS 8192 /* memory for this number */

/* Prints why if err is an error; returns err. */
int perf_say(int err, const char *why);

/* Starts EAL, for good, unless it runs: one carrier on each of the case's first CPUs, this number
 * of them. Returns their plan, or NULL after a line. */
struct haul_plan *perf_eal(unsigned carriers);

#endif
