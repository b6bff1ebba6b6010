/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long does a poller wait for its turn while many timers of its carrier are cancelled or
 * expire? The time is the longest gap between two polls, per run. A run has n time-outs, which are
 * sleeps of a minute, and n sleepers that are all due at once. When all are armed, the time-outs
 * are cancelled, 32 per slice, and later the sleepers expire. The gaps of both phases count, in
 * time of the carrier's thread, without that of other programs that have the CPU meanwhile.
 *
 * The peer's coroutines park, and are cancelled and woken 32 per slice: the same slices without
 * timers. Every run is a process of its own, so memory is touched for the first time, as by a
 * program that has just started.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <haul/driver.h>
#include <haul/haul.h>

#include "harness/carrier.h"
#include "harness/harness.h"

#define N 100000
#define BURST 32 /* per slice */
#define LONG_NS (50 * HAUL_US)
#define ARM_NS 5000 /* for each coroutine, until the sleepers are due */

static struct haul_coro **sleepers, **timeouts;
static uint64_t spawned, waiting, ended, due_at;
static bool by_timers;

static struct haul_coro *poller;
static bool counts;
static uint64_t longest, nb_long, polls;

/* Gaps, of 1 us each; the last for all that are longer. */
#define GAPS 1000
static uint64_t gaps[GAPS];

static uint64_t own_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * HAUL_S + (uint64_t)t.tv_nsec;
}

static void *polls_for_ever(void *arg)
{
	uint64_t last = own_time();

	while (haul_maybe_yield(false)) {
		uint64_t now = own_time(), gap = now - last;

		last = now;
		if (!counts)
			continue;
		nb_long += gap > LONG_NS;
		polls++;
		gaps[gap / HAUL_US < GAPS ? gap / HAUL_US : GAPS - 1]++;
		longest = gap > longest ? gap : longest;
	}
	return NULL;
}

static double percentile(unsigned percent)
{
	uint64_t shorter = 0, i = 0;

	while (100 * (shorter += gaps[i]) < percent * polls)
		i++;
	return (double)(i + 1);
}

static void *waits(void *timeout)
{
	uint64_t now;

	spawned++;
	haul_park(HAUL_FOREVER);
	now = haul_now();
	waiting++;
	if (!by_timers)
		haul_park(HAUL_FOREVER);
	else if (timeout)
		haul_sleep(60 * HAUL_S);
	else if (now < due_at)
		haul_sleep(due_at - now);
	ended++;
	return NULL;
}

static void pause_after(uint64_t i)
{
	if (i % BURST == 0)
		haul_yield();
}

/* Sleepers are armed when all have been spawned, so that none is due before. */
static void begin_all(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		perf_must(haul_spawn(&timeouts[i], waits, timeouts, NULL), "haul_spawn");
		perf_must(haul_spawn(&sleepers[i], waits, NULL, NULL), "haul_spawn");
		pause_after(i);
	}
	while (spawned < 2 * n)
		haul_yield();
	due_at = haul_now() + n * ARM_NS;
	for (uint64_t i = 0; i < n; i++) {
		haul_unpark(timeouts[i]);
		haul_unpark(sleepers[i]);
		pause_after(i);
	}
	while (waiting < 2 * n)
		haul_yield();
	if (ended > 0) {
		fprintf(stderr, "sleepers: some were due before all were armed\n");
		exit(1);
	}
}

static uint64_t run_here(uint64_t n)
{
	spawned = waiting = ended = longest = nb_long = polls = 0;
	memset(gaps, 0, sizeof(gaps));
	begin_all(n);
	counts = true;
	for (uint64_t i = 0; i < n; i++) {
		haul_cancel(timeouts[i]);
		pause_after(i);
	}
	while (ended < n)
		haul_yield();
	counts = false;
	while (haul_now() < due_at - HAUL_MS)
		haul_sleep(HAUL_MS / 2);
	counts = true;
	for (uint64_t i = 0; !by_timers && i < n; i++) {
		haul_unpark(sleepers[i]);
		pause_after(i);
	}
	while (ended < 2 * n)
		haul_sleep(HAUL_MS);
	counts = false;
	perf_extra("p99_us", percentile(99));
	perf_extra("over_50us", (double)nb_long);
	for (uint64_t i = 0; i < n; i++) {
		haul_join(timeouts[i], NULL, HAUL_FOREVER);
		haul_join(sleepers[i], NULL, HAUL_FOREVER);
		pause_after(i);
	}
	return longest * n;
}

static uint64_t run(uint64_t n)
{
	return perf_on_carrier(run_here, n);
}

static int set_up(bool timers)
{
	int err;

	by_timers = timers;
	sleepers = calloc(N, sizeof(struct haul_coro *));
	timeouts = calloc(N, sizeof(struct haul_coro *));
	if (!sleepers || !timeouts)
		return -ENOMEM;
	err = perf_carriers_start(1);
	if (!err)
		perf_must(
			haul_poller_register(perf_carrier(0), &poller, polls_for_ever, NULL, NULL),
			"haul_poller_register");
	return err;
}

static int setup(uint64_t param)
{
	return set_up(true);
}

static int setup_parked(uint64_t param)
{
	return set_up(false);
}

static void teardown(void)
{
	haul_cancel(poller);
	perf_must(haul_join(poller, NULL, HAUL_FOREVER), "haul_join");
	perf_carriers_stop();
	free(sleepers);
	free(timeouts);
}

static const struct perf_case cases[] = {
	{
		.name = "sleepers",
		.question = "the longest gap between two polls, 100,000 sleepers and time-outs",
		.unit = N,
		.max = N,
		.isolated = true,
		.sides =
			{
				{"haul", setup, run, teardown},
				{"without timers", setup_parked, run, teardown},
			},
	},
	{0},
};

int main(int argc, char **argv)
{
	return perf_main(argc, argv, cases);
}
