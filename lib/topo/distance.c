/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Distance is the cost of moving a coroutine's data, and nothing else. A sibling on the same core
 * shares even the L1 cache, so it is the nearest, although it adds the least computing power. The
 * steal policy decides whether it should help; haul_place.core identifies siblings.
 */
#include "topo/distance.h"

#include <limits.h>
#include <string.h>

enum distance {
	SAME_CORE,
	SAME_CLUSTER_AND_NODE,
	SAME_CLUSTER_AND_PACKAGE, /* only where no cache makes clusters */
	SAME_CLUSTER,
	SAME_NODE,
	SAME_PACKAGE,
	ELSEWHERE,
	DISTANCES,
};

static enum distance distance(const struct haul_place *a, const struct haul_place *b,
	const struct hauli_cpu *cpu_a, const struct hauli_cpu *cpu_b)
{
	bool same_cluster = a->cluster == b->cluster;

	if (!cpu_a || !cpu_b)
		return same_cluster ? SAME_CLUSTER : ELSEWHERE;
	if (a->core == b->core)
		return SAME_CORE;
	if (cpu_a->node == cpu_b->node)
		return same_cluster ? SAME_CLUSTER_AND_NODE : SAME_NODE;
	if (cpu_a->package == cpu_b->package)
		return same_cluster ? SAME_CLUSTER_AND_PACKAGE : SAME_PACKAGE;
	return same_cluster ? SAME_CLUSTER : ELSEWHERE;
}

void hauli_distance_sort(unsigned *by_distance, const struct haul_place *places,
	const struct hauli_cpu *const *cpus, unsigned carriers)
{
	for (unsigned i = 0; i < carriers; i++) {
		for (enum distance d = 0; d < DISTANCES; d++) {
			for (unsigned k = 1; k < carriers; k++) {
				unsigned j = (i + k) % carriers;

				if (distance(&places[i], &places[j], cpus[i], cpus[j]) == d)
					*by_distance++ = j;
			}
		}
	}
}

/* The place that a carrier on cpu would have. Its cluster is UINT_MAX if no carrier of the plan is
 * in the CPU's cluster. */
static struct haul_place place_on(const struct hauli_cpu *cpu, const struct haul_place *places,
	const struct hauli_cpu *const *cpus, unsigned carriers)
{
	struct haul_place place = {.core = (int)cpu->core, .cluster = UINT_MAX};

	for (unsigned i = 0; i < carriers; i++)
		if (cpus[i] && cpus[i]->cluster == cpu->cluster)
			place.cluster = places[i].cluster;
	return place;
}

static unsigned nearest_to(const struct hauli_cpu *cpu, const struct haul_place *places,
	const struct hauli_cpu *const *cpus, unsigned carriers)
{
	struct haul_place place = place_on(cpu, places, cpus, carriers);
	enum distance best = DISTANCES;
	unsigned nearest = 0;

	for (unsigned i = 0; i < carriers; i++) {
		enum distance d = distance(&place, &places[i], cpu, cpus[i]);

		if (cpus[i] == cpu)
			return i;
		if (d < best)
			nearest = i;
		best = d < best ? d : best;
	}
	return nearest;
}

void hauli_distance_nearest(unsigned *nearest, unsigned n, const struct hauli_machine *m,
	const struct haul_place *places, const struct hauli_cpu *const *cpus, unsigned carriers)
{
	memset(nearest, 0, n * sizeof(nearest[0]));
	for (unsigned k = 0; k < m->count; k++)
		nearest[m->cpus[k].cpu] = nearest_to(&m->cpus[k], places, cpus, carriers);
}
