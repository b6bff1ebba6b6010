/* SPDX-License-Identifier: BSD-3-Clause */
/* Distances between carriers. */
#include "support/suite.h"
#include "unit/topo.h"

START_TEST(core_then_cluster_then_node_then_package)
{
	/* With one core of two threads in each LLC, the LLCs would be private; so two cores in each
	 * of two LLCs of two nodes of two sockets. Carriers 0-15 are the first threads. */
	struct haul_plan *plan = plan_of(
		(struct haul_plan_opts){.machine = "pack:2 numa:2 l3:2 core:2 pu:2", .smt = true});

	ck_assert_uint_eq(plan->carriers, 32);
	ck_assert_uint_eq(plan->clusters, 8);
	/* 16: the sibling. 1 17: the LLC. 2 3 18 19: the node. 4-7 20-23: the socket. */
	check_nearest(plan, 0,
		"16 1 17 2 3 18 19 4 5 6 7 20 21 22 23 "
		"8 9 10 11 12 13 14 15 24 25 26 27 28 29 30 31");
	haul_plan_destroy(plan);
}
END_TEST

START_TEST(equals_take_turns)
{
	struct haul_plan *plan = plan_of((struct haul_plan_opts){.machine = "l3:1 core:4 pu:1"});

	check_nearest(plan, 0, "1 2 3");
	check_nearest(plan, 1, "2 3 0");
	check_nearest(plan, 2, "3 0 1");
	check_nearest(plan, 3, "0 1 2");
	haul_plan_destroy(plan);
}
END_TEST

/* Without caches all carriers are one cluster, but at different distances. */
START_TEST(nodes_within_one_cluster)
{
	struct haul_plan *plan =
		plan_of((struct haul_plan_opts){.machine = "pack:2 numa:2 core:2 pu:1"});

	ck_assert_uint_eq(plan->clusters, 1);
	check_nearest(plan, 3, "2 0 1 4 5 6 7");
	check_nearest(plan, 4, "5 6 7 0 1 2 3");
	haul_plan_destroy(plan);
}
END_TEST

START_TEST(floating_is_near_its_cluster)
{
	struct haul_plan *plan =
		plan_of((struct haul_plan_opts){.machine = "l3:2 core:2 pu:1", .carriers = 6});

	check_clusters(plan, "0 0 1 1 0 1");
	check_nearest(plan, 4, "0 1 5 2 3");
	check_nearest(plan, 0, "1 4 2 3 5");
	check_nearest(plan, 3, "2 5 0 1 4");
	haul_plan_destroy(plan);
}
END_TEST

START_TEST(one_has_no_others)
{
	struct haul_plan *plan =
		plan_of((struct haul_plan_opts){.machine = "core:4 pu:1", .carriers = 1});

	ck_assert_uint_eq(plan->carriers, 1);
	ck_assert_ptr_nonnull(plan->by_distance);
	haul_plan_destroy(plan);
}
END_TEST

/* The nearest carrier of a CPU without one is on its core, in its cluster, on its node, or
 * anywhere. */
START_TEST(each_cpu_has_a_carrier_that_is_nearest)
{
	static const unsigned nearest[] = {0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3};
	struct haul_plan *plan = plan_of((struct haul_plan_opts){
		.machine = "pack:2 numa:1 l3:2 core:2 pu:2", .cpus = "0,4,7,8"});

	check_sound(plan);
	ck_assert_uint_eq(plan->cpus, 16);
	for (unsigned i = 0; i < plan->cpus; i++)
		ck_assert_uint_eq(plan->nearest[i], nearest[i]);
	haul_plan_destroy(plan);
}
END_TEST

START_TEST(of_carriers_equally_near_the_first_is_the_nearest)
{
	struct haul_plan *plan =
		plan_of((struct haul_plan_opts){.machine = "l3:1 core:4 pu:1", .cpus = "1,2"});

	check_sound(plan);
	for (unsigned i = 0; i < plan->cpus; i++)
		ck_assert_uint_eq(plan->nearest[i], i == 2);
	haul_plan_destroy(plan);
}
END_TEST

START_TEST(many)
{
	static const unsigned carriers[] = {256, HAUL_CARRIERS_MAX};
	struct haul_plan *plan = plan_of((struct haul_plan_opts){
		.machine = "pack:2 numa:4 l3:4 core:8 pu:2", .carriers = carriers[_i]});

	check_sound(plan);
	ck_assert_uint_eq(plan->carriers, carriers[_i]);
	ck_assert_uint_eq(plan->clusters, 32);
	haul_plan_destroy(plan);
}
END_TEST

SUITE_MAIN("topo_order", {core_then_cluster_then_node_then_package, 1}, {equals_take_turns, 1},
	{nodes_within_one_cluster, 1}, {floating_is_near_its_cluster, 1}, {one_has_no_others, 1},
	{each_cpu_has_a_carrier_that_is_nearest, 1},
	{of_carriers_equally_near_the_first_is_the_nearest, 1}, {many, 2})
