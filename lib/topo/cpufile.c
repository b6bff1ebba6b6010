/* SPDX-License-Identifier: BSD-3-Clause */
#include "topo/cpufile.h"

#include <stdio.h>
#include <string.h>

bool hauli_cpufile_read(const char *path, hwloc_bitmap_t set)
{
	FILE *file = fopen(path, "re");
	char line[4096];
	bool ok;

	hwloc_bitmap_zero(set);
	if (!file)
		return false;
	ok = fgets(line, sizeof(line), file) != NULL;
	fclose(file);
	if (!ok)
		return false;
	/* hwloc ignores a number before a newline, and rejects an empty list. */
	line[strcspn(line, "\n")] = '\0';
	return line[0] == '\0' || hwloc_bitmap_list_sscanf(set, line) == 0;
}
