/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses the CPUs for the carriers of a plan. */
#ifndef HAULI_TOPO_CHOOSE_H
#define HAULI_TOPO_CHOOSE_H

#include <stddef.h>

#include "topo/cpulist.h"
#include "topo/machine.h"

/* The default number of carriers: one per usable core, or with smt one per usable CPU; at most
 * HAUL_CARRIERS_MAX. */
unsigned hauli_choose_count(const struct hauli_machine *m, bool smt);

/*
 * Fills chosen[carriers] with usable CPUs: first siblings of all cores before second ones, then
 * near the NIC before far from it, then neighbours. NULL where CPUs run out. 0 or -ENOMEM.
 */
int hauli_choose(const struct hauli_cpu **chosen, unsigned carriers, const struct hauli_machine *m);

/* Fills chosen with the CPUs that the user has named, in that order. 0, or -EINVAL with one line in
 * errbuf when one of them cannot be used. */
int hauli_choose_named(const struct hauli_cpu **chosen, unsigned carriers,
	const struct hauli_machine *m, const struct hauli_cpulist *named, char *errbuf,
	size_t errlen);

#endif
