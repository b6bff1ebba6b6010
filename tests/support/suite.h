/* SPDX-License-Identifier: BSD-3-Clause */
/* The frame of a check program: one suite, one case, its tests in a table, results as TAP. */
#ifndef HAUL_TESTS_SUITE_H
#define HAUL_TESTS_SUITE_H

#include <check.h>
#include <stdlib.h>

struct suite_test {
	const TTest *test;
	int runs; /* > 1: called with _i = 0 .. runs - 1 */
};

/* Runs them without forking (threads do not survive a fork) and without a time limit: a lost wakeup
 * hangs, and meson ends the program. */
static inline int suite_run(const char *name, const struct suite_test *tests, size_t n)
{
	Suite *suite = suite_create(name);
	TCase *tc = tcase_create(name);
	SRunner *runner;
	int failed;

	tcase_set_timeout(tc, 0);
	for (size_t i = 0; i < n; i++) {
		if (tests[i].runs > 1)
			tcase_add_loop_test(tc, tests[i].test, 0, tests[i].runs);
		else
			tcase_add_test(tc, tests[i].test);
	}
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_set_fork_status(runner, CK_NOFORK);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* ck_assert() for loops of thousands: that writes a message to a file at each call. */
#define ASSERT_EACH(condition)                          \
	do {                                            \
		if (!(condition))                       \
			ck_abort_msg("%s", #condition); \
	} while (0)

#define SUITE_MAIN(name, ...)                                                    \
	int main(void)                                                           \
	{                                                                        \
		const struct suite_test tests[] = {__VA_ARGS__};                 \
                                                                                 \
		return suite_run(name, tests, sizeof(tests) / sizeof(tests[0])); \
	}

#endif
