/* SPDX-License-Identifier: BSD-3-Clause */
/* A runtime for tests in simulations without a network. */
#ifndef HAUL_TESTS_SIM_STARTED_H
#define HAUL_TESTS_SIM_STARTED_H

#include <haul-sim/main.h>
#include <haul/haul.h>

static inline struct haul_runtime *started(unsigned carriers, struct haul_runtime_opts opts)
{
	const struct haul_plan_opts plan_opts = {.carriers = carriers};
	struct haul_plan *plan;
	struct haul_runtime *rt;
	char err[256] = "";

	if (haul_plan_create(&plan, &plan_opts, err, sizeof(err)) != 0)
		haul_sim_fail("no plan: %s", err);
	opts.plan = plan;
	if (haul_start(&rt, &opts, err, sizeof(err)) != 0)
		haul_sim_fail("no runtime: %s", err);
	haul_plan_destroy(plan);
	return rt;
}

#endif
