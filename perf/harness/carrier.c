/* SPDX-License-Identifier: BSD-3-Clause */
#include "harness/carrier.h"

#include <semaphore.h>

#include <haul/coro.h>
#include <haul/driver.h>

#include "harness/harness.h"
#include "harness/plan.h"

static struct haul_runtime *rt;

static sem_t sibling_ends;
static struct haul_coro *sibling;

static void *block_sibling(void *arg)
{
	while (sem_wait(&sibling_ends) < 0)
		;
	return NULL;
}

/* On the case's CPUs, like the others. */
static int start_with_sibling(unsigned n)
{
	struct haul_plan *plan;
	int err = haul_plan_create(&plan, &(struct haul_plan_opts){.carriers = n + 1}, NULL, 0);

	if (err)
		return err;
	err = haul_start(&rt, &(struct haul_runtime_opts){.plan = plan, .steal = HAUL_STEAL_GLOBAL},
		NULL, 0);
	haul_plan_destroy(plan);
	if (err)
		return err;
	sem_init(&sibling_ends, 0, 0);
	return haul_spawn_on(perf_carrier(n), &sibling, block_sibling, NULL, NULL);
}

static void *poll(void *arg)
{
	while (haul_maybe_yield(false))
		;
	return arg;
}

int perf_carriers_start_with(unsigned n, const struct haul_runtime_opts *wish)
{
	struct haul_runtime_opts opts = *wish;
	struct haul_plan *plan;
	int err;

	if (perf_has_sibling())
		return start_with_sibling(n);
	err = perf_plan(&plan, 0, n);
	if (err)
		return err;
	opts.plan = plan;
	err = haul_start(&rt, &opts, NULL, 0);
	haul_plan_destroy(plan);
	return err;
}

int perf_carriers_start_idle(unsigned n, enum perf_idle idle)
{
	const struct haul_runtime_opts opts = {.spin_ns = idle == PERF_IDLE_SLEEPS};
	int err = perf_carriers_start_with(n, &opts);

	if (!err && idle == PERF_IDLE_POLLS)
		for (unsigned i = 0; i < n; i++)
			perf_must(haul_poller_register(perf_carrier(i), NULL, poll, NULL, NULL),
				"haul_poller_register");
	return err;
}

int perf_carriers_start(unsigned n)
{
	return perf_carriers_start_idle(n, PERF_IDLE_SPINS);
}

void perf_carriers_stop(void)
{
	if (sibling) {
		sem_post(&sibling_ends);
		perf_must(haul_join(sibling, NULL, HAUL_FOREVER), "haul_join");
		sibling = NULL;
	}
	perf_must(haul_stop(rt, 60 * HAUL_S), "haul_stop");
	rt = NULL;
}

struct haul_carrier *perf_carrier(unsigned i)
{
	return haul_carrier(rt, i);
}

struct job {
	uint64_t (*body)(uint64_t n);
	uint64_t n;
	uint64_t result;
};

static void *run_job(void *arg)
{
	struct job *job = arg;

	job->result = job->body(job->n);
	return NULL;
}

uint64_t perf_on_carrier(uint64_t (*body)(uint64_t n), uint64_t n)
{
	struct job job = {.body = body, .n = n};
	struct haul_coro *co;

	perf_must(haul_spawn_on(perf_carrier(0), &co, run_job, &job, NULL), "haul_spawn_on");
	perf_must(haul_join(co, NULL, HAUL_FOREVER), "haul_join");
	return job.result;
}

uint64_t perf_slices(void)
{
	struct haul_carrier_stats st;

	haul_carrier_get_stats(perf_carrier(0), &st);
	return st.slices;
}
