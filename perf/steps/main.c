/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long are the longest steps of a carrier, and why? Counts steps of more than 5 us and of more
 * than 20 us by cause: what the kernel did meanwhile is told apart.
 *
 * wheel: the calls that expire a million timers. Each run has the same steps, so the shortest of a
 * step over all runs is haul's, and what others have beyond it is the machine's.
 * sleepers: gaps between two polls while 100,000 sleepers and as many time-outs begin, are
 * cancelled, expire and end, as bench/sleepers.c has them.
 * spawn: 100,000 coroutines that begin and park, each until the next.
 * spin: a thread that does nothing but look at the clock: what the machine does by itself.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <haul/driver.h>
#include <haul/haul.h>

#include "../harness/carrier.h"
#include "../harness/harness.h"
#include "base/clock.h"
#include "base/random.h"
#include "sched/state/timer.h"
#include "trace.h"

#define TIMERS 1000000
#define STEPS_MAX (1u << 20)
#define SLEEPERS 100000
#define BURST 32 /* per slice */
#define ARM_NS 5000

static unsigned runs = 5;

/* Spinning for as long as the others take. */
static void spin(void)
{
	uint64_t end = hauli_ticks() + hauli_ticks_from_ns(2 * HAUL_S);
	struct trace t;

	trace_begin(&t);
	while (hauli_ticks() < end)
		trace_step(&t, 0);
	trace_print(&t, "spin: nothing, for 2 s", "nothing");
}

/* The wheel. */
static float *least; /* us: of each step, over all runs */
static uint16_t *expired;

static void expire_all(struct hauli_timers *ts, struct trace *t, bool burst, unsigned run)
{
	const uint64_t step = hauli_ticks_from_ns(HAUL_MS);
	uint64_t now = burst ? hauli_ticks_from_ns(HAUL_S) : 0, left = TIMERS;
	unsigned i = 0;

	trace_begin(t);
	while (left > 0) {
		struct hauli_timer *due[HAULI_TIMERS_DUE];
		unsigned n = hauli_timers_expire(ts, now, due);
		float us = (float)trace_step(t, n);

		left -= n;
		if (i < STEPS_MAX && (run == 0 || us < least[i])) {
			least[i] = us;
			expired[i] = (uint16_t)n;
		}
		i++;
		if (now < ts->next_at)
			now += step;
	}
}

static void wheel(bool burst)
{
	struct hauli_timer *timers = calloc(TIMERS, sizeof(*timers));
	uint64_t span = hauli_ticks_from_ns(burst ? HAUL_US : HAUL_S);
	uint64_t steps = 0, over_5 = 0, over_20 = 0;
	struct trace t;
	unsigned worst = 0;
	char name[128];

	if (!timers || !least || !expired)
		abort();
	for (unsigned run = 0; run < runs; run++) {
		struct hauli_random dice;
		struct hauli_timers ts;

		hauli_random_init(&dice, 1);
		perf_must(hauli_timers_init(&ts, TIMERS), "hauli_timers_init");
		for (unsigned i = 0; i < TIMERS; i++) {
			timers[i].at = 1 + hauli_random_next(&dice) % span;
			hauli_timer_arm(&ts, &timers[i]);
		}
		expire_all(&ts, &t, burst, run);
		hauli_timers_fini(&ts);
		steps = t.steps;
		if (run + 1 == runs) {
			snprintf(name, sizeof(name), "wheel: a million timers, %s, the last run",
				burst ? "all due" : "due within a second");
			trace_print(&t, name, "expired timers");
		}
	}
	for (unsigned i = 0; i < steps && i < STEPS_MAX; i++) {
		over_5 += least[i] > TRACE_LONG_US;
		over_20 += least[i] > TRACE_VERY_LONG_US;
		worst = least[i] > least[worst] ? i : worst;
	}
	printf("  the shortest of %u runs: > 5 us %lu, > 20 us %lu, longest %.1f us (step %u, %u "
	       "expired)\n",
		runs, over_5, over_20, (double)least[worst], worst, expired[worst]);
	free(timers);
}

/* The runtime. */
static struct haul_coro *sleepers[SLEEPERS], *timeouts[SLEEPERS], *poller;
static uint64_t spawned, waiting, ended, due_at, slices;
static struct trace *tracing;

static void *polls(void *arg)
{
	struct trace *of = NULL;

	while (haul_maybe_yield(false)) {
		if (tracing != of) {
			of = tracing;
			if (of)
				trace_begin(of);
		} else if (of) {
			trace_step(of, slices);
		}
		slices = 0;
	}
	return NULL;
}

