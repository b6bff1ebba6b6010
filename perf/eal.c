/* SPDX-License-Identifier: BSD-3-Clause */
#include "eal.h"

#include <stdio.h>
#include <stdlib.h>

#include <haul-dpdk/eal.h>
#include <haul-dpdk/pool.h>

#include "harness.h"

int perf_say(int err, const char *why)
{
	if (err)
		fprintf(stderr, "%s\n", why);
	return err;
}

void perf_must(int err, const char *why)
{
	if (perf_say(err, why))
		exit(1);
}

struct haul_plan *perf_eal(unsigned carriers)
{
	static struct haul_plan *plan;
	struct haul_eal_opts eal = {.program = "perf", .mem_mb = haul_pool_mem_mb(PERF_EAL_MBUFS)};
	char cpus[64], why[256];
	size_t len = 0;

	if (plan)
		return plan;
	for (unsigned i = 0; i < carriers; i++)
		len += (size_t)snprintf(cpus + len, sizeof(cpus) - len, "%s%u-%u", i ? "," : "",
			perf_cpu(i), perf_cpu(i)); /* a CPU alone would be a count */
	if (perf_say(haul_plan_create(
			     &plan, &(struct haul_plan_opts){.cpus = cpus}, why, sizeof(why)),
		    why))
		return NULL;
	eal.plan = plan;
	if (perf_say(haul_eal_init(&eal, why, sizeof(why)), why)) {
		haul_plan_destroy(plan);
		plan = NULL;
	}
	return plan;
}
