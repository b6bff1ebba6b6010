/* SPDX-License-Identifier: BSD-3-Clause */
/* What does a scope with children cost, beside coroutines that are joined one by one? */
#include <haul/coro.h>
#include <haul/scope.h>

#include "harness/carrier.h"
#include "harness/harness.h"

#define CHILDREN 2

static int setup(uint64_t param)
{
	return perf_carriers_start(1);
}

static int child(void *arg)
{
	PERF_KEEP(arg);
	return 0;
}

static uint64_t scope_each(uint64_t n)
{
	uint64_t start = perf_now();

	for (uint64_t i = 0; i < n; i++) {
		HAUL_SCOPE(scope, HAUL_FOREVER, HAUL_SCOPE_FAIL_FAST);

		for (int k = 0; k < CHILDREN; k++)
			perf_must(haul_scope_spawn(&scope, child, &i, NULL), "haul_scope_spawn");
		perf_must(haul_scope_join(&scope), "haul_scope_join");
	}
	return perf_now() - start;
}

static uint64_t run_scope(uint64_t n)
{
	return perf_on_carrier(scope_each, n);
}

static void *body(void *arg)
{
	PERF_KEEP(arg);
	return NULL;
}

static uint64_t join_each(uint64_t n)
{
	uint64_t start = perf_now();

	for (uint64_t i = 0; i < n; i++) {
		struct haul_coro *co[CHILDREN];

		for (int k = 0; k < CHILDREN; k++)
			perf_must(haul_spawn(&co[k], body, &i, NULL), "haul_spawn");
		for (int k = 0; k < CHILDREN; k++)
			perf_must(haul_join(co[k], NULL, HAUL_FOREVER), "haul_join");
	}
	return perf_now() - start;
}

static uint64_t run_join(uint64_t n)
{
	return perf_on_carrier(join_each, n);
}

static const struct perf_case cases[] = {
	{
		.name = "scope",
		.question = "a scope that fails fast, with two children, joined (go: as errgroup)",
		.sides =
			{
				{"haul", setup, run_scope, perf_carriers_stop},
				{"go", .program = "peer-go"},
				{"spawn+join", NULL, run_join, NULL},
			},
	},
	{0},
};

int main(int argc, char **argv)
{
	return perf_main(argc, argv, cases);
}
