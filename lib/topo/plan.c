/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes a plan of the chosen CPUs. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <haul/topo.h>

#include "base/assert.h"
#include "topo/choose.h"
#include "topo/cpulist.h"
#include "topo/distance.h"
#include "topo/machine.h"
#include "topo/usable.h"

#define FLOATS (-1)

void haul_plan_destroy(struct haul_plan *plan)
{
	if (!plan)
		return;
	free(plan->places);
	free(plan->by_distance);
	free(plan->nearest);
	free(plan);
}

static unsigned count_cpus(const struct hauli_machine *m)
{
	unsigned n = 0;

	for (unsigned i = 0; i < m->count; i++)
		if ((unsigned)m->cpus[i].cpu >= n)
			n = (unsigned)m->cpus[i].cpu + 1;
	return n;
}

static struct haul_plan *plan_alloc(unsigned carriers, unsigned cpus)
{
	struct haul_plan *plan = calloc(1, sizeof(*plan));

	if (!plan)
		return NULL;
	plan->carriers = carriers;
	plan->places = calloc(carriers, sizeof(*plan->places));
	/* + 1: a single carrier has no others, and calloc(0) may return NULL. */
	plan->by_distance =
		calloc((size_t)carriers * (carriers - 1) + 1, sizeof(*plan->by_distance));
	plan->cpus = cpus;
	plan->nearest = calloc(cpus, sizeof(*plan->nearest));
	if (plan->places && plan->by_distance && plan->nearest)
		return plan;
	haul_plan_destroy(plan);
	return NULL;
}

/* Maps the machine's cluster numbers to 0, 1, ... in the order of carriers. */
static unsigned renumber(unsigned *seen, unsigned *clusters, unsigned machine_cluster)
{
	for (unsigned c = 0; c < *clusters; c++) {
		if (seen[c] == machine_cluster)
			return c;
	}
	seen[*clusters] = machine_cluster;
	return (*clusters)++;
}

static bool core_taken(const struct haul_plan *plan, unsigned before, int core)
{
	for (unsigned i = 0; i < before; i++) {
		if (plan->places[i].core == core)
			return true;
	}
	return false;
}

static void place(struct haul_plan *plan, unsigned i, const struct hauli_cpu *cpu, unsigned *seen)
{
	plan->places[i] = (struct haul_place){
		.cpu = cpu->cpu,
		.core = (int)cpu->core,
		.node = cpu->node,
		.cluster = renumber(seen, &plan->clusters, cpu->cluster),
		.smt = core_taken(plan, i, (int)cpu->core),
	};
}

/* Floating carriers join the clusters of the pinned ones in turn, so that each can get help. */
static void place_floating(struct haul_plan *plan)
{
	unsigned next = 0;

	if (plan->clusters == 0)
		plan->clusters = 1;
	for (unsigned i = 0; i < plan->carriers; i++) {
		if (plan->places[i].cpu == FLOATS)
			plan->places[i].cluster = next++ % plan->clusters;
	}
}

/* Makes a plan with carrier i on chosen[i]; NULL: it floats. */
static int build(struct haul_plan **plan, const struct hauli_cpu *const *chosen, unsigned carriers,
	const struct hauli_machine *m)
{
	struct haul_plan *p = plan_alloc(carriers, count_cpus(m));
	unsigned *seen = calloc(carriers, sizeof(*seen));

	if (!p || !seen) {
		haul_plan_destroy(p);
		free(seen);
		return -ENOMEM;
	}
	for (unsigned i = 0; i < carriers; i++) {
		p->places[i] = (struct haul_place){.cpu = FLOATS, .core = -1, .node = -1};
		if (chosen[i])
			place(p, i, chosen[i], seen);
		p->places[i].elsewhere = !m->here;
	}
	place_floating(p);
	hauli_distance_sort(p->by_distance, p->places, chosen, carriers);
	hauli_distance_nearest(p->nearest, p->cpus, m, p->places, chosen, carriers);
	free(seen);
	*plan = p;
	return 0;
}

static unsigned floating(const struct hauli_cpu *const *chosen, unsigned carriers)
{
	unsigned n = 0;

	for (unsigned i = 0; i < carriers; i++)
		n += chosen[i] == NULL;
	return n;
}

