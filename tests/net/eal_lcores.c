/* SPDX-License-Identifier: BSD-3-Clause */
/* EAL started by haul: the plan's carriers are lcores, with the plan's CPUs and names. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include <haul-dpdk/eal.h>
#include <haul/runtime.h>

#include <rte_lcore.h>
#include <rte_mempool.h>

#include "support/suite.h"

#define CARRIERS 3
#define TIMEOUT (10 * HAUL_S)

/* The place of a coroutine, as the coroutine sees it. */
struct seen {
	unsigned carrier;
	unsigned lcore;
	int cpus; /* number of CPUs in its mask */
	int cpu; /* the CPU, if there is one */
	char name[16];
};

static struct haul_plan *plan;
static cpu_set_t before;

static void *look(void *arg)
{
	struct seen *seen = arg;
	cpu_set_t set;

	seen->carrier = haul_carrier_id(haul_carrier_self());
	seen->lcore = rte_lcore_id();
	sched_getaffinity(0, sizeof(set), &set);
	seen->cpus = CPU_COUNT(&set);
	seen->cpu = sched_getcpu();
	pthread_getname_np(pthread_self(), seen->name, sizeof(seen->name));
	return NULL;
}

static struct haul_runtime *start(void)
{
	const struct haul_runtime_opts opts = {.plan = plan, .launcher = haul_eal_launcher()};
	struct haul_runtime *rt;

	ck_assert_int_eq(haul_start(&rt, &opts, NULL, 0), 0);
	return rt;
}

START_TEST(carriers_are_lcores)
{
	struct haul_runtime *rt = start();
	struct seen seen[CARRIERS];
	struct haul_coro *co[CARRIERS];

	for (unsigned i = 0; i < CARRIERS; i++)
		ck_assert_int_eq(
			haul_spawn_on(haul_carrier(rt, i), &co[i], look, &seen[i], NULL), 0);
	for (unsigned i = 0; i < CARRIERS; i++) {
		char prefix[16];

		ck_assert_int_eq(haul_join(co[i], NULL, HAUL_FOREVER), 0);
		ck_assert_uint_eq(seen[i].carrier, i);
		ck_assert_uint_eq(seen[i].lcore, i);
		snprintf(prefix, sizeof(prefix), "haul%u.c", i);
		ck_assert_msg(
			strncmp(seen[i].name, prefix, strlen(prefix)) == 0, "%s", seen[i].name);
		if (plan->places[i].cpu < 0) {
			ck_assert_int_eq(seen[i].cpus, CPU_COUNT(&before));
			continue;
		}
		ck_assert_int_eq(seen[i].cpus, 1);
		ck_assert_int_eq(seen[i].cpu, plan->places[i].cpu);
	}
	ck_assert_int_eq(haul_stop(rt, TIMEOUT), 0);
}
END_TEST

START_TEST(main_lcore_is_none_of_them)
{
	cpu_set_t set, others = before;

	for (unsigned i = 0; i < CARRIERS; i++)
		if (plan->places[i].cpu >= 0)
			CPU_CLR(plan->places[i].cpu, &others);
	ck_assert_uint_eq(rte_get_main_lcore(), CARRIERS);
	ck_assert_uint_eq(rte_lcore_id(), CARRIERS);
	ck_assert_uint_eq(rte_lcore_count(), CARRIERS + 1);
	sched_getaffinity(0, sizeof(set), &set);
	ck_assert_msg(CPU_EQUAL(&set, CPU_COUNT(&others) > 0 ? &others : &before),
		"the main lcore floats where no carrier is, or everywhere");
}
END_TEST

START_TEST(lcores_serve_one_runtime_after_the_other)
{
	const struct haul_runtime_opts opts = {.plan = plan, .launcher = haul_eal_launcher()};
	struct haul_runtime *rt = start(), *second = NULL;

	ck_assert_int_eq(haul_start(&second, &opts, NULL, 0), -EBUSY);
	ck_assert_int_eq(haul_stop(rt, TIMEOUT), 0);
	rt = start();
	ck_assert_int_eq(haul_stop(rt, TIMEOUT), 0);
}
END_TEST

START_TEST(more_carriers_than_lcores)
{
	struct haul_plan_opts plan_opts = {.carriers = CARRIERS + 1};
	struct haul_runtime_opts opts = {.launcher = haul_eal_launcher()};
	struct haul_plan *larger;
	struct haul_runtime *rt = NULL;
	char err[256];

	ck_assert_int_eq(haul_plan_create(&larger, &plan_opts, err, sizeof(err)), 0);
	opts.plan = larger;
	ck_assert_int_eq(haul_start(&rt, &opts, NULL, 0), -EINVAL);
	haul_plan_destroy(larger);
}
END_TEST

START_TEST(once_per_process)
{
	const struct haul_eal_opts opts = {.program = "again", .plan = plan};
	char err[256];

	ck_assert_int_eq(haul_eal_init(&opts, err, sizeof(err)), -EALREADY);
	ck_assert_msg(strstr(err, "EAL was started before") != NULL, "%s", err);
}
END_TEST

/* Memory works on carriers too: the lcore selects a pool's cache. */
static void *use_pool(void *arg)
{
	struct rte_mempool *pool = arg;
	void *obj;

	if (rte_mempool_get(pool, &obj) != 0)
		return NULL;
	rte_mempool_put(pool, obj);
	return rte_mempool_default_cache(pool, rte_lcore_id());
}

START_TEST(carriers_have_pool_caches)
{
	struct haul_runtime *rt = start();
	struct rte_mempool *pool =
		rte_mempool_create("t", 1023, 64, 64, 0, NULL, NULL, NULL, NULL, SOCKET_ID_ANY, 0);
	struct haul_coro *co;
	void *cache;

	ck_assert_ptr_nonnull(pool);
	ck_assert_int_eq(haul_spawn_on(haul_carrier(rt, 1), &co, use_pool, pool, NULL), 0);
	ck_assert_int_eq(haul_join(co, &cache, HAUL_FOREVER), 0);
	ck_assert_ptr_nonnull(cache);
	ck_assert_ptr_eq(cache, rte_mempool_default_cache(pool, 1));
	ck_assert_int_eq(haul_stop(rt, TIMEOUT), 0);
	rte_mempool_free(pool);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{carriers_are_lcores},
		{main_lcore_is_none_of_them},
		{lcores_serve_one_runtime_after_the_other},
		{more_carriers_than_lcores},
		{once_per_process},
		{carriers_have_pool_caches},
	};
	struct haul_plan_opts plan_opts = {.carriers = CARRIERS};
	struct haul_eal_opts opts = {.program = "eal_lcores", .mem_mb = 64, .restartable = true};
	cpu_set_t after;
	char err[256];
	int rc;

	sched_getaffinity(0, sizeof(before), &before);
	if (haul_plan_create(&plan, &plan_opts, err, sizeof(err)) < 0) {
		fprintf(stderr, "%s\n", err);
		return 1;
	}
	opts.plan = plan;
	if (haul_eal_init(&opts, err, sizeof(err)) < 0) {
		fprintf(stderr, "%s\n", err);
		return 1;
	}
	rc = suite_run("eal_lcores", tests, sizeof(tests) / sizeof(tests[0]));
	haul_eal_fini();
	sched_getaffinity(0, sizeof(after), &after);
	haul_plan_destroy(plan);
	return CPU_EQUAL(&before, &after) ? rc : 1;
}
