/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The clock of the scheduler: ticks of the CPU's time stamp counter, which one instruction reads.
 * The rate is measured once against CLOCK_MONOTONIC; on aarch64 the CPU tells it.
 */
#ifndef HAULI_BASE_CLOCK_H
#define HAULI_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#include "base/counter.h"
#include "base/simulated.h"

#define HAULI_NEVER UINT64_MAX

static inline uint64_t hauli_ticks(void)
{
#if HAULI_SIM
	return hauli_sim_ticks();
#elif defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t t;

	asm volatile("mrs %0, cntvct_el0" : "=r"(t));
	return t;
#else
#error "haul: no clock for this CPU"
#endif
}

/* Virtual time, for tests (sched/look/quiet.c); 0: time is real. */
extern struct hauli_counter hauli_virtual_now;

/* From stop to resume time is virtual, and a tick is a nanosecond, so that no conversion rounds.
 * Call them while no carrier runs. */
void hauli_clock_stop(void);
void hauli_clock_resume(void);

/* The time of timers, deadlines and haul_now(). */
static inline uint64_t hauli_timer_ticks(void)
{
	uint64_t now = hauli_counter_read(&hauli_virtual_now);

	return __builtin_expect(now == 0, 1) ? hauli_ticks() : now;
}

/* Between two looks at what another thread writes: the CPU spends less meanwhile. */
static inline void hauli_cpu_pause(void)
{
#if HAULI_SIM
	hauli_sim_pause();
#elif defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	asm volatile("yield" : : : "memory");
#endif
}

/* Finds the rate; takes about 10 ms the first time. Call it before any conversion. Any thread. */
void hauli_clock_init(void);

/* The rate with 32 fractional bits, for inline conversions. */
uint64_t hauli_ns_per_tick(void);

/* Conversions. HAUL_FOREVER and HAULI_NEVER convert to each other, and so do times too long for a
 * word. */
uint64_t hauli_ticks_from_ns(uint64_t ns);
uint64_t hauli_ns_from_ticks(uint64_t ticks);

/* The ticks of a deadline on haul_now()'s clock; HAULI_NEVER for HAUL_FOREVER. */
uint64_t hauli_ticks_at(uint64_t deadline);

/* The CLOCK_MONOTONIC time at which the counter will reach ticks, for system calls: also where time
 * is virtual. */
struct timespec hauli_monotonic_at(uint64_t ticks);

/* The time until the counter will reach ticks, for system calls; 0 if it has. */
struct timespec hauli_time_until(uint64_t ticks);

/* The CLOCK_MONOTONIC time ns from now, at most a day: the caller waits in a loop. */
struct timespec hauli_monotonic_in(uint64_t ns);

#endif
