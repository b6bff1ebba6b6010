/* SPDX-License-Identifier: BSD-3-Clause */
/* The plans for machines of many shapes: carriers, CPUs, clusters. */
#include "support/suite.h"
#include "unit/topo.h"

static const struct machine {
	const char *name;
	const char *machine; /* synthetic description or file */
	const char *cpus; /* CPUs of the default plan */
	const char *clusters;
	const char *smt_cpus; /* CPUs with siblings as carriers of their own */
	const char *smt_clusters;
} machines[] = {
	{"desktop, two CCDs, SMT", "pack:1 l3:2 core:4 pu:2", "0 2 4 6 8 10 12 14",
		"0 0 0 0 1 1 1 1", "0 2 4 6 8 10 12 14 1 3 5 7 9 11 13 15",
		"0 0 0 0 1 1 1 1 0 0 0 0 1 1 1 1"},
	{"desktop, no SMT", "pack:1 l3:1 core:6 pu:1", "0 1 2 3 4 5", "0 0 0 0 0 0", "0 1 2 3 4 5",
		"0 0 0 0 0 0"},
	{"EPYC, two sockets of four LLCs", "pack:2 l3:4 core:2 pu:1",
		"0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15", "0 0 1 1 2 2 3 3 4 4 5 5 6 6 7 7",
		"0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15", "0 0 1 1 2 2 3 3 4 4 5 5 6 6 7 7"},
	{"no L3, L2 shared by pairs", "pack:1 l2:3 core:2 pu:1", "0 1 2 3 4 5", "0 0 1 1 2 2",
		"0 1 2 3 4 5", "0 0 1 1 2 2"},
	{"no L3, an L2 for each core", "pack:2 l2:2 core:1 pu:2", "0 2 4 6", "0 0 0 0",
		"0 2 4 6 1 3 5 7", "0 0 0 0 0 0 0 0"},
	{"no caches at all", "pack:2 core:2 pu:1", "0 1 2 3", "0 0 0 0", "0 1 2 3", "0 0 0 0"},
	{"virtual machine with an L3 for each CPU", "pack:4 l3:1 core:1 pu:1", "0 1 2 3", "0 0 0 0",
		"0 1 2 3", "0 0 0 0"},
	{"one core", "pack:1 l3:1 core:1 pu:1", "0", "0", "0", "0"},
	{"one core, SMT", "pack:1 l3:1 core:1 pu:2", "0", "0", "0 1", "0 0"},
	{"no cores either", "pu:4", "0 1 2 3", "0 0 0 0", "0 1 2 3", "0 0 0 0"},
	{"four threads a core", "pack:1 l3:1 core:2 pu:4", "0 4", "0 0", "0 4 1 5 2 6 3 7",
		"0 0 0 0 0 0 0 0"},
	{"two per cluster", "l3:4 core:2 pu:1", "0 1 2 3 4 5 6 7", "0 0 1 1 2 2 3 3",
		"0 1 2 3 4 5 6 7", "0 0 1 1 2 2 3 3"},
	{"siblings numbered last, as Linux does", "pack:1 l3:2 core:2 pu:2(indexes=core)",
		"0 1 2 3", "0 0 1 1", "0 1 2 3 4 5 6 7", "0 0 1 1 0 0 1 1"},
	{"three kinds of cores, two outside of the L3", "hybrid.xml", "0 2 4 5 6 7 8 9",
		"0 0 0 0 0 0 1 1", "0 2 4 5 6 7 8 9 1 3", "0 0 0 0 0 0 1 1 0 0"},
	{"two unequal sockets", "lopsided.xml", "0 1 2 3 4 5", "0 0 0 0 1 1", "0 1 2 3 4 5",
		"0 0 0 0 1 1"},
};

#define MACHINES ((int)(sizeof(machines) / sizeof(machines[0])))

START_TEST(default_plan)
{
	const struct machine *m = &machines[_i];
	struct haul_plan *plan = plan_of((struct haul_plan_opts){.machine = m->machine});

	check_sound(plan);
	check_cpus(plan, m->cpus);
	check_clusters(plan, m->clusters);
	ck_assert_str_eq(plan->notice, "");
	haul_plan_destroy(plan);
}
END_TEST

