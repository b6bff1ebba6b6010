/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/cgroup.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <haul/topo.h>

#define ROOT "/sys/fs/cgroup"
#define OWN "/proc/self/cgroup"

#define STEP (UINT64_C(4) << 20) /* taken between two looks near the limit */
#define MOMENT 100 /* ms: others take memory, too, and limits are changed */

/* The directory of a cgroup, and room for names and lines: on the heap, since a handler whose stack
 * has 8 KiB may start the next one, which asks for a stack. */
struct cgroup {
	char dir[PATH_MAX];
	size_t root; /* length of the mount point in dir */
	char text[PATH_MAX + 64];
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
	bool found = false;

	while (file && !found && fgets(cg->text, sizeof(cg->text), file)) {
		char *list = strchr(cg->text, ':'), *path = list ? strchr(list + 1, ':') : NULL;
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

static FILE *open_file(struct cgroup *cg, const char *name)
{
	snprintf(cg->text, sizeof(cg->text), "%s/%s", cg->dir, name);
	return fopen(cg->text, "re");
}

/* The number at the start of a file; -1: there is none ("max"). */
static int64_t number(struct cgroup *cg, const char *name)
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

static double cpus_v1(struct cgroup *cg)
{
	int64_t quota = number(cg, "cpu.cfs_quota_us"), period = number(cg, "cpu.cfs_period_us");

	return quota > 0 && period > 0 ? (double)quota / (double)period : 0;
}

static double cpus_v2(struct cgroup *cg)
{
	FILE *file = open_file(cg, "cpu.max");
	uint64_t quota = 0, period = 0;
	int got;

	if (!file)
		return 0;
	got = fscanf(file, "%" SCNu64 " %" SCNu64, &quota, &period);
	fclose(file);
	return got == 2 && period > 0 ? (double)quota / (double)period : 0;
}

double hauli_cgroup_cpus_in(const char *root, const char *own)
{
	struct cgroup *cg = malloc(sizeof(*cg));
	double least = 0;

	for (int version = 1; cg && version <= 2; version++) {
		if (!find(cg, root, own, version == 1 ? "cpu" : ""))
			continue;
		do {
			double cpus = version == 1 ? cpus_v1(cg) : cpus_v2(cg);

			if (cpus > 0 && (least == 0 || cpus < least))
				least = cpus;
		} while (up(cg));
	}
	free(cg);
	return least;
}

/* Pages of files that nobody has used of late: the kernel takes them back before it refuses one. */
static int64_t unused_files(struct cgroup *cg, const char *key)
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
	struct cgroup *cg = malloc(sizeof(*cg));

	for (int i = 0; cg && i < 2; i++) {
		if (!find(cg, root, own, i == 0 ? "memory" : ""))
			continue;
		do {
			int64_t limit = number(cg, files[i][0]), used;

			/* Version 1 writes the largest multiple of a page for "no limit". */
			if (limit < 0 || limit > INT64_MAX - (1 << 20))
				continue;
			used = number(cg, files[i][1]) - unused_files(cg, files[i][2]);
			if (limit < used)
				used = limit;
			if ((uint64_t)(limit - used) < least)
				least = (uint64_t)(limit - used);
		} while (up(cg));
	}
	free(cg);
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

static void look(struct hauli_allowance *allowance, size_t kept, uint64_t left)
{
	allowance->limited = left != UINT64_MAX;
	allowance->refused = false;
	left = left > kept ? left - kept : 0;
	/* What is far off is not looked at often: a look takes some 50 us. */
	allowance->granted = left / 64 > STEP ? left / 64 : left < STEP ? left : STEP;
}

bool hauli_allowance_take_at(struct hauli_allowance *allowance, size_t bytes, size_t kept,
	uint64_t now, uint64_t (*left)(void))
{
	bool spent = allowance->limited && allowance->granted < bytes && !allowance->refused;

	if (spent || now >= allowance->look_at) {
		look(allowance, kept, left());
		allowance->look_at = now + MOMENT;
	}
	if (!allowance->limited)
		return true;
	allowance->refused = allowance->granted < bytes;
	if (allowance->refused)
		return false;
	allowance->granted -= bytes;
	return true;
}

bool hauli_allowance_take(struct hauli_allowance *allowance, size_t bytes, size_t kept)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	return hauli_allowance_take_at(allowance, bytes, kept,
		(uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000, haul_cgroup_memory);
}
