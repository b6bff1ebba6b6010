/* SPDX-License-Identifier: BSD-3-Clause */
/* Which carriers are near to each other. */
#ifndef HAULI_TOPO_DISTANCE_H
#define HAULI_TOPO_DISTANCE_H

#include <haul/topo.h>

#include "topo/machine.h"

/*
 * Fills order[carriers * (carriers - 1)] as struct haul_plan says. cpus[i] is where carrier i
 * is; NULL: it floats.
 */
void hauli_distance_order(unsigned *order, const struct haul_place *places,
	const struct hauli_cpu *const *cpus, unsigned carriers);

/*
 * Fills nearest[n]: for each OS CPU the carrier that is nearest to it, as if a carrier were there;
 * 0 for those that m does not have.
 */
void hauli_distance_nearest(unsigned *nearest, unsigned n, const struct hauli_machine *m,
	const struct haul_place *places, const struct hauli_cpu *const *cpus, unsigned carriers);

#endif
