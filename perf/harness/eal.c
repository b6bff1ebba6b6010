/* SPDX-License-Identifier: BSD-3-Clause */
#include "harness/eal.h"

#include <stdio.h>

#include <haul-dpdk/eal.h>
#include <haul-dpdk/pool.h>

#include "harness/plan.h"

int perf_say(int err, const char *why)
{
	if (err)
		fprintf(stderr, "%s\n", why);
	return err;
}

struct haul_plan *perf_eal(unsigned carriers)
{
	static struct haul_plan *plan;
	/* The same on every machine: earlier cases may have been measured already, so the program
	 * cannot restart itself if huge pages get lost. */
	static char *args[] = {"--no-huge"};
	struct haul_eal_opts eal = {.program = "perf",
		.mem_mb = haul_pool_mem_mb(PERF_EAL_MBUFS),
		.args = args,
		.nb_args = 1};
	char why[256];

	if (plan)
		return plan;
	if (perf_plan(&plan, 0, carriers))
		return NULL;
	eal.plan = plan;
	if (perf_say(haul_eal_init(&eal, why, sizeof(why)), why)) {
		haul_plan_destroy(plan);
		plan = NULL;
	}
	return plan;
}
