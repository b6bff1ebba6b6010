/* SPDX-License-Identifier: BSD-3-Clause */
/* Is the harness right? Nothing must cost nothing, two equal sides must be equal, twice the work
 * must take twice the time. perf/run checks the first three cases. */
#include "harness/harness.h"

static uint64_t run_nothing(uint64_t n)
{
	uint64_t start = perf_now();

	for (uint64_t i = 0; i < n; i++)
		PERF_KEEP(i);
	return perf_now() - start;
}

/* A batch of n dependent additions. */
static inline __attribute__((always_inline)) uint64_t chain(uint64_t n, unsigned links)
{
	uint64_t start = perf_now();
	uint64_t x = start;

	for (uint64_t i = 0; i < n; i++) {
#pragma GCC unroll 32
		for (unsigned k = 0; k < links; k++) {
			x += x >> 7;
			asm volatile("" : "+r"(x));
		}
		PERF_KEEP(x);
	}
	return perf_now() - start;
}

static uint64_t run_batch(uint64_t n)
{
	return chain(n, 16);
}

static uint64_t run_chain_again(uint64_t n)
{
	return chain(n, 16);
}

static uint64_t run_chain_twice(uint64_t n)
{
	return chain(n, 32);
}

static const struct perf_case cases[] = {
	{
		.name = "harness/nothing",
		.question = "an empty operation: near zero",
		.sides = {{"nothing", .run = run_nothing}},
	},
	{
		.name = "harness/same",
		.question = "the same code on both sides: ratio near 1",
		.sides = {{"batch", .run = run_batch}, {"batch-again", .run = run_chain_again}},
	},
	{
		.name = "harness/twice",
		.question = "half the work beside all of it: ratio near 0.5",
		.sides = {{"batch", .run = run_batch}, {"batch-twice", .run = run_chain_twice}},
	},
	{0},
};

int main(int argc, char **argv)
{
	return perf_main(argc, argv, cases);
}
