/* SPDX-License-Identifier: BSD-3-Clause */
/* A machine as a plain table of CPUs: all that planning needs from hwloc's tree. */
#ifndef HAULI_TOPO_MACHINE_H
#define HAULI_TOPO_MACHINE_H

#include <stdbool.h>
#include <stddef.h>

/* One CPU (hwloc: PU). cpu and node are the OS's numbers; the others count in hwloc's order. */
struct hauli_cpu {
	int cpu; /* OS index */
	int node; /* NUMA node, OS index; -1: unknown */
	unsigned core;
	unsigned package;
	unsigned cluster; /* CPUs that share a cache of several cores; 0: CPUs without one */
	unsigned sibling; /* usable CPUs of the same core that come earlier in the table */
	unsigned far; /* levels up from those near the NIC to one with this CPU; 0: closest */
	bool usable; /* in the process's affinity mask and cgroup */
	/* Isolated by isolcpus: in no thread's mask by default, but a thread can be bound to it. */
	bool isolated;
};

struct hauli_machine {
	struct hauli_cpu *cpus; /* in the order of hwloc's tree */
	unsigned count;
	unsigned usable;
	bool here; /* true: this process runs on it; false: described by the user */
};

/*
 * Reads this machine (description NULL), an hwloc XML file, or a synthetic description. `far`
 * counts from nic, an interface name or PCI address; NULL: `far` is 0 everywhere. Binds no thread.
 * Any thread. 0, or -errno with one line in errbuf. hauli_machine_fini() frees the table.
 */
int hauli_machine_init(struct hauli_machine *m, const char *description, const char *nic,
	char *errbuf, size_t errlen);
void hauli_machine_fini(struct hauli_machine *m);

/* The CPU with OS index cpu, or NULL. */
const struct hauli_cpu *hauli_machine_cpu(const struct hauli_machine *m, int cpu);

/* Writes the OS indices as "0-3,8": of all CPUs, or of those that a user may name. Cuts at len. */
void hauli_machine_list(const struct hauli_machine *m, bool nameable, char *buf, size_t len);

/* True: a user may name the CPU. Isolated CPUs are used only when named. */
bool hauli_cpu_nameable(const struct hauli_cpu *cpu);

#endif
