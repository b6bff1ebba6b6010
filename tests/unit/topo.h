/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the tests of lib/topo: plans, and the properties of every plan. */
#ifndef HAUL_TESTS_UNIT_TOPO_H
#define HAUL_TESTS_UNIT_TOPO_H

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <haul/topo.h>

/* Machines in files lie beside the tests; synthetic descriptions stay as they are. */
static inline const char *machine_path(const char *machine, char *buf, size_t len)
{
	const char *dir = getenv("HAUL_TEST_MACHINES");

	if (!machine || !strstr(machine, ".xml") || machine[0] == '/')
		return machine;
	ck_assert_msg(dir != NULL, "HAUL_TEST_MACHINES is not set");
	snprintf(buf, len, "%s/%s", dir, machine);
	return buf;
}

static inline struct haul_plan *plan_of(struct haul_plan_opts opts)
{
	char path[512], why[256] = "";
	struct haul_plan *plan = NULL;

	opts.machine = machine_path(opts.machine, path, sizeof(path));
	ck_assert_msg(haul_plan_create(&plan, &opts, why, sizeof(why)) == 0, "%s", why);
	return plan;
}

/* The plan is refused with one line that contains all of words[], up to NULL. */
static inline void refused(struct haul_plan_opts opts, const char *const *words)
{
	char path[512], why[512] = "";
	struct haul_plan *plan = NULL;

	opts.machine = machine_path(opts.machine, path, sizeof(path));
	ck_assert_int_eq(haul_plan_create(&plan, &opts, why, sizeof(why)), -EINVAL);
	ck_assert_ptr_null(plan);
	ck_assert_msg(!strchr(why, '\n'), "more than one line: %s", why);
	for (; *words; words++)
		ck_assert_msg(strstr(why, *words) != NULL, "no '%s' in '%s'", *words, why);
}

#define REFUSED(options, ...) refused(options, (const char *const[]){__VA_ARGS__, NULL})

static inline void check_order(const struct haul_plan *plan)
{
	unsigned n = plan->carriers;
	bool *seen = calloc(n, sizeof(*seen));

	for (unsigned i = 0; i < n; i++) {
		memset(seen, 0, n * sizeof(*seen));
		seen[i] = true;
		for (unsigned k = 0; k + 1 < n; k++) {
			unsigned j = plan->by_distance[i * (n - 1) + k];

			/* A passed assertion costs microseconds; there are a million. */
			if (j >= n || seen[j])
				ck_abort_msg(
					"carrier %u in the order of %u: not so, or twice", j, i);
			seen[j] = true;
		}
	}
	free(seen);
}

static inline void check_place(const struct haul_plan *plan, unsigned i)
{
	const struct haul_place *p = &plan->places[i];
	bool core_seen = false;

	ck_assert_uint_lt(p->cluster, plan->clusters);
	for (unsigned j = 0; j < i; j++) {
		const struct haul_place *q = &plan->places[j];

		if (p->cpu >= 0 && p->cpu == q->cpu)
			ck_abort_msg("CPU %d twice", p->cpu);
		core_seen |= p->core >= 0 && p->core == q->core;
	}
	ck_assert_int_eq(p->smt, core_seen);
	ck_assert_int_eq(p->cpu < 0, p->core < 0);
}

/* Properties of every plan: orders are permutations, clusters are numbered without holes, no CPU
 * has two carriers. */
static inline void check_sound(const struct haul_plan *plan)
{
	unsigned highest = 0;

	for (unsigned i = 0; i < plan->carriers; i++) {
		check_place(plan, i);
		ck_assert_uint_le(plan->places[i].cluster, i ? highest + 1 : 0);
		if (plan->places[i].cluster > highest)
			highest = plan->places[i].cluster;
	}
	ck_assert_uint_eq(plan->clusters, highest + 1);
	check_order(plan);
	for (unsigned i = 0; i < plan->cpus; i++)
		ck_assert_uint_lt(plan->nearest[i], plan->carriers);
	for (unsigned i = 0; i < plan->carriers; i++)
		if (plan->places[i].cpu >= 0)
			ck_assert_uint_eq(plan->nearest[plan->places[i].cpu], i);
}

/* The cluster of each carrier, "0 0 1 1". */
static inline void join(char *buf, size_t len, const struct haul_plan *plan,
	int (*number)(const struct haul_place *))
{
	size_t at = 0;

	buf[0] = '\0';
	for (unsigned i = 0; i < plan->carriers; i++)
		at += (size_t)snprintf(
			buf + at, len - at, "%s%d", i ? " " : "", number(&plan->places[i]));
}

static inline int cpu_number(const struct haul_place *p)
{
	return p->cpu;
}

static inline int cluster_number(const struct haul_place *p)
{
	return (int)p->cluster;
}

static inline void check_cpus(const struct haul_plan *plan, const char *cpus)
{
	char buf[8192];

	join(buf, sizeof(buf), plan, cpu_number);
	ck_assert_str_eq(buf, cpus);
}

static inline void check_clusters(const struct haul_plan *plan, const char *clusters)
{
	char buf[8192];

	join(buf, sizeof(buf), plan, cluster_number);
	ck_assert_str_eq(buf, clusters);
}

/* "1 2 3": the carriers by distance from carrier i, nearest first. */
static inline void check_nearest(const struct haul_plan *plan, unsigned i, const char *nearest)
{
	char buf[8192] = "";
	size_t at = 0;

	for (unsigned k = 0; k + 1 < plan->carriers; k++)
		at += (size_t)snprintf(buf + at, sizeof(buf) - at, "%s%u", k ? " " : "",
			plan->by_distance[i * (plan->carriers - 1) + k]);
	ck_assert_str_eq(buf, nearest);
}

#endif
