/* SPDX-License-Identifier: BSD-3-Clause */
/* Where carriers go: the machine as hwloc sees it, turned into a plan of plain tables. */
#ifndef HAUL_TOPO_H
#define HAUL_TOPO_H

#include <stdio.h>

#include <haul/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A plan has no more carriers than this. */
#define HAUL_CARRIERS_MAX 1024u

/* What to plan for. All zero means: this machine, one carrier per physical core. */
struct haul_plan_opts {
	unsigned carriers; /* how many; 0: one per usable physical core, or one per entry of cpus */
	/* "0,2-5": these OS CPUs in this order; isolated ones (isolcpus) are allowed. NULL: the
	 * plan chooses. */
	const char *cpus;
	/* Interface name or PCI address: start with the CPUs closest to it. Not with cpus. */
	const char *near_nic;
	/* Instead of this machine: an hwloc synthetic description, or the path of an hwloc XML file
	 * (lstopo machine.xml). NULL: this one. */
	const char *machine;
	bool smt; /* count SMT siblings as cores: with carriers == 0, one per usable CPU */
};

/* The place of one carrier. */
struct haul_place {
	int cpu; /* OS index; -1: floats over all usable CPUs */
	int core; /* number of the physical core, counted by haul; -1: floats */
	int node; /* NUMA node, OS index; -1: unknown */
	unsigned cluster; /* 0 .. clusters-1; carriers of one cluster share a last-level cache */
	bool smt; /* an earlier carrier sits on the same physical core */
	bool elsewhere; /* of haul_plan_opts.machine: a carrier that is started here floats */
};

struct haul_plan {
	unsigned carriers;
	unsigned clusters;
	struct haul_place *places; /* one per carrier */
	/*
	 * For carrier i, order[i * (carriers - 1) + k] is the k-th nearest other carrier: first
	 * those on the same core, then in the same cluster, on the same NUMA node, in the
	 * same package, then the rest. Among equals the next higher number comes first, and
	 * after the last the first: so neighbours do not all turn to the same one.
	 */
	unsigned *order;
	/*
	 * nearest[i], for OS CPU i < cpus, is the carrier nearest to it, in the same sense; of
	 * those equally near the first.
	 */
	unsigned cpus;
	unsigned *nearest;
	char notice[256]; /* one line on what is less than wished (floating carriers), or empty */
};

/*
 * Makes a plan. Usable CPUs are those in the process's affinity mask and cgroup.
 * Clusters follow the last-level cache; where no L3 is reported, the next shared
 * cache; else the whole machine is one cluster. SMT siblings come last. More
 * carriers than CPUs: the extra ones float, in clusters with others. Where threads cannot be bound
 * (some containers) all float, in one cluster.
 * Any thread. 0; -EINVAL (carriers, cpus, machine or near_nic is malformed or cannot be used: one
 * line in errbuf says which); -ENOMEM. The caller owns *plan until haul_plan_destroy().
 */
HAUL_API int haul_plan_create(
	struct haul_plan **plan, const struct haul_plan_opts *opts, char *errbuf, size_t errlen);
HAUL_API void haul_plan_destroy(struct haul_plan *plan);

/* Prints the plan as a table for people. 0, or -EIO. */
HAUL_API int haul_plan_print(const struct haul_plan *plan, FILE *out);

#ifdef __cplusplus
}
#endif

#endif
