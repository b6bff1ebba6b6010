/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdlib.h>

#include "sim.h"

static const struct {
	const char *name;
	double q;
} quantiles[] = {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p999", 0.999}};

#define NB_QUANTILES (sizeof(quantiles) / sizeof(quantiles[0]))

static struct counter {
	const char *name;
	uint64_t n;
} * counters(const struct sim_world *w)
{
	static struct counter all[16];
	const struct sim_counts *n = &w->counts;

	struct counter now[] = {{"tasks", n->came}, {"slices", n->slices}, {"end_ns", w->now},
		{"worked_ns", n->worked}, {"overhead_ns", n->overhead}, {"thefts", n->thefts},
		{"stolen", n->stolen}, {"crossed", n->crossed}, {"failed", n->failed},
		{"looks", n->looks}, {"far_looks", n->far_looks}, {"searches", n->searches},
		{"wakes", n->wakes}, {"barriers", n->barriers}, {"interrupts", n->interrupts}, {0}};

	for (unsigned i = 0; i < sizeof(now) / sizeof(now[0]); i++)
		all[i] = now[i];
	return all;
}

static double mean(const struct sim_world *w)
{
	return w->times.n ? (double)w->times.sum / (double)w->times.n : 0;
}

static void report_json(const struct sim_world *w)
{
	printf("{");
	sim_options_json(stdout, w->o);
	for (const struct counter *c = counters(w); c->name; c++)
		printf("\"%s\":%" PRIu64 ",", c->name, c->n);
	for (unsigned i = 0; i < NB_QUANTILES; i++)
		printf("\"%s_ns\":%" PRIu64 ",", quantiles[i].name,
			sim_times_at(&w->times, quantiles[i].q));
	printf("\"mean_ns\":%.0f,\"max_ns\":%" PRIu64 "}\n", mean(w), w->times.most);
}

static void report(const struct sim_world *w)
{
	for (const struct counter *c = counters(w); c->name; c++)
		printf("%-12s %" PRIu64 "\n", c->name, c->n);
	printf("%-12s %.1f us\n", "mean", mean(w) / 1000);
	for (unsigned i = 0; i < NB_QUANTILES; i++)
		printf("%-12s %.1f us\n", quantiles[i].name,
			(double)sim_times_at(&w->times, quantiles[i].q) / 1000);
	printf("%-12s %.1f us\n", "max", (double)w->times.most / 1000);
}

static struct haul_plan *plan_machine(const struct sim_opts *o)
{
	char machine[64], why[256];
	struct haul_plan *plan;

	snprintf(machine, sizeof(machine), "package:1 l3:%" PRIu64 " core:%" PRIu64 " pu:1",
		o->clusters, o->carriers / o->clusters);
	if (haul_plan_create(&plan,
		    &(struct haul_plan_opts){.carriers = (unsigned)o->carriers, .machine = machine},
		    why, sizeof(why)) == 0)
		return plan;
	fprintf(stderr, "sim: machine '%s': %s\n", machine, why);
	return NULL;
}

static int run(struct sim_world *w, const struct haul_plan *plan)
{
	int err;

	for (unsigned i = 0; i < plan->carriers; i++)
		sim_carrier_init(&w->carriers[i], w, i, plan->places[i].cluster);
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
	plan = plan_machine(&o);
	if (!plan || run(&w, plan) != 0)
		return EXIT_FAILURE;
	haul_plan_destroy(plan);
	if (o.json)
		report_json(&w);
	else
		report(&w);
	return EXIT_SUCCESS;
}
