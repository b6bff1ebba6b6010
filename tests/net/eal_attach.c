/* SPDX-License-Identifier: BSD-3-Clause */
/* EAL started by the program: its worker lcores become carriers on their CPUs. */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include <haul-dpdk/eal.h>
#include <haul/runtime.h>

#include <rte_eal.h>
#include <rte_lcore.h>

#include "support/suite.h"

#define TIMEOUT (10 * HAUL_S)

/* For each carrier: the lcore that EAL's command line (below) gives it. */
static const struct {
	unsigned lcore;
	int cpu; /* 0: the first usable CPU; -1: floats */
} expected[] = {
	{7, 0}, {3, -1}, /* it floats, so it comes last */
	{9, -1}, /* it shares 7's CPU */
};

static int first_cpu;

struct seen {
	unsigned lcore;
	int cpu;
};

static void *look(void *arg)
{
	struct seen *seen = arg;

	seen->lcore = rte_lcore_id();
	seen->cpu = sched_getcpu();
	return NULL;
}

START_TEST(workers_become_carriers)
{
	struct haul_runtime_opts opts = {.launcher = haul_eal_launcher()};
	struct haul_runtime *rt;
	struct haul_plan *plan;
	char err[256];

	ck_assert_int_eq(haul_eal_attach(&plan, err, sizeof(err)), 0);
	ck_assert_uint_eq(plan->carriers, 3);
	opts.plan = plan;
	ck_assert_int_eq(haul_start(&rt, &opts, NULL, 0), 0);
	for (unsigned i = 0; i < plan->carriers; i++) {
		struct haul_coro *co;
		struct seen seen;

		ck_assert_int_eq(
			plan->places[i].cpu, expected[i].cpu == 0 ? first_cpu : expected[i].cpu);
		ck_assert_int_eq(haul_spawn_on(haul_carrier(rt, i), &co, look, &seen, NULL), 0);
		ck_assert_int_eq(haul_join(co, NULL, HAUL_FOREVER), 0);
		ck_assert_uint_eq(seen.lcore, expected[i].lcore);
		if (expected[i].cpu == 0)
			ck_assert_int_eq(seen.cpu, first_cpu);
	}
	ck_assert_int_eq(haul_stop(rt, TIMEOUT), 0);
	haul_plan_destroy(plan);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {{workers_become_carriers}};
	char lcores[256];
	char *argv[] = {"eal_attach", lcores, "--main-lcore=1", "-m64", "--no-huge", "--no-shconf",
		"--no-pci", "--no-telemetry", "--log-level=error"};
	char all[128] = "";
	cpu_set_t set;
	int rc;

	sched_getaffinity(0, sizeof(set), &set);
	first_cpu = -1;
	for (int cpu = 0; cpu < CPU_SETSIZE && strlen(all) < 100; cpu++) {
		if (!CPU_ISSET(cpu, &set))
			continue;
		if (first_cpu < 0)
			first_cpu = cpu;
		snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%d", all[0] ? "," : "",
			cpu);
	}
	if (CPU_COUNT(&set) < 2) {
		printf("1..0 # SKIP one CPU: none floats\n");
		return 0;
	}
	snprintf(lcores, sizeof(lcores), "--lcores=1@(%s),3@(%s),7@%d,9@%d", all, all, first_cpu,
		first_cpu);
	if (rte_eal_init(sizeof(argv) / sizeof(argv[0]), argv) < 0)
		return 1;
	rc = suite_run("eal_attach", tests, 1);
	rte_eal_cleanup();
	return rc;
}
