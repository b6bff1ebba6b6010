/* SPDX-License-Identifier: BSD-3-Clause */
/* Orders carriers by distance. */
#ifndef HAULI_TOPO_DISTANCE_H
#define HAULI_TOPO_DISTANCE_H

#include <haul/topo.h>

#include "topo/machine.h"

/*
 * Fills by_distance[carriers * (carriers - 1)] as documented in struct haul_plan. cpus[i] is the
 * CPU of carrier i; NULL: it floats.
 */
void hauli_distance_sort(unsigned *by_distance, const struct haul_place *places,
	const struct hauli_cpu *const *cpus, unsigned carriers);

/*
 * Fills nearest[n]: for each OS CPU the carrier nearest to it, by the distance that a carrier on
 * that CPU would have; 0 for CPUs that m does not have.
 */
void hauli_distance_nearest(unsigned *nearest, unsigned n, const struct hauli_machine *m,
	const struct haul_place *places, const struct hauli_cpu *const *cpus, unsigned carriers);

#endif
