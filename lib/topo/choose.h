/* SPDX-License-Identifier: BSD-3-Clause */
/* Which CPUs the carriers of a plan get. */
#ifndef HAULI_TOPO_CHOOSE_H
#define HAULI_TOPO_CHOOSE_H

#include <stddef.h>

#include "topo/cpulist.h"
#include "topo/machine.h"

/* How many carriers a plan has where the user does not say: one per usable core, with smt one per
 * usable CPU; at most HAUL_CARRIERS_MAX. */
unsigned hauli_choose_count(const struct hauli_machine *m, bool smt);

/*
 * Fills chosen[carriers] with the usable CPUs: whole cores before second siblings, near the
 * NIC before far from it, else as neighbours. Entries for which there are none stay NULL. 0,
 * -ENOMEM.
 */
int hauli_choose(const struct hauli_cpu **chosen, unsigned carriers, const struct hauli_machine *m);

/* The same with the CPUs that the user has named, in that order. 0, or -EINVAL with one line in
 * errbuf when one of them cannot be used. */
int hauli_choose_named(const struct hauli_cpu **chosen, unsigned carriers,
	const struct hauli_machine *m, const struct hauli_cpulist *named, char *errbuf,
	size_t errlen);

#endif