START_TEST(smt_plan)
{
	const struct machine *m = &machines[_i];
	struct haul_plan *plan =
		plan_of((struct haul_plan_opts){.machine = m->machine, .smt = true});

	check_sound(plan);
	check_cpus(plan, m->smt_cpus);
	check_clusters(plan, m->smt_clusters);
	haul_plan_destroy(plan);
}
END_TEST

/* A request for as many carriers as CPUs uses the siblings without a further option. */
START_TEST(asked_for_all)
{
	const struct machine *m = &machines[_i];
	struct haul_plan *smt =
		plan_of((struct haul_plan_opts){.machine = m->machine, .smt = true});
	struct haul_plan *plan =
		plan_of((struct haul_plan_opts){.machine = m->machine, .carriers = smt->carriers});

	check_cpus(plan, m->smt_cpus);
	ck_assert_str_eq(plan->notice, "");
	haul_plan_destroy(plan);
	haul_plan_destroy(smt);
}
END_TEST

/* More carriers than the machine has CPUs: the extra carriers float, spread over the clusters. */
START_TEST(asked_for_more)
{
	const struct machine *m = &machines[_i];
	struct haul_plan *smt =
		plan_of((struct haul_plan_opts){.machine = m->machine, .smt = true});
	unsigned cpus = smt->carriers, extra = 2 * smt->clusters;
	struct haul_plan *plan =
		plan_of((struct haul_plan_opts){.machine = m->machine, .carriers = cpus + extra});

	check_sound(plan);
	ck_assert_uint_eq(plan->clusters, smt->clusters);
	for (unsigned i = 0; i < extra; i++) {
		const struct haul_place *p = &plan->places[cpus + i];

		ck_assert_int_eq(p->cpu, -1);
		ck_assert_int_eq(p->core, -1);
		ck_assert_int_eq(p->node, -1);
		ck_assert_uint_eq(p->cluster, i % plan->clusters);
	}
	ck_assert_ptr_nonnull(strstr(plan->notice, "float"));
	ck_assert_ptr_null(strchr(plan->notice, '\n'));
	haul_plan_destroy(plan);
	haul_plan_destroy(smt);
}
END_TEST

START_TEST(fewer_than_cores)
{
	struct haul_plan *plan = plan_of(
		(struct haul_plan_opts){.machine = "pack:2 l3:2 core:2 pu:2", .carriers = 3});

	check_sound(plan);
	check_cpus(plan, "0 2 4");
	check_clusters(plan, "0 0 1");
	haul_plan_destroy(plan);
}
END_TEST

START_TEST(numa_nodes)
{
	struct haul_plan *plan =
		plan_of((struct haul_plan_opts){.machine = "pack:2 [numa] l3:1 core:2 pu:1"});

	ck_assert_int_eq(plan->places[0].node, 0);
	ck_assert_int_eq(plan->places[1].node, 0);
	ck_assert_int_eq(plan->places[2].node, 1);
	ck_assert_int_eq(plan->places[3].node, 1);
	haul_plan_destroy(plan);
}
END_TEST

/* A plan of a described machine says so: its CPU numbers mean nothing here. */
START_TEST(described_is_elsewhere)
{
	struct haul_plan *plan = plan_of((struct haul_plan_opts){.machine = "core:2 pu:1"});
	struct haul_plan *own = plan_of((struct haul_plan_opts){.carriers = 2});

	for (unsigned i = 0; i < 2; i++) {
		ck_assert(plan->places[i].elsewhere);
		ck_assert(!own->places[i].elsewhere);
	}
	haul_plan_destroy(plan);
	haul_plan_destroy(own);
}
END_TEST

START_TEST(this_machine)
{
	struct haul_plan *plan = plan_of((struct haul_plan_opts){0});
	struct haul_plan *smt = plan_of((struct haul_plan_opts){.smt = true});

	check_sound(plan);
	check_sound(smt);
	ck_assert_uint_ge(plan->carriers, 1);
	ck_assert_uint_ge(smt->carriers, plan->carriers);
	for (unsigned i = 0; i < plan->carriers; i++)
		ck_assert(!plan->places[i].smt);
	haul_plan_destroy(plan);
	haul_plan_destroy(smt);
}
END_TEST

SUITE_MAIN("topo_machines", {default_plan, MACHINES}, {smt_plan, MACHINES},
	{asked_for_all, MACHINES}, {asked_for_more, MACHINES}, {fewer_than_cores, 1},
	{numa_nodes, 1}, {described_is_elsewhere, 1}, {this_machine, 1})
