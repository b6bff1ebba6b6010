/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The clock of the scheduler: ticks of the CPU's time stamp counter, which one instruction
 * reads. The rate is found once, against CLOCK_MONOTONIC (aarch64: told by the CPU).
 */
#ifndef HAULI_BASE_CLOCK_H
#define HAULI_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define HAULI_NEVER UINT64_MAX

static inline uint64_t hauli_ticks(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t t;

	asm volatile("mrs %0, cntvct_el0" : "=r"(t));
	return t;
#else
#error "haul: no clock for this CPU"
#endif
}

/* Finds the rate; takes about 10 ms the first time. Before any conversion; any thread. */
void hauli_clock_init(void);

/* Conversions; HAUL_FOREVER and HAULI_NEVER are each other's. */
uint64_t hauli_ticks_from_ns(uint64_t ns);
uint64_t hauli_ns_from_ticks(uint64_t ticks);

/* The CLOCK_MONOTONIC time at which the counter will stand at ticks, for system calls. */
struct timespec hauli_monotonic_at(uint64_t ticks);

/* The same, ns from now; at most a day, which is as good as for ever in a loop that waits again. */
struct timespec hauli_monotonic_in(uint64_t ns);

#endif
