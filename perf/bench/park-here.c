/* SPDX-License-Identifier: BSD-3-Clause */
/* What does it cost two coroutines of one carrier to wake each other? One operation is a round
 * trip: two unparks, two parks. */
#include "bench/park.h"
#include "harness/harness.h"

static const struct perf_case cases[] = {
	{
		.name = "park-here",
		.question = "wake another coroutine of the carrier and be woken",
		.param = 1,
		.sides =
			{
				{"haul", perf_park_setup, perf_park_run, perf_park_teardown},
				{"go", .program = "peer-go"},
			},
	},
	{
		.name = "park-deadline",
		.question = "the same, each wait with a deadline that does not pass",
		.param = 1,
		.sides =
			{
				{"haul", perf_park_setup, perf_park_run_limited,
					perf_park_teardown},
				{"go", .program = "peer-go"},
			},
	},
	{0},
};

int main(int argc, char **argv)
{
	return perf_main(argc, argv, cases);
}
