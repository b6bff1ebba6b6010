/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that need EAL, without EAL, and EAL without its preconditions: each is refused with a
 * line. */
#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <haul-dpdk/eal.h>
#include <haul-dpdk/pool.h>

#include "support/suite.h"

#define refused_with(text) ck_assert_msg(strstr(err, text) != NULL, "%s", err)

static char err[256];

START_TEST(eal_needs_a_plan)
{
	const struct haul_eal_opts opts = {.program = "misuse"};

	ck_assert_int_eq(haul_eal_init(&opts, err, sizeof(err)), -EINVAL);
	refused_with("no plan is given");
}
END_TEST

START_TEST(eal_needs_carriers)
{
	const struct haul_plan none = {.carriers = 0};
	const struct haul_eal_opts opts = {.plan = &none};

	ck_assert_int_eq(haul_eal_init(&opts, err, sizeof(err)), -EINVAL);
	refused_with("no carriers");
}
END_TEST

START_TEST(arguments_have_a_number)
{
	const struct haul_plan one = {.carriers = 1};
	const struct haul_eal_opts opts = {.plan = &one, .nb_args = 1};

	ck_assert_int_eq(haul_eal_init(&opts, err, sizeof(err)), -EINVAL);
	refused_with("nb_args");
}
END_TEST

static void refused_without_eal(void)
{
	ck_assert_ptr_null(haul_pool_create(1024, err, sizeof(err)));
	refused_with("DPDK is not running");
	ck_assert_str_eq(haul_eal_notice(), "");
	haul_eal_fini();
}

START_TEST(nothing_works_before_eal)
{
	struct haul_plan *plan;

	refused_without_eal();
	ck_assert_int_eq(haul_eal_attach(&plan, err, sizeof(err)), -ENODEV);
	refused_with("DPDK is not running");
}
END_TEST

/* In a child process: it must neither wait for lcores nor wake the parent's lcores. */
static int is_refused_in_child(const struct haul_plan *plan)
{
	const struct haul_runtime_opts opts = {.plan = plan, .launcher = haul_eal_launcher()};
	struct haul_runtime *rt;

	haul_eal_fini();
	if (haul_pool_create(1024, err, sizeof(err)))
		return 1;
	return haul_start(&rt, &opts, NULL, 0) == -EPERM ? 0 : 2;
}

static void refused_in_child(const struct haul_plan *plan)
{
	pid_t child = fork();
	int status;

	if (child == 0)
		_exit(is_refused_in_child(plan));
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_msg(status == 0, "status %x", (unsigned)status);
}

START_TEST(nothing_works_in_a_child_nor_after)
{
	struct haul_eal_opts opts = {.program = "misuse", .mem_mb = 64, .restartable = true};
	struct haul_plan *plan;

	ck_assert_int_eq(haul_plan_create(&plan, NULL, err, sizeof(err)), 0);
	opts.plan = plan;
	ck_assert_msg(haul_eal_init(&opts, err, sizeof(err)) == 0, "%s", err);
	ck_assert_ptr_null(haul_pool_create(0, err, sizeof(err)));
	refused_with("0 packet buffers");
	refused_in_child(plan);
	haul_eal_fini();
	haul_plan_destroy(plan);
	refused_without_eal();
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{eal_needs_a_plan},
		{eal_needs_carriers},
		{arguments_have_a_number},
		{nothing_works_before_eal},
		{nothing_works_in_a_child_nor_after},
	};

	return suite_run("eal_misuse", tests, sizeof(tests) / sizeof(tests[0]));
}
