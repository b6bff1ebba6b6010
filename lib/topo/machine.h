/* SPDX-License-Identifier: BSD-3-Clause */
/* A machine as a plain table of CPUs: all that planning needs to know of hwloc's tree. */
#ifndef HAULI_TOPO_MACHINE_H
#define HAULI_TOPO_MACHINE_H

#include <stdbool.h>
#include <stddef.h>

/* One CPU (hwloc: PU). Numbers other than cpu and node are counted by haul, in hwloc's order. */
struct hauli_cpu {
	int cpu; /* OS index */
	int node; /* NUMA node, OS index; -1: unknown */
	unsigned core;
	unsigned package;
	unsigned cluster; /* CPUs of one cluster share a cache that serves several cores */
	unsigned sibling; /* how many usable CPUs of the same core come earlier in the table */
	unsigned far; /* steps from the NIC's place up to one that holds this CPU; 0: closest */
	bool usable; /* in the process's affinity mask and cgroup */
	/* Kept from the kernel's scheduler: in no mask, yet a thread can be bound to it. */
	bool isolated;
};

struct hauli_machine {
	struct hauli_cpu *cpus; /* neighbours in hwloc's tree are neighbours here */
	unsigned count;
	unsigned usable;
	bool here; /* the machine that this process runs on, not a description of another */
};

/*
 * Reads this machine (description NULL), an hwloc XML file, or a synthetic description. nic:
 * interface name or PCI address that `far` is counted from; NULL: `far` is 0 everywhere.
 * Binds nothing. Any thread. 0, or -errno with one line in errbuf. hauli_machine_fini() frees.
 */
int hauli_machine_init(struct hauli_machine *m, const char *description, const char *nic,
	char *errbuf, size_t errlen);
void hauli_machine_fini(struct hauli_machine *m);

/* The CPU with that OS index; NULL when there is none. */
const struct hauli_cpu *hauli_machine_cpu(const struct hauli_machine *m, int cpu);

/* "0-3,8": the OS indices, all or those that a user may name. Cut off at len. */
void hauli_machine_list(const struct hauli_machine *m, bool nameable, char *buf, size_t len);

/* Usable, or isolated: that one has to be asked for by its number. */
bool hauli_cpu_nameable(const struct hauli_cpu *cpu);

#endif
