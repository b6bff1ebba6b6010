/* SPDX-License-Identifier: BSD-3-Clause */
/* Two plain threads on two CPUs that wake each other by a futex for each direction: a peer of
 * wake-ups from one carrier to another. As in perf_side; one operation is a round trip. */
#ifndef PERF_FUTEX_H
#define PERF_FUTEX_H

#include <pthread.h>
#include <stdint.h>

int perf_futex_setup(uint64_t param);
uint64_t perf_futex_run(uint64_t n);
void perf_futex_teardown(void);

/* Binds a thread to a CPU. 0 or -errno. */
int perf_pin_thread(pthread_t t, unsigned cpu);

#endif
