/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What do many coroutines cost that each wait for something, with a deadline? A third each parks,
 * waits for an event, and for a semaphore of its own. For half of them the deadline passes: one
 * each 10 us. The others are woken, in the same second, long before theirs.
 *
 * The time is that to spawn each and let it begin its wait. p50_us to max_us is how late those are
 * whose deadline has passed. A wait that ends in another way than it should is counted as wrong.
 * Every run is a process of its own.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <haul/haul.h>

#include "harness/carrier.h"
#include "harness/harness.h"
#include "harness/memory.h"

#define N 100000
#define EACH_NS 10000 /* between two deadlines */
#define AHEAD_NS (500 * HAUL_MS) /* all wait before the first deadline */
#define FAR_NS (3600 * HAUL_S)

enum kind { PARKS, WAITS_FOR_EVENT, WAITS_FOR_UNIT, KINDS };

static struct waiter {
	struct haul_coro *co;
	struct haul_event event;
	struct haul_sem sem;
	uint64_t deadline;
	bool woken; /* else the deadline passes */
} * waiters;

static struct haul_hist late;
static uint64_t waiting, ended, wrong, began;

static enum kind kind_of(const struct waiter *w)
{
	return (enum kind)((uint64_t)(w - waiters) / 2 % KINDS);
}

static int wait(struct waiter *w)
{
	switch (kind_of(w)) {
	case PARKS:
		return haul_park(w->deadline);
	case WAITS_FOR_EVENT:
		return haul_event_wait(&w->event, w->deadline);
	default:
		return haul_sem_wait(&w->sem, w->deadline);
	}
}

static void wake(struct waiter *w)
{
	switch (kind_of(w)) {
	case PARKS:
		haul_unpark(w->co);
		break;
	case WAITS_FOR_EVENT:
		haul_event_set(&w->event);
		break;
	default:
		haul_sem_post(&w->sem);
	}
}

static void *waits(void *arg)
{
	struct waiter *w = arg;
	uint64_t now;
	int err;

	waiting++;
	err = wait(w);
	now = haul_now();
	ended++;
	wrong += err != (w->woken ? 0 : -ETIMEDOUT) || (err && now < w->deadline);
	if (err)
		haul_hist_add(&late, now - w->deadline, 1);
	return NULL;
}

static uint64_t due(uint64_t i)
{
	return began + AHEAD_NS + i * EACH_NS;
}

/* Wakes every other one at its time, or a little later. */
static void wake_half(uint64_t n)
{
	for (uint64_t i = 1; i < n; i += 2) {
		if (haul_now() < due(i))
			haul_sleep_until(due(i) + 100 * HAUL_US);
		wake(&waiters[i]);
	}
}

static uint64_t run_here(uint64_t n)
{
	double resident = perf_memory("VmRSS:");
	uint64_t took;

	began = haul_now();
	for (uint64_t i = 0; i < n; i++) {
		struct waiter *w = &waiters[i];

		w->woken = i % 2;
		w->deadline = w->woken ? began + FAR_NS : due(i);
		perf_must(haul_spawn(&w->co, waits, w, NULL), "haul_spawn");
	}
	while (waiting < n)
		haul_yield();
	took = haul_now() - began;
	perf_extra("bytes_each", (perf_memory("VmRSS:") - resident) / (double)n);
	wake_half(n);
	for (uint64_t i = 0; i < n; i++)
		perf_must(haul_join(waiters[i].co, NULL, HAUL_FOREVER), "haul_join");
	perf_extra("p50_us", (double)haul_hist_quantile(&late, 0.5) / HAUL_US);
	perf_extra("p99_us", (double)haul_hist_quantile(&late, 0.99) / HAUL_US);
	perf_extra("p999_us", (double)haul_hist_quantile(&late, 0.999) / HAUL_US);
	perf_extra("max_us", (double)haul_hist_max(&late) / HAUL_US);
	perf_extra("timed_out", (double)haul_hist_count(&late));
	perf_extra("wrong", (double)wrong);
	return took;
}

static uint64_t run(uint64_t n)
{
	return perf_on_carrier(run_here, n);
}

static int setup(uint64_t param)
{
	waiters = calloc(N, sizeof(*waiters));
	if (!waiters)
		return -ENOMEM;
	memset(waiters, 1, N * sizeof(*waiters)); /* resident from the start */
	memset(waiters, 0, N * sizeof(*waiters));
	return perf_carriers_start(1);
}

static void teardown(void)
{
	perf_carriers_stop();
	free(waiters);
}

static const struct perf_case cases[] = {
	{
		.name = "timeouts",
		.question = "100,000 wait with a deadline, half time out: spawn and begin the wait",
		.unit = N,
		.max = N,
		.isolated = true,
		.sides =
			{
				{"haul", setup, run, teardown},
				{"go", .program = "peer-go"},
			},
	},
	{0},
};

int main(int argc, char **argv)
{
	return perf_main(argc, argv, cases);
}
