/* SPDX-License-Identifier: BSD-3-Clause */
/* What does a coroutine cost that has waited long, with hibernation and without, and what does it
 * cost it to wake up? Resident bytes and page tables of each of a million; the time from the
 * unpark to the coroutine's next instruction, one after the other, in random order. Every run is a
 * process of its own. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <haul/coro.h>
#include <haul/runtime.h>

#include "harness/carrier.h"
#include "harness/harness.h"
#include "harness/memory.h"

#define MILLION 1000000

static struct haul_coro **coros;
static uint32_t *order, *took;
static uint64_t waiting, ended, woken_at;

static int setup(uint64_t hibernates)
{
	uint32_t at = 1;

	coros = calloc(MILLION, sizeof(coros[0]));
	order = calloc(MILLION, sizeof(order[0]));
	took = calloc(MILLION, sizeof(took[0]));
	if (!coros || !order || !took)
		return -ENOMEM;
	/* resident from the start */
	memset(coros, 1, MILLION * sizeof(coros[0]));
	memset(took, 1, MILLION * sizeof(took[0]));
	for (uint32_t i = 0; i < MILLION; i++)
		order[i] = i;
	for (uint32_t i = MILLION - 1; i > 0; i--) {
		uint32_t other, k;

		at = at * 1664525 + 1013904223;
		k = (uint32_t)(((uint64_t)at * (i + 1)) >> 32);
		other = order[i];
		order[i] = order[k];
		order[k] = other;
	}
	return perf_carriers_start_with(
		1, &(struct haul_runtime_opts){.hibernate_after_ns = hibernates ? HAUL_S : 0});
}

static void *body(void *arg)
{
	waiting++;
	haul_park(HAUL_FOREVER);
	*(uint32_t *)arg = (uint32_t)(perf_now() - woken_at);
	ended++;
	return NULL;
}

static int by_size(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void wake_all(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		haul_detach(coros[order[i]]);
		woken_at = perf_now();
		haul_unpark(coros[order[i]]);
		while (ended <= i)
			haul_yield();
	}
	qsort(took, n, sizeof(took[0]), by_size);
	perf_extra("wake_p50_ns", took[n / 2]);
	perf_extra("wake_p99_ns", took[n * 99 / 100]);
}

static uint64_t hibernations(void)
{
	struct haul_carrier_stats st;

	haul_carrier_get_stats(perf_carrier(0), &st);
	return st.hibernations;
}

static uint64_t run_here(uint64_t n, bool hibernates)
{
	static const struct haul_coro_opts opts = {.hibernates = true};
	uint64_t start, took_ns;

	perf_memory_begin();
	start = perf_now();
	for (uint64_t i = 0; i < n; i++)
		perf_must(haul_spawn(&coros[i], body, &took[i], &opts), "haul_spawn");
	while (waiting < n)
		haul_yield();
	took_ns = perf_now() - start;
	while (hibernates && hibernations() < n)
		haul_sleep(10 * HAUL_MS);
	if (hibernates)
		perf_extra("frozen_after_s", (double)(perf_now() - start) / 1e9);
	perf_memory_end(n);
	wake_all(n);
	return took_ns;
}

static uint64_t run_off_here(uint64_t n)
{
	return run_here(n, false);
}

static uint64_t run_on_here(uint64_t n)
{
	return run_here(n, true);
}

static uint64_t run_off(uint64_t n)
{
	return perf_on_carrier(run_off_here, n);
}

static uint64_t run_on(uint64_t n)
{
	return perf_on_carrier(run_on_here, n);
}

static void teardown(void)
{
	perf_carriers_stop();
	free(coros);
	free(order);
	free(took);
}

#define CASE(title, is_on, fn)                                                              \
	{                                                                                   \
		.name = title, .question = "a million parked coroutines", .param = (is_on), \
		.unit = MILLION, .max = MILLION, .isolated = true,                          \
		.sides = {{"haul", setup, fn, teardown}, {"go", .program = "peer-go"}},     \
	}

static const struct perf_case cases[] = {
	CASE("hibernate/0", false, run_off),
	CASE("hibernate/1", true, run_on),
	{0},
};

int main(int argc, char **argv)
{
	return perf_main(argc, argv, cases);
}