static void *waits(void *timeout)
{
	uint64_t now;

	spawned++;
	slices++;
	haul_park(HAUL_FOREVER);
	slices++;
	now = haul_now();
	waiting++;
	if (timeout)
		haul_sleep(60 * HAUL_S);
	else if (now < due_at)
		haul_sleep(due_at - now);
	slices++;
	ended++;
	return NULL;
}

static void pause_after(uint64_t i)
{
	if (i % BURST == 0)
		haul_yield();
}

static void phase(const char *name, struct trace *next)
{
	static const char *last;
	struct trace *before = tracing;

	tracing = next;
	haul_sleep(HAUL_MS);
	if (before)
		trace_print(before, last, "slices");
	last = name;
}

static uint64_t run_sleepers(uint64_t n)
{
	static struct trace traces[4];

	phase("sleepers: 200,000 begin", &traces[0]);
	for (uint64_t i = 0; i < n; i++) {
		perf_must(haul_spawn(&timeouts[i], waits, timeouts, NULL), "haul_spawn");
		perf_must(haul_spawn(&sleepers[i], waits, NULL, NULL), "haul_spawn");
		pause_after(i);
	}
	while (spawned < 2 * n)
		haul_yield();
	phase("sleepers: 200,000 are woken, and arm timers", &traces[1]);
	due_at = haul_now() + n * ARM_NS;
	for (uint64_t i = 0; i < n; i++) {
		haul_unpark(timeouts[i]);
		haul_unpark(sleepers[i]);
		pause_after(i);
	}
	while (waiting < 2 * n)
		haul_yield();
	phase("sleepers: 100,000 time-outs are cancelled", &traces[2]);
	for (uint64_t i = 0; i < n; i++) {
		haul_cancel(timeouts[i]);
		pause_after(i);
	}
	while (ended < n)
		haul_yield();
	phase("sleepers: 100,000 expire at a time", &traces[3]);
	while (ended < 2 * n)
		haul_sleep(HAUL_MS);
	phase(NULL, NULL);
	for (uint64_t i = 0; i < n; i++) {
		haul_join(timeouts[i], NULL, HAUL_FOREVER);
		haul_join(sleepers[i], NULL, HAUL_FOREVER);
		pause_after(i);
	}
	return 0;
}

static void *parks(void *arg)
{
	haul_park(HAUL_FOREVER);
	return NULL;
}

/* Each has a new stack. */
static uint64_t run_spawns(uint64_t n)
{
	struct trace t;

	trace_begin(&t);
	for (uint64_t i = 0; i < n; i++) {
		perf_must(haul_spawn(&sleepers[i], parks, NULL, NULL), "haul_spawn");
		haul_yield();
		trace_step(&t, i);
	}
	trace_print(&t, "spawn: 100,000 that begin and park", "number");
	for (uint64_t i = 0; i < n; i++) {
		haul_cancel(sleepers[i]);
		haul_join(sleepers[i], NULL, HAUL_FOREVER);
	}
	return 0;
}

static void spawns(void)
{
	perf_must(perf_carriers_start(1), "perf_carriers_start");
	perf_on_carrier(run_spawns, SLEEPERS);
	perf_carriers_stop();
}

static void runtime(void)
{
	perf_must(perf_carriers_start(1), "perf_carriers_start");
	perf_must(haul_poller_register(perf_carrier(0), &poller, polls, NULL, NULL),
		"haul_poller_register");
	perf_on_carrier(run_sleepers, SLEEPERS);
	haul_cancel(poller);
	perf_must(haul_join(poller, NULL, HAUL_FOREVER), "haul_join");
	perf_carriers_stop();
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "all";
	bool all = strcmp(what, "all") == 0;

	if (argc > 2)
		runs = (unsigned)atoi(argv[2]);
	if (runs == 0 || !strstr("all spin wheel spawn sleepers", what)) {
		fprintf(stderr, "usage: steps [all|spin|wheel|spawn|sleepers [RUNS]]\n");
		return 2;
	}
	hauli_clock_init();
	least = calloc(STEPS_MAX, sizeof(*least));
	expired = calloc(STEPS_MAX, sizeof(*expired));
	if (all || strcmp(what, "spin") == 0)
		spin();
	if (all || strcmp(what, "wheel") == 0) {
		wheel(false);
		wheel(true);
	}
	if (all || strcmp(what, "spawn") == 0)
		spawns();
	if (all || strcmp(what, "sleepers") == 0)
		runtime();
	free(least);
	free(expired);
	return 0;
}
