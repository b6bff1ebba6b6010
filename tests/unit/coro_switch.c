/* SPDX-License-Identifier: BSD-3-Clause */
/* The switch on this CPU, and the end of a backtrace taken on a coroutine's stack. */
#include <execinfo.h>
#include <stdint.h>

#include "coro/coro.h"
#include "coro_switch_cases.h"
#include "support/suite.h"

START_TEST(switch_keeps_its_promises)
{
	const char *name;
	const char *wrong = switch_case_run((unsigned)_i, &name);

	ck_assert_msg(!wrong, "%s: %s", name, wrong);
}
END_TEST

#define DEPTH 10

static struct hauli_co main_co, co;
static struct hauli_stack own;
static char stack[256 << 10] __attribute__((aligned(64)));
static void *frames[64];
static int n_frames;

static __attribute__((noinline)) int nest(int depth)
{
	int n = depth ? nest(depth - 1) : backtrace(frames, 64);

	asm volatile("" : "+r"(n)); /* no tail call */
	return n;
}

static void trace(void *pass)
{
	hauli_co_arrived(&co);
	n_frames = nest(DEPTH);
	hauli_co_end(&co, &main_co, NULL);
}

START_TEST(backtrace_ends_where_the_coroutine_began)
{
	uintptr_t last, first = (uintptr_t)hauli_coro_start;

	hauli_co_init_thread(&main_co);
	own.bytes = sizeof(stack);
	hauli_co_prepare(&co, &own, stack + sizeof(stack), trace);
	hauli_co_switch(&main_co, &co, NULL);
	hauli_co_fini(&co);
	hauli_co_fini_thread(&main_co);
	/* The frames of nest(), its callees, trace() and hauli_coro_start(). A sanitizer adds its
	 * own. */
	ck_assert_int_ge(n_frames, DEPTH + 3);
	ck_assert_int_lt(n_frames, 64);
	last = (uintptr_t)frames[n_frames - 1];
	ck_assert_msg(last > first && last <= first + 16, "the last frame is %p", (void *)last);
}
END_TEST

SUITE_MAIN("coro_switch", {switch_keeps_its_promises, SWITCH_CASES},
	{backtrace_ends_where_the_coroutine_began, 1})
