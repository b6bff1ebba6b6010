/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/cgroup.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <haul/topo.h>

#define ROOT "/sys/fs/cgroup"
#define OWN "/proc/self/cgroup"

#define STEP (UINT64_C(4) << 20) /* taken between two looks near the limit */
#define REFUSALS 1024 /* between two looks, in a pool that has come to the limit */

/* The directory of a cgroup. */
struct cgroup {
	char dir[PATH_MAX];
	size_t root; /* length of the mount point in dir */
};

/* True if the list "cpu,cpuacct" has the controller. */
static bool has(const char *list, size_t len, const char *controller)
{
	size_t n = strlen(controller);

	for (const char *at = list; at < list + len; at += strcspn(at, ",:") + 1) {
		if (strcspn(at, ",:") == n && strncmp(at, controller, n) == 0)
			return true;
	}
	return len == 0 && n == 0;
}

/*
 * Finds the directory of a controller (version 1), or of the unified hierarchy (version 2,
 * controller ""). The file own has lines such as "4:cpu,cpuacct:/a/b" and "0::/a/b". In a container
 * the path may be the host's, and lead nowhere; then up() comes to the mount point, which is the
 * container's cgroup.
 */
static bool find(struct cgroup *cg, const char *root, const char *own, const char *controller)
{
	FILE *file = fopen(own, "re");
	char line[PATH_MAX + 64];
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file)) {
		char *list = strchr(line, ':'), *path = list ? strchr(list + 1, ':') : NULL;
		int len = path ? (int)(path - ++list) : 0;

		if (!path || !has(list, (size_t)len, controller))
			continue;
		path[1 + strcspn(path + 1, "\n")] = '\0';
		cg->root = (size_t)snprintf(
			cg->dir, sizeof(cg->dir), "%s%s%.*s", root, len > 0 ? "/" : "", len, list);
		found = cg->root < sizeof(cg->dir) &&
			(size_t)snprintf(cg->dir + cg->root, sizeof(cg->dir) - cg->root, "%s",
				path + 1) < sizeof(cg->dir) - cg->root;
	}
	if (file)
		fclose(file);
	return found;
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

static FILE *open_file(const struct cgroup *cg, const char *name)
{
	char path[PATH_MAX + 32];

	snprintf(path, sizeof(path), "%s/%s", cg->dir, name);
	return fopen(path, "re");
}

/* The number at the start of a file; -1: there is none ("max"). */
static int64_t number(const struct cgroup *cg, const char *name)
{
	FILE *file = open_file(cg, name);
	int64_t n = -1;

	if (!file)
		return -1;
	if (fscanf(file, "%" SCNd64, &n) != 1)
		n = -1;
	fclose(file);
	return n;
}

static double cpus_v1(const struct cgroup *cg)
{
	int64_t quota = number(cg, "cpu.cfs_quota_us"), period = number(cg, "cpu.cfs_period_us");

	return quota > 0 && period > 0 ? (double)quota / (double)period : 0;
}

static double cpus_v2(const struct cgroup *cg)
{
	FILE *file = open_file(cg, "cpu.max");
	unsigned quota = 0, period = 0;
	int got;

	if (!file)
		return 0;
	got = fscanf(file, "%u %u", &quota, &period);
	fclose(file);
	return got == 2 && period > 0 ? (double)quota / period : 0;
}

double hauli_cgroup_cpus_in(const char *root, const char *own)
{
	struct cgroup cg;
	double least = 0;

	for (int version = 1; version <= 2; version++) {
		if (!find(&cg, root, own, version == 1 ? "cpu" : ""))
			continue;
		do {
			double cpus = version == 1 ? cpus_v1(&cg) : cpus_v2(&cg);

			if (cpus > 0 && (least == 0 || cpus < least))
				least = cpus;
		} while (up(&cg));
	}
	return least;
}

/* Pages of files that nobody has used of late: the kernel takes them back before it refuses one. */
static int64_t unused_files(const struct cgroup *cg, const char *key)
{
	FILE *file = open_file(cg, "memory.stat");
	char line[128];
	size_t len = strlen(key);
	int64_t bytes = 0;

	while (file && fgets(line, sizeof(line), file)) {
		if (strncmp(line, key, len) == 0 && sscanf(line + len, " %" SCNd64, &bytes) == 1)
			break;
	}
	if (file)
		fclose(file);
	return bytes;
}

uint64_t hauli_cgroup_memory_in(const char *root, const char *own)
{
	static const char *const files[][3] = {
		{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file "},
		{"memory.max", "memory.current", "inactive_file "},
	};
	uint64_t least = UINT64_MAX;
	struct cgroup cg;

	for (int i = 0; i < 2; i++) {
		if (!find(&cg, root, own, i == 0 ? "memory" : ""))
			continue;
		do {
			int64_t limit = number(&cg, files[i][0]), used;

			/* Version 1 writes the largest multiple of a page for "no limit". */
			if (limit < 0 || limit > INT64_MAX - (1 << 20))
				continue;
			used = number(&cg, files[i][1]) - unused_files(&cg, files[i][2]);
			if (limit < used)
				used = limit;
			if ((uint64_t)(limit - used) < least)
				least = (uint64_t)(limit - used);
		} while (up(&cg));
	}
	return least;
}

double haul_cgroup_cpus(void)
{
	return hauli_cgroup_cpus_in(ROOT, OWN);
}

uint64_t haul_cgroup_memory(void)
{
	return hauli_cgroup_memory_in(ROOT, OWN);
}

static void look(struct hauli_allowance *allowance, size_t kept)
{
	uint64_t left = haul_cgroup_memory();

	allowance->known = true;
	allowance->limited = left != UINT64_MAX;
	left = left > kept ? left - kept : 0;
	/* What is far off is not looked at often: a look takes some 50 us. */
	allowance->granted = left / 64 > STEP ? left / 64 : left < STEP ? left : STEP;
}

bool hauli_allowance_take(struct hauli_allowance *allowance, size_t bytes, size_t kept)
{
	if (!allowance->known)
		look(allowance, kept);
	if (!allowance->limited)
		return true;
	if (allowance->granted < bytes && allowance->refused++ % REFUSALS == 0)
		look(allowance, kept);
	if (allowance->granted < bytes)
		return false;
	allowance->refused = 0;
	allowance->granted -= bytes;
	return true;
}
