/* SPDX-License-Identifier: BSD-3-Clause */
#include "harness/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/harness.h"

static double resident, tables;

double perf_memory(const char *key)
{
	FILE *in = fopen("/proc/self/status", "re");
	char line[256];
	double bytes = 0;

	while (in && fgets(line, sizeof(line), in))
		if (strncmp(line, key, strlen(key)) == 0)
			bytes = 1024 * strtod(line + strlen(key), NULL);
	if (in)
		fclose(in);
	return bytes;
}

void perf_memory_begin(void)
{
	resident = perf_memory("VmRSS:");
	tables = perf_memory("VmPTE:");
}

void perf_memory_end(uint64_t n)
{
	perf_extra("bytes_each", (perf_memory("VmRSS:") - resident) / (double)n);
	perf_extra("page_table_bytes_each", (perf_memory("VmPTE:") - tables) / (double)n);
}
