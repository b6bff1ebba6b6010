/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>

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
	static struct counter all[17];
	const struct sim_counts *n = &w->counts;

	struct counter now[] = {{"tasks", n->came}, {"slices", n->slices}, {"end_ns", w->now},
		{"worked_ns", n->worked}, {"overhead_ns", n->overhead}, {"thefts", n->thefts},
		{"stolen", n->stolen}, {"crossed", n->crossed}, {"failed", n->failed},
		{"looks", n->looks}, {"far_looks", n->far_looks}, {"searches", n->searches},
		{"wakes", n->wakes}, {"barriers", n->barriers}, {"interrupts", n->interrupts},
		{"rescues", n->rescues}, {0}};

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
	for (unsigned i = 0; i < NB_QUANTILES && w->short_times.n > 0; i++)
		printf("\"short_%s_ns\":%" PRIu64 ",", quantiles[i].name,
			sim_times_at(&w->short_times, quantiles[i].q));
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
	for (unsigned i = 0; i < NB_QUANTILES && w->short_times.n > 0; i++)
		printf("%-12s %.1f us, of the short ones\n", quantiles[i].name,
			(double)sim_times_at(&w->short_times, quantiles[i].q) / 1000);
}

void sim_report(const struct sim_world *w)
{
	if (w->o->json)
		report_json(w);
	else
		report(w);
}
