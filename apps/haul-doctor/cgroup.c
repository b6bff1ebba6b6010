/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits of the cgroups of this process. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel.h"

#define ROOT "/sys/fs/cgroup"

/* The directory of a cgroup. */
struct cgroup {
	char dir[PATH_MAX];
	size_t root; /* length of the mount point in dir */
};

/*
 * Finds the directory of a controller (version 1), or of the unified hierarchy (version 2,
 * controller ""). /proc/self/cgroup has lines such as "4:memory:/a/b" and "0::/a/b".
 */
static bool find(struct cgroup *cg, const char *controller)
{
	char key[64], path[PATH_MAX] = "";
	FILE *file = fopen("/proc/self/cgroup", "re");
	char line[PATH_MAX + 64];
	bool found = false;

	snprintf(key, sizeof(key), ":%s:", controller);
	while (file && !found && fgets(line, sizeof(line), file)) {
		const char *at = strstr(line, key);

		found = at != NULL;
		if (found)
			snprintf(path, sizeof(path), "%.*s", (int)strcspn(at + strlen(key), "\n"),
				at + strlen(key));
	}
	if (file)
		fclose(file);
	cg->root = (size_t)snprintf(
		cg->dir, sizeof(cg->dir), "%s%s%s", ROOT, controller[0] ? "/" : "", controller);
	return found &&
		snprintf(cg->dir + cg->root, sizeof(cg->dir) - cg->root, "%s", path) <
		(int)(sizeof(cg->dir) - cg->root);
}

/* Moves to the parent cgroup. Returns false at the mount point. */
static bool up(struct cgroup *cg)
{
	char *slash = strrchr(cg->dir, '/');

	if (!slash || slash < cg->dir + cg->root)
		return false;
	*slash = '\0';
	return true;
}

static double cpus_v1(const struct cgroup *cg)
{
	int64_t quota = kernel_number("%s/cpu.cfs_quota_us", cg->dir);
	int64_t period = kernel_number("%s/cpu.cfs_period_us", cg->dir);

	return quota > 0 && period > 0 ? (double)quota / (double)period : 0;
}

static double cpus_v2(const struct cgroup *cg)
{
	unsigned quota, period;
	char line[64];

	if (!kernel_line(line, sizeof(line), "%s/cpu.max", cg->dir) ||
		sscanf(line, "%u %u", &quota, &period) != 2 || period == 0)
		return 0;
	return (double)quota / period;
}

double kernel_cgroup_cpus(void)
{
	struct cgroup cg;
	double least = 0;

	for (int version = 1; version <= 2; version++) {
		if (!find(&cg, version == 1 ? "cpu" : "") &&
			!(version == 1 && find(&cg, "cpu,cpuacct")))
			continue;
		do {
			double cpus = version == 1 ? cpus_v1(&cg) : cpus_v2(&cg);

			if (cpus > 0 && (least == 0 || cpus < least))
				least = cpus;
		} while (up(&cg));
	}
	return least;
}

uint64_t kernel_cgroup_memory_left(void)
{
	static const char *const files[][2] = {
		{"memory.limit_in_bytes", "memory.usage_in_bytes"},
		{"memory.max", "memory.current"},
	};
	uint64_t least = UINT64_MAX;
	struct cgroup cg;

	for (int i = 0; i < 2; i++) {
		if (!find(&cg, i == 0 ? "memory" : ""))
			continue;
		do {
			int64_t limit = kernel_number("%s/%s", cg.dir, files[i][0]);
			int64_t used = kernel_number("%s/%s", cg.dir, files[i][1]);
			uint64_t left = limit > used ? (uint64_t)(limit - used) : 0;

			if (limit >= 0 && used >= 0 && left < least)
				least = left;
		} while (up(&cg));
	}
	return least;
}
