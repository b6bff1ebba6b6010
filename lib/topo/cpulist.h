/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of CPUs as people write them. */
#ifndef HAULI_TOPO_CPULIST_H
#define HAULI_TOPO_CPULIST_H

#include <stddef.h>

struct hauli_cpulist {
	const char *text; /* as given: "0,2-5" */
	int *cpus; /* 0 2 3 4 5 */
	unsigned count;
};

/*
 * A CPU twice, an empty list, or more CPUs than HAUL_CARRIERS_MAX is an error. The text must live
 * as long as the list, whose cpus the caller frees in any case. 0, -ENOMEM, -EINVAL with one line
 * in errbuf.
 */
int hauli_cpulist_parse(struct hauli_cpulist *list, const char *text, char *errbuf, size_t errlen);

#endif
