/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/park.h"

#include <errno.h>
#include <stdatomic.h>

#include <haul/coro.h>

#include "bench/batches.h"
#include "harness/carrier.h"
#include "harness/harness.h"

static struct haul_coro *driver, *other;
static atomic_bool ending;
static bool limited;

static inline uint64_t deadline(void)
{
	return limited ? haul_in(HAUL_S) : HAUL_FOREVER;
}

static void *echo(void *arg)
{
	for (;;) {
		while (haul_park(deadline()) == -ETIMEDOUT)
			;
		if (ending)
			return NULL;
		haul_unpark(driver);
	}
}

int perf_park_setup(uint64_t param)
{
	unsigned carriers = param % 16;
	int err = perf_carriers_start_idle(carriers, (enum perf_idle)(param / 16));

	ending = false;
	return err ? err : haul_spawn_on(perf_carrier(carriers - 1), &other, echo, NULL, NULL);
}

static void there_and_back(void)
{
	haul_unpark(other);
	perf_must(haul_park(HAUL_FOREVER), "haul_park");
}

static uint64_t run_across(uint64_t n)
{
	driver = haul_self();
	return perf_by_batches(n, there_and_back);
}

static uint64_t run_here(uint64_t n)
{
	uint64_t start;

	driver = haul_self();
	start = perf_now();
	for (uint64_t i = 0; i < n; i++) {
		haul_unpark(other);
		perf_must(haul_park(deadline()), "haul_park");
	}
	return perf_now() - start;
}

uint64_t perf_park_run(uint64_t n)
{
	limited = false;
	return perf_on_carrier(run_here, n);
}

uint64_t perf_park_run_across(uint64_t n)
{
	limited = false;
	return perf_on_carrier(run_across, n);
}

uint64_t perf_park_run_limited(uint64_t n)
{
	limited = true;
	return perf_on_carrier(run_here, n);
}

void perf_park_teardown(void)
{
	ending = true;
	haul_unpark(other);
	haul_join(other, NULL, HAUL_FOREVER);
	perf_carriers_stop();
}
