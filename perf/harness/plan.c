/* SPDX-License-Identifier: BSD-3-Clause */
#include "harness/plan.h"

#include <stdio.h>
#include <string.h>

#include "harness/harness.h"

int perf_plan(struct haul_plan **plan, unsigned first, unsigned n)
{
	char cpus[64] = "", why[256];
	int err;

	for (unsigned i = 0; i < n; i++) {
		size_t used = strlen(cpus);

		snprintf(cpus + used, sizeof(cpus) - used, "%s%u", i ? "," : "",
			perf_cpu(first + i));
	}
	err = haul_plan_create(plan, &(struct haul_plan_opts){.cpus = cpus}, why, sizeof(why));
	if (err)
		fprintf(stderr, "carriers on CPUs %s: %s\n", cpus, why);
	return err;
}
