/* SPDX-License-Identifier: BSD-3-Clause */
/* Placement: which carrier runs on which CPU, computed from the machine's topology (hwloc). */
#ifndef HAUL_TOPO_H
#define HAUL_TOPO_H

#include <stdio.h>

#include <haul/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The maximum number of carriers in a plan. */
#define HAUL_CARRIERS_MAX 1024u

/* Options of a plan. NULL, or a struct of zeros: this machine, one carrier per physical core. */
struct haul_plan_opts {
	/* Number; 0: one per usable physical core, but no more than haul_cgroup_cpus() allows; with
	 * cpus, one per entry. */
	unsigned carriers;
	/* A list of OS CPU numbers such as "0,2-5": carriers go to these CPUs in this order. They
	 * may be isolated (isolcpus). NULL: the plan chooses. */
	const char *cpus;
	/* Interface name or PCI address of a NIC: begin with the CPUs nearest to it. Not with cpus.
	 * NULL: no preference. */
	const char *near_nic;
	/* The machine to plan for: an hwloc synthetic description, or the path of an hwloc XML file
	 * (written by lstopo machine.xml). NULL: this machine. */
	const char *machine;
	bool smt; /* use SMT siblings as if they were cores; with carriers == 0: one per CPU */
};

/* The place of one carrier. */
struct haul_place {
	int cpu; /* OS number; -1: not pinned, floats over all usable CPUs */
	int core; /* physical core, numbered by haul from 0; -1: floats */
	int node; /* NUMA node, OS number; -1: unknown */
	unsigned cluster; /* 0 to clusters - 1; carriers of a cluster share a last-level cache */
	bool smt; /* a carrier with a lower number is on the same physical core */
	bool elsewhere; /* planned for another machine (opts.machine): floats if started here */
};

struct haul_plan {
	unsigned carriers;
	unsigned clusters;
	struct haul_place *places; /* one per carrier */
	/*
	 * Other carriers by distance: by_distance[i * (carriers - 1) + k] is the k-th nearest to
	 * carrier i, k from 0. Carriers on the same core come first, then carriers in the same
	 * cluster, on the same NUMA node, in the same package, and the rest. Equally distant ones
	 * are sorted by number, beginning at i + 1 and wrapping around, so that neighbours of i
	 * differ in their first choice.
	 */
	unsigned *by_distance;
	/*
	 * nearest[i] is the carrier nearest to OS CPU i, for i < cpus, by the same distance; of
	 * equally near carriers the one with the lowest number.
	 */
	unsigned cpus;
	unsigned *nearest;
	/* One line if the plan has drawbacks (floating carriers, fewer of them than cores); else
	 * empty. */
	char notice[256];
};

/*
 * Makes a plan. It uses the CPUs in the affinity mask and cgroup of the process. Clusters follow
 * the L3 cache; without an L3, the L2 or L1 if several cores share it. CPUs without a shared cache
 * form one cluster. SMT siblings are used last. If there are more carriers than CPUs, the extra
 * ones float and are distributed over the clusters. If threads cannot be bound (in some containers)
 * all carriers float, in one cluster. Any thread. Does not suspend. Returns 0; -EINVAL (carriers,
 * cpus, machine or near_nic is malformed or cannot be used: errbuf gets one line); -ENOMEM. The
 * caller frees *plan by haul_plan_destroy().
 */
HAUL_API int haul_plan_create(
	struct haul_plan **plan, const struct haul_plan_opts *opts, char *errbuf, size_t errlen);
HAUL_API void haul_plan_destroy(struct haul_plan *plan);

/*
 * The CPU time that the cgroups of this process allow, in CPUs (a container's --cpus 1.5: 1.5).
 * When it is used up, the kernel stops all threads of the process for the rest of a period,
 * commonly 100 ms. 0: no limit. Reads files of the kernel. Any thread.
 */
HAUL_API double haul_cgroup_cpus(void);

/*
 * The memory in bytes that the cgroups of this process still allow, without what the kernel can
 * take back of files. Beyond it, the kernel ends a process that touches a new page. UINT64_MAX: no
 * limit. Reads files of the kernel. Any thread.
 */
HAUL_API uint64_t haul_cgroup_memory(void);

/* Prints the plan as a table, for people to read. Any thread. Returns 0, or -EIO. */
HAUL_API int haul_plan_print(const struct haul_plan *plan, FILE *out);

#ifdef __cplusplus
}
#endif

#endif
