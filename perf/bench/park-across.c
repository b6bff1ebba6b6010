/* SPDX-License-Identifier: BSD-3-Clause */
/* What does it cost two coroutines of two otherwise idle carriers to wake each other? One operation
 * is a round trip: two unparks and two parks; of carriers that sleep, two system calls each. */
#include "bench/batches.h"
#include "bench/futex.h"
#include "bench/park.h"
#include "bench/spin.h"
#include "harness/carrier.h"
#include "harness/harness.h"

#define HAUL                                                                      \
	{                                                                         \
		"haul", perf_park_setup, perf_park_run_across, perf_park_teardown \
	}
#define SPIN                                                                 \
	{                                                                    \
		"spin", perf_spin_setup, perf_spin_words, perf_spin_teardown \
	}
#define FUTEX                                                                  \
	{                                                                      \
		"futex", perf_futex_setup, perf_futex_run, perf_futex_teardown \
	}

static const struct perf_case cases[] = {
	{
		.name = "park-across",
		.question = "wake a coroutine of another, idle carrier and be woken",
		.param = PERF_PARK(2, PERF_IDLE_SPINS),
		.cpus = 2,
		.unit = PERF_BATCH,
		.sides = {HAUL, SPIN, FUTEX, {"go", .program = "peer-go"}},
	},
	{
		.name = "park-asleep",
		.question = "the same, where idle carriers sleep at once",
		.param = PERF_PARK(2, PERF_IDLE_SLEEPS),
		.cpus = 2,
		.unit = PERF_BATCH,
		.sides = {HAUL, FUTEX},
	},
	{
		.name = "park-awake",
		.question = "the same, where pollers keep the carriers awake",
		.param = PERF_PARK(2, PERF_IDLE_POLLS),
		.cpus = 2,
		.unit = PERF_BATCH,
		.sides = {HAUL, SPIN, FUTEX},
	},
	{0},
};

int main(int argc, char **argv)
{
	return perf_main(argc, argv, cases);
}
