/* SPDX-License-Identifier: BSD-3-Clause */
#include "topo/choose.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <haul/topo.h>

unsigned hauli_choose_count(const struct hauli_machine *m, bool smt)
{
	unsigned n = 0;

	for (unsigned i = 0; i < m->count; i++)
		n += m->cpus[i].usable && (smt || m->cpus[i].sibling == 0);
	return n < HAUL_CARRIERS_MAX ? n : HAUL_CARRIERS_MAX;
}

/* The order in which carriers get CPUs: first siblings of all cores before second ones, then near
 * the NIC before far from it. */
static bool goes_before(const struct hauli_cpu *a, const struct hauli_cpu *b)
{
	if (a->sibling != b->sibling)
		return a->sibling < b->sibling;
	return a->far < b->far;
}

static int compare(const void *x, const void *y)
{
	const struct hauli_cpu *a = *(const struct hauli_cpu *const *)x;
	const struct hauli_cpu *b = *(const struct hauli_cpu *const *)y;

	if (goes_before(a, b) || goes_before(b, a))
		return goes_before(a, b) ? -1 : 1;
	/* Both point into one table, in which neighbours are next to each other. */
	return (a > b) - (a < b);
}

int hauli_choose(const struct hauli_cpu **chosen, unsigned carriers, const struct hauli_machine *m)
{
	const struct hauli_cpu **usable = calloc(m->usable, sizeof(const struct hauli_cpu *));
	unsigned n = 0;

	if (!usable)
		return -ENOMEM;
	for (unsigned i = 0; i < m->count; i++) {
		if (m->cpus[i].usable)
			usable[n++] = &m->cpus[i];
	}
	qsort(usable, n, sizeof(const struct hauli_cpu *), compare);
	for (unsigned i = 0; i < carriers; i++)
		chosen[i] = i < n ? usable[i] : NULL;
	free(usable);
	return 0;
}

int hauli_choose_named(const struct hauli_cpu **chosen, unsigned carriers,
	const struct hauli_machine *m, const struct hauli_cpulist *named, char *errbuf,
	size_t errlen)
{
	char have[128];

	for (unsigned i = 0; i < named->count; i++) {
		const struct hauli_cpu *cpu = hauli_machine_cpu(m, named->cpus[i]);

		if (!cpu || !hauli_cpu_nameable(cpu)) {
			hauli_machine_list(m, cpu != NULL, have, sizeof(have));
			snprintf(errbuf, errlen,
				cpu ? "cpus '%s': CPU %d is not usable by this process; "
				      "its affinity mask and cgroup leave %s"
				    : "cpus '%s': there is no CPU %d; the machine has %s",
				named->text, named->cpus[i], have);
			return -EINVAL;
		}
		if (i < carriers)
			chosen[i] = cpu;
	}
	return 0;
}
