/* SPDX-License-Identifier: BSD-3-Clause */
/* A plan as text for people. */
#include "support/suite.h"
#include "unit/topo.h"

static void check_printed(struct haul_plan_opts opts, const char *expected)
{
	struct haul_plan *plan = plan_of(opts);
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	ck_assert_int_eq(haul_plan_print(plan, out), 0);
	fclose(out);
	ck_assert_str_eq(text, expected);
	free(text);
	haul_plan_destroy(plan);
}

START_TEST(table)
{
	check_printed((struct haul_plan_opts){.machine = "l3:2 core:1 pu:2", .carriers = 5},
		"5 carriers in 1 cluster\n"
		"carrier     cpu  core  smt  node  cluster  nearest first\n"
		"      0       0     0    -     0        0  2 1 3 4\n"
		"      1       2     1    -     0        0  3 2 0 4\n"
		"      2       1     0  yes     0        0  0 3 1 4\n"
		"      3       3     1  yes     0        0  1 0 2 4\n"
		"      4  floats     -    -     -        0  0 1 2 3\n"
		"notice: 5 carriers but only 4 CPUs: 1 of them floats and will be slow\n");
}
END_TEST

START_TEST(one)
{
	check_printed((struct haul_plan_opts){.machine = "core:1 pu:1"},
		"1 carrier in 1 cluster\n"
		"carrier     cpu  core  smt  node  cluster  nearest first\n"
		"      0       0     0    -     0        0  -\n");
}
END_TEST

START_TEST(long_orders_are_cut)
{
	struct haul_plan *plan = plan_of((struct haul_plan_opts){.machine = "l3:4 core:64 pu:1"});
	char *text = NULL;
	size_t len = 0, widest = 0, line = 0;
	FILE *out = open_memstream(&text, &len);

	ck_assert_int_eq(haul_plan_print(plan, out), 0);
	fclose(out);
	for (const char *c = text; *c; c++) {
		line = *c == '\n' ? 0 : line + 1;
		widest = line > widest ? line : widest;
	}
	ck_assert_uint_lt(widest, 80);
	ck_assert_ptr_nonnull(strstr(text, "    255     255   255    -     0        3  192 193"));
	free(text);
	haul_plan_destroy(plan);
}
END_TEST

START_TEST(a_full_disk_is_reported)
{
	struct haul_plan *plan = plan_of((struct haul_plan_opts){.machine = "core:1 pu:1"});
	FILE *out = fopen("/dev/full", "w");

	ck_assert_ptr_nonnull(out);
	setvbuf(out, NULL, _IONBF, 0);
	ck_assert_int_eq(haul_plan_print(plan, out), -EIO);
	fclose(out);
	haul_plan_destroy(plan);
}
END_TEST

SUITE_MAIN(
	"topo_print", {table, 1}, {one, 1}, {long_orders_are_cut, 1}, {a_full_disk_is_reported, 1})
