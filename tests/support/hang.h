/* SPDX-License-Identifier: BSD-3-Clause */
/* For stress tests: if one hangs, what its coroutines wait for is on stderr. It fails by the limit
 * of its runner. */
#ifndef HAUL_TESTS_HANG_H
#define HAUL_TESTS_HANG_H

#include <check.h>
#include <signal.h>
#include <unistd.h>

#include <haul/runtime.h>

#define HANG_SECONDS 60

/* Called again and again; if it is not for HANG_SECONDS, all runtimes are dumped. */
static inline void hang_watch(void)
{
	ck_assert_int_eq(haul_dump_on_signal(SIGALRM), 0);
	alarm(HANG_SECONDS);
}

static inline void hang_ends(void)
{
	alarm(0);
}

#endif
