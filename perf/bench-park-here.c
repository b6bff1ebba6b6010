/* SPDX-License-Identifier: BSD-3-Clause */
/* What do two coroutines of one carrier pay to wake each other? One operation is there and back:
 * two unparks, two parks. */
#include <haul/coro.h>

#include "carrier.h"
#include "harness.h"

static struct haul_coro *driver, *other;
static bool ending;

static void *echo(void *arg)
{
	for (;;) {
		haul_park();
		if (ending)
			return NULL;
		haul_unpark(driver);
	}
}

static int setup(uint64_t param)
{
	int err = perf_carriers_start(1);

	ending = false;
	return err ? err : haul_spawn_on(perf_carrier(0), &other, echo, NULL, NULL);
}

static uint64_t run_here(uint64_t n)
{
	uint64_t start;

	driver = haul_self();
	start = perf_now();
	for (uint64_t i = 0; i < n; i++) {
		haul_unpark(other);
		haul_park();
	}
	return perf_now() - start;
}

static uint64_t run(uint64_t n)
{
	return perf_on_carrier(run_here, n);
}

static void teardown(void)
{
	ending = true;
	haul_unpark(other);
	haul_join(other, NULL);
	perf_carriers_stop();
}

static const struct perf_case cases[] = {
	{
		.name = "park-here",
		.question = "wake another coroutine of the carrier and be woken",
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
