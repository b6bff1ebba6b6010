/* SPDX-License-Identifier: BSD-3-Clause */
/* The version: of the headers, of the library, and of the project (PROJECT_VERSION). */
#include <stdio.h>

#include <haul/haul.h>

#include "support/suite.h"

#if HAUL_VERSION < HAUL_VERSION_NUM(0, 1, 0) || HAUL_VERSION >= HAUL_VERSION_NUM(255, 0, 0)
#error "not comparable in the preprocessor"
#endif

START_TEST(macros_and_library_have_the_version_of_the_project)
{
	char text[32];

	snprintf(text, sizeof(text), "%d.%d.%d", HAUL_VERSION_MAJOR, HAUL_VERSION_MINOR,
		HAUL_VERSION_PATCH);
	ck_assert_str_eq(text, PROJECT_VERSION);
	ck_assert_str_eq(haul_version(), PROJECT_VERSION);
}
END_TEST

START_TEST(numbers_are_ordered_as_versions_are)
{
	ck_assert_int_lt(HAUL_VERSION_NUM(0, 1, 255), HAUL_VERSION_NUM(0, 2, 0));
	ck_assert_int_lt(HAUL_VERSION_NUM(0, 255, 255), HAUL_VERSION_NUM(1, 0, 0));
	ck_assert_int_lt(HAUL_VERSION_NUM(1, 2, 3), HAUL_VERSION_NUM(1, 2, 4));
	ck_assert_int_eq(HAUL_VERSION,
		HAUL_VERSION_NUM(HAUL_VERSION_MAJOR, HAUL_VERSION_MINOR, HAUL_VERSION_PATCH));
}
END_TEST

SUITE_MAIN("version", {macros_and_library_have_the_version_of_the_project},
	{numbers_are_ordered_as_versions_are})
