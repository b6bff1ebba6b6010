/* SPDX-License-Identifier: BSD-3-Clause */
/* Two coroutines that wake each other: haul's side of the benchmarks of park and unpark. */
#ifndef PERF_PARK_H
#define PERF_PARK_H

#include <stdint.h>

/* As in perf_side. The case's param is the number of carriers; the first coroutine, which measures
 * the time, is at home on carrier 0, the second one on the last carrier. */
int perf_park_setup(uint64_t carriers);
uint64_t perf_park_run(uint64_t n);
uint64_t perf_park_run_limited(uint64_t n); /* with deadlines, which do not pass */
void perf_park_teardown(void);

#endif
