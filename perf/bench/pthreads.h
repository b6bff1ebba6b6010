/* SPDX-License-Identifier: BSD-3-Clause */
/* Plain threads that share a CPU, with the objects of POSIX: a peer of bench/sync.c. As in
 * perf_side. */
#ifndef PERF_PTHREADS_H
#define PERF_PTHREADS_H

#include <stdint.h>

/* limited: waits have a deadline, which does not pass; else 0. */
int perf_pthread_setup(uint64_t limited);

uint64_t perf_pthread_lock(uint64_t n); /* lock and unlock a mutex that nobody else locks */
uint64_t perf_pthread_contended(uint64_t n); /* one of two threads: lock, yield, unlock */
/* Round trips between two threads: */
uint64_t perf_pthread_bounce(uint64_t n); /* by two semaphores */
uint64_t perf_pthread_cond(uint64_t n); /* by a mutex and two conditions */

#endif
