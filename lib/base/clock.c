/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/clock.h"

#include <pthread.h>

#include <haul/base.h>

#define CALIBRATION_NS (10 * HAUL_MS)

static pthread_once_t once = PTHREAD_ONCE_INIT;
/* Fixed point, 32 fractional bits: ticks per ns and ns per tick. */
static uint64_t ticks_per_ns;
static uint64_t ns_per_tick;

struct hauli_counter hauli_virtual_now;

static uint64_t monotonic_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * HAUL_S + (uint64_t)t.tv_nsec;
}

static uint64_t scale(uint64_t v, uint64_t by)
{
	return (uint64_t)(((unsigned __int128)v * by) >> 32);
}

static uint64_t fraction(uint64_t a, uint64_t b)
{
	return (uint64_t)(((unsigned __int128)a << 32) / b);
}

#if HAULI_SIM
static void calibrate(void)
{
	ticks_per_ns = ns_per_tick = fraction(1, 1);
}
#elif defined(__aarch64__)
static void calibrate(void)
{
	uint64_t hz;

	asm volatile("mrs %0, cntfrq_el0" : "=r"(hz));
	ticks_per_ns = fraction(hz, HAUL_S);
	ns_per_tick = fraction(HAUL_S, hz);
}
#else
/* Reads both clocks as close together as possible: the fastest of several tries counts. */
static void read_both(uint64_t *ticks, uint64_t *ns)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < 16; i++) {
		uint64_t before = hauli_ticks();
		uint64_t now = monotonic_ns();
		uint64_t after = hauli_ticks();

		if (after - before < best) {
			best = after - before;
			*ticks = before + best / 2;
			*ns = now;
		}
	}
}

static void calibrate(void)
{
	uint64_t t0 = 0, t1 = 0, n0 = 0, n1 = 0;

	read_both(&t0, &n0);
	nanosleep(&(struct timespec){.tv_nsec = CALIBRATION_NS}, NULL);
	read_both(&t1, &n1);
	ticks_per_ns = fraction(t1 - t0, n1 - n0);
	ns_per_tick = fraction(n1 - n0, t1 - t0);
}
#endif

#define SAME (UINT64_C(1) << 32)

static uint64_t real_ticks_per_ns, real_ns_per_tick;

void hauli_clock_stop(void)
{
	uint64_t now = haul_now();

	real_ticks_per_ns = ticks_per_ns;
	real_ns_per_tick = ns_per_tick;
	ticks_per_ns = ns_per_tick = SAME;
	hauli_counter_add(&hauli_virtual_now, now);
}

void hauli_clock_resume(void)
{
	ticks_per_ns = real_ticks_per_ns;
	ns_per_tick = real_ns_per_tick;
	hauli_counter_add(&hauli_virtual_now, -hauli_counter_read(&hauli_virtual_now));
}

void hauli_clock_init(void)
{
	pthread_once(&once, calibrate);
}

uint64_t hauli_ticks_from_ns(uint64_t ns)
{
	unsigned __int128 ticks;

	if (ns == HAUL_FOREVER)
		return HAULI_NEVER;
	/* Rounded up: on aarch64 a tick may have 40 ns, and no sleep is shorter than it says. */
	ticks = ((unsigned __int128)ns * ticks_per_ns + UINT32_MAX) >> 32;
	return ticks < HAULI_NEVER ? (uint64_t)ticks : HAULI_NEVER;
}

uint64_t hauli_ns_per_tick(void)
{
	return ns_per_tick;
}

uint64_t hauli_ns_from_ticks(uint64_t ticks)
{
	return ticks == HAULI_NEVER ? HAUL_FOREVER : scale(ticks, ns_per_tick);
}

uint64_t hauli_ticks_at(uint64_t deadline)
{
	uint64_t now, now_ns, rest;

	if (deadline == HAUL_FOREVER)
		return HAULI_NEVER; /* as for most waits; the counter is not read */
	now = hauli_timer_ticks();
	/* Not hauli_ticks_from_ns(deadline): its error grows with the distance. */
	now_ns = hauli_ns_from_ticks(now);
	if (deadline <= now_ns)
		return now;
	rest = hauli_ticks_from_ns(deadline - now_ns);
	return rest < HAULI_NEVER - now ? now + rest : HAULI_NEVER;
}

static uint64_t ns_until(uint64_t ticks)
{
	uint64_t now = hauli_ticks();

	return ticks > now ? hauli_ns_from_ticks(ticks - now) : 0;
}

static struct timespec timespec_of(uint64_t ns)
{
	return (struct timespec){.tv_sec = (time_t)(ns / HAUL_S), .tv_nsec = (long)(ns % HAUL_S)};
}

struct timespec hauli_time_until(uint64_t ticks)
{
	return timespec_of(ns_until(ticks));
}

struct timespec hauli_monotonic_at(uint64_t ticks)
{
	uint64_t rest = ns_until(ticks);

	return timespec_of(monotonic_ns() + rest);
}

uint64_t haul_in(uint64_t ns)
{
	uint64_t now = haul_now();

	return ns < HAUL_FOREVER - now ? now + ns : HAUL_FOREVER;
}

uint64_t haul_now(void)
{
	hauli_clock_init();
	return hauli_ns_from_ticks(hauli_timer_ticks());
}

struct timespec hauli_monotonic_in(uint64_t ns)
{
	const uint64_t day = 24 * 3600 * HAUL_S;

	return hauli_monotonic_at(hauli_ticks() + hauli_ticks_from_ns(ns < day ? ns : day));
}
