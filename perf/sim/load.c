/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <math.h>

#include "sim.h"

static double uniform(struct sim_load *l) /* above 0, up to 1 */
{
	return (double)((hauli_random_next(&l->random) >> 11) + 1) * 0x1p-53;
}

static double mean_service(const struct sim_opts *o)
{
	double mean = (double)o->mean;

	if (o->service == SIM_BIMODAL)
		mean = mean * (1 - o->long_share - o->longest_share) +
			(double)o->long_ns * o->long_share +
			(double)o->longest_ns * o->longest_share;
	return mean * (double)o->slices;
}

/* The share of the rank-th busiest carrier. */
static double share(const struct sim_opts *o, unsigned rank)
{
	if (o->zipf > 0)
		return pow(rank + 1, -o->zipf);
	if (o->hot == 0)
		return 1;
	if (rank < o->hot)
		return o->hot_share / (double)o->hot;
	return (1 - o->hot_share) / (double)(o->carriers - o->hot);
}

/* Ranks alternate between the clusters, unless they are packed. */
static void set_shares(struct sim_load *l, const struct haul_plan *plan)
{
	double shares[SIM_CARRIERS_MAX], sum = 0;
	unsigned rank = 0;

	for (unsigned turn = 0; rank < plan->carriers; turn++) {
		unsigned in[SIM_CARRIERS_MAX] = {0}; /* earlier carriers of the cluster */

		for (unsigned i = 0; i < plan->carriers; i++) {
			unsigned cluster = l->o->packed ? 0 : plan->places[i].cluster;

			if (in[cluster]++ == turn || l->o->packed)
				shares[i] = share(l->o, rank++);
		}
	}
	for (unsigned i = 0; i < plan->carriers; i++)
		l->upto[i] = sum += shares[i];
	for (unsigned i = 0; i < plan->carriers; i++)
		l->upto[i] /= sum;
}

void sim_load_init(struct sim_load *l, const struct sim_opts *o, const struct haul_plan *plan)
{
	l->o = o;
	hauli_random_init(&l->random, o->seed);
	l->between = mean_service(o) * (double)o->burst / (o->load * (double)o->carriers);
	l->at = 0;
	set_shares(l, plan);
	if (o->arrive == SIM_SOURCE)
		l->next_at = SIM_NEVER;
	else
		sim_load_next(l);
}

void sim_load_next(struct sim_load *l)
{
	l->at += -log(uniform(l)) * l->between;
	l->next_at = l->at < (double)l->o->us * 1000 ? (uint64_t)l->at : SIM_NEVER;
}

unsigned sim_load_carrier(struct sim_load *l)
{
	double at = uniform(l);
	unsigned from = 0, to = (unsigned)l->o->carriers - 1;

	while (from < to) {
		unsigned half = (from + to) / 2;

		if (l->upto[half] < at)
			from = half + 1;
		else
			to = half;
	}
	return from;
}

uint64_t sim_load_service(struct sim_load *l)
{
	const struct sim_opts *o = l->o;
	double x;

	switch ((enum sim_service)o->service) {
	case SIM_EXP:
		return (uint64_t)(-log(uniform(l)) * (double)o->mean) + 1;
	case SIM_BIMODAL:
		x = uniform(l);
		if (x <= o->long_share)
			return o->long_ns;
		return x <= o->long_share + o->longest_share ? o->longest_ns : o->mean;
	case SIM_CONST:
		break;
	}
	return o->mean;
}

struct haul_plan *sim_plan(const struct sim_opts *o)
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
