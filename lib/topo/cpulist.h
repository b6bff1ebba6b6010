/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of CPUs in the users' format. */
#ifndef HAULI_TOPO_CPULIST_H
#define HAULI_TOPO_CPULIST_H

#include <stddef.h>

struct hauli_cpulist {
	const char *text; /* as given: "0,2-5" */
	int *cpus; /* 0 2 3 4 5 */
	unsigned count;
};

/*
 * Parses text, which must outlive the list. 0, -ENOMEM, or -EINVAL with one line in errbuf: not a
 * list, an empty list, a CPU named twice, or more than HAUL_CARRIERS_MAX CPUs. The caller frees
 * list->cpus, after an error too.
 */
int hauli_cpulist_parse(struct hauli_cpulist *list, const char *text, char *errbuf, size_t errlen);

#endif
