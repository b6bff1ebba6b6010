/* SPDX-License-Identifier: BSD-3-Clause */
/* A user's program with drivers-glue: EAL's lcores as carriers. */
#include <stdio.h>
#include <string.h>

#include <rte_lcore.h>

#include <haul-dpdk/eal.h>
#include <haul-dpdk/io.h>
#include <haul-dpdk/port.h>
#include <haul/haul.h>

static void *lcore(void *arg)
{
	(void)arg;
	return (void *)(uintptr_t)(rte_lcore_id() != LCORE_ID_ANY);
}

int main(void)
{
	struct haul_plan_opts wish = {.carriers = 2};
	struct haul_eal_opts eal = {.program = "lcores", .restartable = true};
	struct haul_runtime_opts opts = {0};
	struct haul_plan *plan;
	struct haul_runtime *rt;
	unsigned on_lcores = 0;
	char err[256] = "";

	if (haul_plan_create(&plan, &wish, err, sizeof(err)))
		goto failed;
	eal.plan = plan;
	if (haul_eal_init(&eal, err, sizeof(err)))
		goto failed;
	opts.plan = plan;
	opts.launcher = haul_eal_launcher();
	if (haul_start(&rt, &opts, NULL, 0))
		goto failed;
	for (unsigned i = 0; i < haul_carriers(rt); i++) {
		struct haul_coro *co;
		void *yes;

		if (haul_spawn_on(haul_carrier(rt, i), &co, lcore, NULL, NULL))
			goto failed;
		haul_join(co, &yes, HAUL_FOREVER);
		on_lcores += (uintptr_t)yes;
	}
	if (haul_stop(rt, HAUL_FOREVER))
		goto failed;
	haul_eal_fini();
	haul_plan_destroy(plan);
	printf("carriers on lcores %u\n", on_lcores);
	return 0;
failed:
	fprintf(stderr, "failed: %s\n", err);
	return 1;
}
