/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What does it cost a thread outside the runtime to spawn coroutines: in a batch, and one by one?
 * The thread spawns n on a sleeping carrier of another CPU and waits until all have ended. One
 * operation is a coroutine.
 */
#include <stdatomic.h>

#include <rte_pause.h>

#include <haul/haul.h>

#include "harness/carrier.h"
#include "harness/harness.h"
#include "harness/plan.h"

static struct haul_runtime *rt;
static uint64_t batch;
static atomic_uint left;
static uint64_t calling; /* ns that the thread took for the spawns */

static void *body(void *arg)
{
	atomic_fetch_sub(&left, 1);
	return NULL;
}

/* Each side has a runtime; its carrier sleeps while the other side runs. */
static struct haul_runtime *runtimes[2];

static int setup(unsigned side, uint64_t param)
{
	struct haul_plan *plan;
	int err = perf_plan(&plan, 1, 1);

	if (err)
		return err;
	batch = param;
	err = haul_start(&runtimes[side], &(struct haul_runtime_opts){.plan = plan}, NULL, 0);
	haul_plan_destroy(plan);
	return err;
}

static void teardown(unsigned side)
{
	perf_must(haul_stop(runtimes[side], 60 * HAUL_S), "haul_stop");
}

static int setup_many(uint64_t param)
{
	return setup(0, param);
}

static int setup_singly(uint64_t param)
{
	return setup(1, param);
}

static void teardown_many(void)
{
	teardown(0);
}

static void teardown_singly(void)
{
	teardown(1);
}

static uint64_t run(uint64_t n, void (*start)(void))
{
	uint64_t began = perf_now();

	calling = 0;
	for (uint64_t done = 0; done < n; done += batch) {
		uint64_t before = perf_now();

		atomic_store(&left, (unsigned)batch);
		start();
		calling += perf_now() - before;
		while (atomic_load(&left) > 0)
			rte_pause();
	}
	perf_extra("caller_ns", (double)calling / (double)n);
	return perf_now() - began;
}

static void start_many(void)
{
	perf_must(haul_spawn_many(rt, NULL, body, NULL, (unsigned)batch, NULL), "haul_spawn_many");
}

static void start_singly(void)
{
	for (uint64_t i = 0; i < batch; i++)
		perf_must(haul_spawn_any(rt, NULL, body, NULL, NULL), "haul_spawn_any");
}

static uint64_t run_many(uint64_t n)
{
	rt = runtimes[0];
	return run(n, start_many);
}

static uint64_t run_singly(uint64_t n)
{
	rt = runtimes[1];
	return run(n, start_singly);
}

#define CASE(given_name, given_batch)                                                    \
	{                                                                                \
		.name = given_name,                                                      \
		.question = "from outside, start coroutines and wait for their end",     \
		.param = given_batch, .unit = given_batch, .cpus = 2,                    \
		.sides = {                                                               \
			{"haul, all at once", setup_many, run_many, teardown_many},      \
			{"haul, one by one", setup_singly, run_singly, teardown_singly}, \
		},                                                                       \
	}

static const struct perf_case cases[] = {
	CASE("inject/1", 1),
	CASE("inject/8", 8),
	CASE("inject/64", 64),
	CASE("inject/1000", 1000),
	{0},
};

int main(int argc, char **argv)
{
	return perf_main(argc, argv, cases);
}
