/* SPDX-License-Identifier: BSD-3-Clause */
/* In a build without stealing, a start that asks for it fails. */
#include <errno.h>
#include <string.h>

#include "support/runtime.h"
#include "support/suite.h"

START_TEST(stealing_is_refused)
{
	const enum haul_steal ways[] = {HAUL_STEAL_CLUSTER, HAUL_STEAL_GLOBAL};
	char why[128] = "";
	const struct haul_runtime_opts opts = {.steal = ways[_i]};
	struct haul_runtime *rt = NULL;

	ck_assert_int_eq(haul_start(&rt, &opts, why, sizeof(why)), -ENOTSUP);
	ck_assert_msg(strstr(why, "-Dstealing=true") != NULL, "%s", why);
}
END_TEST

START_TEST(off_starts)
{
	runtime_stop(runtime_start_stealing(2, NULL, HAUL_STEAL_OFF));
}
END_TEST

SUITE_MAIN("no_steal", {stealing_is_refused, 2}, {off_starts, 1})
