/* SPDX-License-Identifier: BSD-3-Clause */
/* Users' input to a plan: lists of CPUs, NICs, machines; and errors in them. */
#include <dirent.h>

#include "support/suite.h"
#include "unit/topo.h"

#define DESKTOP "pack:1 l3:2 core:4 pu:2"

START_TEST(list_is_taken_as_it_is)
{
	struct haul_plan *plan =
		plan_of((struct haul_plan_opts){.machine = DESKTOP, .cpus = "9,0-2,15"});

	check_sound(plan);
	check_cpus(plan, "9 0 1 2 15");
	check_clusters(plan, "0 1 1 1 0");
	ck_assert(plan->places[2].smt);
	ck_assert_str_eq(plan->notice, "");
	haul_plan_destroy(plan);
}
END_TEST

START_TEST(list_is_cut)
{
	struct haul_plan *plan = plan_of(
		(struct haul_plan_opts){.machine = DESKTOP, .cpus = "9,0-2,15", .carriers = 2});

	check_sound(plan);
	check_cpus(plan, "9 0");
	haul_plan_destroy(plan);
}
END_TEST

START_TEST(list_is_exceeded)
{
	struct haul_plan *plan =
		plan_of((struct haul_plan_opts){.machine = DESKTOP, .cpus = "3,9", .carriers = 4});

	check_sound(plan);
	check_cpus(plan, "3 9 -1 -1");
	check_clusters(plan, "0 1 0 1");
	ck_assert_str_eq(
		plan->notice, "4 carriers but only 2 CPUs: 2 of them float and will be slow");
	haul_plan_destroy(plan);
}
END_TEST

START_TEST(list_malformed)
{
	static const char *const lists[] = {"", ",", "0,", ",0", "0,,1", "a", "0-", "-1", "3-1",
		"0 1", " 0", "0x1", "+1", "1-2-3", "99999999999", "0;1"};
	char given[64];

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		snprintf(given, sizeof(given), "cpus '%s'", lists[i]);
		REFUSED(((struct haul_plan_opts){.machine = DESKTOP, .cpus = lists[i]}), given,
			"0,2-5");
	}
}
END_TEST

START_TEST(list_names_a_cpu_twice)
{
	REFUSED(((struct haul_plan_opts){.machine = DESKTOP, .cpus = "0,2-5,4"}), "cpus '0,2-5,4'",
		"CPU 4", "twice");
}
END_TEST

START_TEST(list_names_no_cpu)
{
	REFUSED(((struct haul_plan_opts){.machine = DESKTOP, .cpus = "0,16"}), "cpus '0,16'",
		"no CPU 16", "0-15");
	/* Also when the requested carriers would not reach it. */
	REFUSED(((struct haul_plan_opts){.machine = DESKTOP, .cpus = "0,16", .carriers = 1}),
		"no CPU 16");
}
END_TEST

START_TEST(list_too_long)
{
	REFUSED(((struct haul_plan_opts){.machine = DESKTOP, .cpus = "0-2000000000"}),
		"cpus '0-2000000000'", "1024");
}
END_TEST

START_TEST(too_many_carriers)
{
	REFUSED(((struct haul_plan_opts){.machine = DESKTOP, .carriers = HAUL_CARRIERS_MAX + 1}),
		"carriers 1025", "1024");
	REFUSED(((struct haul_plan_opts){.carriers = UINT32_MAX}), "carriers 4294967295");
}
END_TEST

START_TEST(bad_machines)
{
	REFUSED(((struct haul_plan_opts){.machine = "core:two"}), "machine 'core:two'", "pack:2");
	REFUSED(((struct haul_plan_opts){.machine = ""}), "machine ''");
	REFUSED(((struct haul_plan_opts){.machine = "missing.xml"}), "missing.xml'", "lstopo");
	REFUSED(((struct haul_plan_opts){.machine = "/dev/null"}), "machine '/dev/null'");
	REFUSED(((struct haul_plan_opts){.machine = "pu:100000"}), "machine 'pu:100000'",
		"more than 4096 CPUs");
	REFUSED(((struct haul_plan_opts){.machine = "pack:64 l3:2 core:1024 pu:1"}), "4096");
	REFUSED(((struct haul_plan_opts){.machine = "99999"}), "more than 4096 CPUs");
	REFUSED(((struct haul_plan_opts){.machine = "/dev/zero"}), "machine '/dev/zero'");
}
END_TEST