/* The number of carriers whose pollers can spin in the CPU time that the cgroup allows. */
static unsigned fitting(double cpus, unsigned carriers)
{
	if (cpus == 0 || cpus >= carriers)
		return carriers;
	return cpus < 2 ? 1 : (unsigned)cpus;
}

/* cores: the number that would be used without the cgroup's limit; 0: it was not applied. */
static void note(struct haul_plan *plan, unsigned floats, bool bound, double cpus, unsigned cores)
{
	unsigned pinned = plan->carriers - floats;

	if (cores > plan->carriers)
		snprintf(plan->notice, sizeof(plan->notice),
			"the cgroup allows the time of %.3g CPU%s: %u carrier%s instead of %u",
			cpus, cpus == 1 ? "" : "s", plan->carriers, plan->carriers == 1 ? "" : "s",
			cores);
	else if (!bound)
		snprintf(plan->notice, sizeof(plan->notice),
			"this process may not bind threads to CPUs (a container?): "
			"all %u carriers float, in one cluster",
			plan->carriers);
	else if (floats > 0)
		snprintf(plan->notice, sizeof(plan->notice),
			"%u carriers but only %u CPU%s: %u of them float%s and will be slow",
			plan->carriers, pinned, pinned == 1 ? "" : "s", floats,
			floats == 1 ? "s" : "");
}

/* named: the CPUs in opts->cpus; its count is 0 without them. */
static int plan_machine(struct haul_plan **plan, const struct hauli_machine *m,
	const struct haul_plan_opts *opts, const struct hauli_cpulist *named, char *errbuf,
	size_t errlen)
{
	unsigned carriers = opts->carriers ? opts->carriers : named->count;
	const struct hauli_cpu **chosen;
	/* On a described machine no thread is bound. */
	bool bound = !m->here || hauli_usable_binding();
	double cpus = m->here ? haul_cgroup_cpus() : 0;
	unsigned cores = 0;
	int err;

	if (carriers == 0) {
		cores = hauli_choose_count(m, opts->smt);
		carriers = fitting(cpus, cores);
	}
	chosen = calloc(carriers, sizeof(const struct hauli_cpu *));
	if (!chosen)
		return -ENOMEM;
	err = named->count ? hauli_choose_named(chosen, carriers, m, named, errbuf, errlen)
			   : hauli_choose(chosen, carriers, m);
	if (!bound)
		memset(chosen, 0, carriers * sizeof(const struct hauli_cpu *));
	if (err == 0)
		err = build(plan, chosen, carriers, m);
	if (err == 0)
		note(*plan, floating(chosen, carriers), bound, cpus, cores);
	free(chosen);
	return err;
}

static int check_opts(const struct haul_plan_opts *opts, char *errbuf, size_t errlen)
{
	if (opts->carriers > HAUL_CARRIERS_MAX) {
		snprintf(errbuf, errlen, "carriers %u: too many; at most %u are possible",
			opts->carriers, HAUL_CARRIERS_MAX);
		return -EINVAL;
	}
	if (opts->cpus && opts->near_nic) {
		snprintf(errbuf, errlen,
			"cpus '%s' and near_nic '%s': both choose the CPUs; give one of them",
			opts->cpus, opts->near_nic);
		return -EINVAL;
	}
	return 0;
}

int haul_plan_create(
	struct haul_plan **plan, const struct haul_plan_opts *opts, char *errbuf, size_t errlen)
{
	static const struct haul_plan_opts defaults;
	struct hauli_machine m;
	struct hauli_cpulist named = {0};
	int err;

	HAUL_MISUSE_IF(!plan, "the address for the plan is NULL");
	if (!opts)
		opts = &defaults;
	err = check_opts(opts, errbuf, errlen);
	if (err == 0 && opts->cpus)
		err = hauli_cpulist_parse(&named, opts->cpus, errbuf, errlen);
	if (err == 0)
		err = hauli_machine_init(&m, opts->machine, opts->near_nic, errbuf, errlen);
	if (err == 0) {
		err = plan_machine(plan, &m, opts, &named, errbuf, errlen);
		hauli_machine_fini(&m);
	}
	if (err == -ENOMEM)
		snprintf(errbuf, errlen, "no memory for a plan of the carriers");
	free(named.cpus);
	return err;
}
