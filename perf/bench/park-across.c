/* SPDX-License-Identifier: BSD-3-Clause */
/* What does it cost two coroutines of two otherwise idle carriers to wake each other? One operation
 * is a round trip: two unparks, two parks, two sleeping threads. */
#include "bench/futex.h"
#include "bench/park.h"
#include "harness/harness.h"

static const struct perf_case cases[] = {
	{
		.name = "park-across",
		.question = "wake a coroutine of another, sleeping carrier and be woken",
		.param = 2,
		.cpus = 2,
		.sides =
			{
				{"haul", perf_park_setup, perf_park_run, perf_park_teardown},
				{"futex", perf_futex_setup, perf_futex_run, perf_futex_teardown},
				{"go", .program = "peer-go"},
			},
	},
	{0},
};

int main(int argc, char **argv)
{
	return perf_main(argc, argv, cases);
}
