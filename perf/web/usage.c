/* SPDX-License-Identifier: BSD-3-Clause */
#include "usage.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

static void add_thread(struct usage *u, int pid, const char *tid)
{
	char path[300], line[200];
	uint64_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%s/schedstat", pid, tid);
	f = fopen(path, "r");
	if (!f)
		return;
	if (fscanf(f, "%" SCNu64, &n) == 1)
		u->cpu_ns += n;
	fclose(f);
	snprintf(path, sizeof(path), "/proc/%d/task/%s/status", pid, tid);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "voluntary_ctxt_switches: %" SCNu64, &n) == 1 ||
			sscanf(line, "nonvoluntary_ctxt_switches: %" SCNu64, &n) == 1)
			u->switches += n;
	if (f)
		fclose(f);
}

int usage_add(struct usage *u, int pid)
{
	struct dirent *entry;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	if (!dir)
		return -errno;
	while ((entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			add_thread(u, pid, entry->d_name);
	closedir(dir);
	return 0;
}