START_TEST(near_a_described_nic)
{
	static const char *const names[] = {"ens1f0", "0000:81:00.0", "81:00.0", "81:0.0"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct haul_plan *plan = plan_of(
			(struct haul_plan_opts){.machine = "lopsided.xml", .near_nic = names[i]});

		check_sound(plan);
		check_cpus(plan, "4 5 0 1 2 3");
		check_clusters(plan, "0 0 1 1 1 1");
		haul_plan_destroy(plan);
	}
}
END_TEST

START_TEST(near_an_unknown_nic)
{
	REFUSED(((struct haul_plan_opts){.machine = "lopsided.xml", .near_nic = "ens2"}),
		"near_nic 'ens2'", "described machine");
	REFUSED(((struct haul_plan_opts){.near_nic = "haul-no-such-if"}),
		"near_nic 'haul-no-such-if'", "ip -br link");
	REFUSED(((struct haul_plan_opts){.near_nic = "ffff:ff:1f.7"}), "near_nic 'ffff:ff:1f.7'");
	REFUSED(((struct haul_plan_opts){.near_nic = "../../etc"}), "near_nic '../../etc'");
	REFUSED(((struct haul_plan_opts){.near_nic = ""}), "near_nic ''");
}
END_TEST

/* lo has no device: no carrier is nearer to it than another. */
START_TEST(near_a_nic_without_a_device)
{
	struct haul_plan *near = plan_of((struct haul_plan_opts){.near_nic = "lo"});
	struct haul_plan *plan = plan_of((struct haul_plan_opts){0});

	ck_assert_uint_eq(near->carriers, plan->carriers);
	for (unsigned i = 0; i < plan->carriers; i++)
		ck_assert_int_eq(near->places[i].cpu, plan->places[i].cpu);
	haul_plan_destroy(near);
	haul_plan_destroy(plan);
}
END_TEST

/* A PCI device of this machine (there may be none) is found by its address. */
START_TEST(near_each_pci_device)
{
	DIR *dir = opendir("/sys/bus/pci/devices");
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		struct haul_plan *plan;

		if (entry->d_name[0] == '.')
			continue;
		plan = plan_of((struct haul_plan_opts){.near_nic = entry->d_name});
		check_sound(plan);
		haul_plan_destroy(plan);
	}
	if (dir)
		closedir(dir);
}
END_TEST

START_TEST(cpus_and_near_contradict)
{
	REFUSED(((struct haul_plan_opts){.cpus = "0", .near_nic = "lo"}), "cpus '0'",
		"near_nic 'lo'");
}
END_TEST

START_TEST(no_options_and_no_line)
{
	struct haul_plan *plan = NULL;

	ck_assert_int_eq(haul_plan_create(&plan, NULL, NULL, 0), 0);
	check_sound(plan);
	haul_plan_destroy(plan);
	ck_assert_int_eq(
		haul_plan_create(&plan, &(struct haul_plan_opts){.cpus = "x"}, NULL, 0), -EINVAL);
	haul_plan_destroy(NULL);
}
END_TEST

SUITE_MAIN("topo_input", {list_is_taken_as_it_is, 1}, {list_is_cut, 1}, {list_is_exceeded, 1},
	{list_malformed, 1}, {list_names_a_cpu_twice, 1}, {list_names_no_cpu, 1},
	{list_too_long, 1}, {too_many_carriers, 1}, {bad_machines, 1}, {near_a_described_nic, 1},
	{near_an_unknown_nic, 1}, {near_a_nic_without_a_device, 1}, {near_each_pci_device, 1},
	{cpus_and_near_contradict, 1}, {no_options_and_no_line, 1})
