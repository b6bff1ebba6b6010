/* SPDX-License-Identifier: BSD-3-Clause */
/* What does it cost to spawn a coroutine and to wait for its result? */
#include <haul/coro.h>

#include "harness/carrier.h"
#include "harness/harness.h"

static void *body(void *arg)
{
	return arg;
}

static int setup(uint64_t param)
{
	return perf_carriers_start(1);
}

static uint64_t run_here(uint64_t n)
{
	uint64_t start = perf_now();

	for (uint64_t i = 0; i < n; i++) {
		struct haul_coro *co;
		void *result;

		perf_must(haul_spawn(&co, body, &i, NULL), "haul_spawn");
		perf_must(haul_join(co, &result, HAUL_FOREVER), "haul_join");
		PERF_KEEP(result);
	}
	return perf_now() - start;
}

static uint64_t run(uint64_t n)
{
	return perf_on_carrier(run_here, n);
}

static const struct perf_case cases[] = {
	{
		.name = "spawn-join",
		.question = "spawn a coroutine and join it",
		.sides =
			{
				{"haul", setup, run, perf_carriers_stop},
				{"go", .program = "peer-go"},
			},
	},
	{0},
};

int main(int argc, char **argv)
{
	return perf_main(argc, argv, cases);
}
