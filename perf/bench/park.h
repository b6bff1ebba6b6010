/* SPDX-License-Identifier: BSD-3-Clause */
/* Two coroutines that wake each other: haul's side of the benchmarks of park and unpark. */
#ifndef PERF_PARK_H
#define PERF_PARK_H

#include <stdint.h>

/* As in perf_side. The case's param is PERF_PARK(number of carriers, enum perf_idle); the first
 * coroutine, which measures the time, is at home on carrier 0, the second one on the last
 * carrier. */
#define PERF_PARK(carriers, idle) ((carriers) + 16 * (idle))
int perf_park_setup(uint64_t param);
uint64_t perf_park_run(uint64_t n);
uint64_t perf_park_run_across(uint64_t n); /* by batches */
uint64_t perf_park_run_limited(uint64_t n); /* with deadlines, which do not pass */
void perf_park_teardown(void);

#endif
