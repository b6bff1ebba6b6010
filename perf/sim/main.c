/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "sim.h"

static int run(struct sim_world *w, const struct haul_plan *plan)
{
	int err;

	for (unsigned i = 0; i < plan->carriers; i++)
		sim_carrier_init(&w->carriers[i], w, i, plan->places[i].cluster);
	for (unsigned i = 0; i < w->o->rescuers; i++)
		sim_rescuer_init(&w->rescuers[i], w, plan->carriers + 1 + i);
	sim_carrier_init(&w->outside, w, plan->carriers, plan->clusters);
	w->payer = &w->outside;
	sim_load_init(&w->load, w->o, plan);
	err = sim_groups_init(w, plan);
	if (err) {
		fprintf(stderr, "sim: no memory for %u carriers\n", plan->carriers);
		return err;
	}
	err = sim_run(w);
	sim_groups_fini(w);
	return err;
}

int main(int argc, char **argv)
{
	static struct sim_opts o;
	static struct sim_world w = {.o = &o};
	int err = sim_options(&o, argc, argv);
	struct haul_plan *plan;

	if (err)
		return err > 0 ? EXIT_SUCCESS : 2;
	plan = sim_plan(&o);
	if (!plan || run(&w, plan) != 0)
		return EXIT_FAILURE;
	haul_plan_destroy(plan);
	sim_report(&w);
	return EXIT_SUCCESS;
}
