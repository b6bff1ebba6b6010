/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long does a carrier not poll while a crowd of coroutines is woken, cancelled or joined at
 * once? The figure is the longest time between two polls. On a busy machine that includes the time
 * in which other threads had the CPU; cpu_us is the same in CPU time of the carrier.
 */
#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <haul/coro.h>
#include <haul/driver.h>
#include <haul/runtime.h>

#include "harness/harness.h"
#include "harness/plan.h"

#define CROWD 100000

static struct {
	struct haul_runtime *rt;
	struct haul_coro **coros;
	atomic_uint begun, ended;
	atomic_bool hold, holds; /* the poller waits meanwhile: what is sent comes at once */
	atomic_bool watch; /* gaps count */
	atomic_bool stops; /* the poller ends when all have */
	atomic_bool over;
	uint64_t gap, cpu_gap; /* longest; ns. Poller */
} b;

static uint64_t cpu_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

static void longest(uint64_t *gap, uint64_t from, uint64_t to)
{
	if (to - from > *gap)
		*gap = to - from;
}

static void *poll(void *arg)
{
	bool watched = false;
	uint64_t last = 0, cpu_last = 0;

	while (!b.over && !(b.stops && b.ended == CROWD)) {
		uint64_t now, cpu;

		while (b.hold)
			b.holds = true;
		now = perf_now();
		cpu = cpu_now();
		if (watched && b.watch && !b.holds) {
			longest(&b.gap, last, now);
			longest(&b.cpu_gap, cpu_last, cpu);
		}
		b.holds = false;
		watched = b.watch;
		last = now;
		cpu_last = cpu;
		haul_maybe_yield(true);
	}
	return NULL;
}

static void wait_for(const atomic_uint *count, unsigned n)
{
	while (*count < n)
		haul_self() ? haul_yield() : (void)sched_yield();
}

static void *parks(void *arg)
{
	b.begun++;
	haul_park(HAUL_FOREVER);
	b.ended++;
	return NULL;
}

static void *ends(void *arg)
{
	b.ended++;
	return NULL;
}

static int setup(uint64_t param)
{
	struct haul_plan *plan;
	int err = perf_plan(&plan, 0, 1);

	if (err)
		return err;
	b.coros = calloc(CROWD, sizeof(b.coros[0]));
	if (!b.coros)
		return -ENOMEM;
	err = haul_start(&b.rt, &(struct haul_runtime_opts){.plan = plan}, NULL, 0);
	haul_plan_destroy(plan);
	if (err)
		return err;
	return haul_poller_register(haul_carrier(b.rt, 0), NULL, poll, NULL, NULL);
}

static void spawn_parked(void)
{
	for (unsigned i = 0; i < CROWD; i++)
		perf_must(haul_spawn_on(haul_carrier(b.rt, 0), &b.coros[i], parks, NULL, NULL),
			"haul_spawn_on");
	wait_for(&b.begun, CROWD);
}

static void forget_all(void)
{
	for (unsigned i = 0; i < CROWD; i++)
		haul_detach(b.coros[i]);
}

static uint64_t result(void)
{
	perf_extra("cpu_us", (double)b.cpu_gap / 1e3);
	return b.gap;
}

static void stop(void)
{
	if (b.rt) {
		b.over = true;
		perf_must(haul_stop(b.rt, 60 * HAUL_S), "haul_stop");
	}
	b.rt = NULL;
	free(b.coros);
}

/* What the machine adds. */
static uint64_t idle(uint64_t n)
{
	struct timespec a_while = {.tv_nsec = 100 * HAUL_MS};

	b.watch = true;
	nanosleep(&a_while, NULL);
	b.watch = false;
	return result();
}

static uint64_t unpark(uint64_t n)
{
	spawn_parked();
	b.hold = true;
	while (!b.holds)
		sched_yield();
	for (unsigned i = 0; i < CROWD; i++)
		haul_unpark(b.coros[i]);
	b.watch = true;
	b.hold = false;
	wait_for(&b.ended, CROWD);
	b.watch = false;
	forget_all();
	return result();
}

static uint64_t cancel(uint64_t n)
{
	spawn_parked();
	forget_all();
	b.watch = true;
	b.stops = true;
	perf_must(haul_stop(b.rt, 60 * HAUL_S), "haul_stop");
	b.rt = NULL;
	return result();
}

static void *joins(void *arg)
{
	for (unsigned i = 0; i < CROWD; i++)
		perf_must(haul_spawn(&b.coros[i], ends, NULL, NULL), "haul_spawn");
	wait_for(&b.ended, CROWD);
	b.watch = true;
	haul_yield(); /* the poller notices */
	haul_sleep(HAUL_MS);
	for (unsigned i = 0; i < CROWD; i++)
		perf_must(haul_join(b.coros[i], NULL, HAUL_FOREVER), "haul_join");
	haul_sleep(HAUL_MS);
	b.watch = false;
	return NULL;
}

static uint64_t join(uint64_t n)
{
	struct haul_coro *joiner;

	perf_must(
		haul_spawn_on(haul_carrier(b.rt, 0), &joiner, joins, NULL, NULL), "haul_spawn_on");
	perf_must(haul_join(joiner, NULL, HAUL_FOREVER), "haul_join");
	return result();
}

static const struct perf_case cases[] = {
	{
		.name = "crowds/idle",
		.question = "longest gap between polls of a carrier with nothing to do, 100 ms",
		.unit = 1,
		.max = 1,
		.cpus = 2,
		.isolated = true,
		.sides = {{"haul", setup, idle, stop}},
	},
	{
		.name = "crowds/unpark",
		.question = "longest gap between polls, 100,000 unparked by another thread",
		.unit = 1,
		.max = 1,
		.cpus = 2,
		.isolated = true,
		.sides = {{"haul", setup, unpark, stop}},
	},
	{
		.name = "crowds/stop",
		.question = "longest gap between polls, 100,000 cancelled by the stop",
		.unit = 1,
		.max = 1,
		.cpus = 2,
		.isolated = true,
		.sides = {{"haul", setup, cancel, stop}},
	},
	{
		.name = "crowds/join",
		.question = "longest gap between polls, 100,000 that ended joined by one",
		.unit = 1,
		.max = 1,
		.cpus = 2,
		.isolated = true,
		.sides = {{"haul", setup, join, stop}},
	},
	{0},
};

int main(int argc, char **argv)
{
	return perf_main(argc, argv, cases);
}
