/* SPDX-License-Identifier: BSD-3-Clause */
/* Yields that the compiler places; this file is compiled with haul's plugin for gcc. A hog on the
 * only carrier ends because another coroutine of it has run, or, where a yield is not safe, it
 * computes for a while in which none has. */
#include <errno.h>
#include <stdatomic.h>
#include <unistd.h>

#include <haul/haul.h>

#include "placed_plain.h"
#include "sched/state/self.h"
#include "support/runtime.h"
#include "support/suite.h"

#define WHILE (5 * HAUL_MS) /* some hundred times the interval at which hogs yield */
#define FOREVER (20 * HAUL_S)

static struct haul_local local = HAUL_LOCAL(NULL);

static struct {
	struct haul_runtime *rt;
	struct haul_mutex mutex;
	_Atomic uint64_t end;
	atomic_bool has_run;
	atomic_bool others_ran; /* before the hog's time was over */
	pid_t thread;
} s;

static inline bool hog_may_end(void)
{
	return s.has_run || haul_now() >= s.end;
}

#include "placed_foreign.h"

static void loop_hog(void)
{
	while (!hog_may_end())
		;
}

static void tight_hog(void)
{
	while (!s.has_run)
		;
}

static __attribute__((noinline)) bool recurse(unsigned depth)
{
	if (depth == 0)
		return hog_may_end();
	return recurse(depth - 1) || recurse(depth - 1);
}

/* No loop: 2^40 calls. */
static void recursive_hog(void)
{
	recurse(40);
}

/* Fails if errno has changed, or its address. */
static void errno_hog(void)
{
	int *at = &errno;

	errno = 4711;
	while (!hog_may_end())
		if (*at != 4711 || at != &errno)
			__builtin_trap();
	errno = 0;
}

static void called_back_hog(void)
{
	placed_plain(loop_hog);
}

static HAUL_NO_PLACED_YIELDS void excluded_hog(void)
{
	while (!hog_may_end())
		;
}

static inline __attribute__((always_inline)) HAUL_NO_PLACED_YIELDS void excluded_inline(void)
{
	while (!hog_may_end())
		;
}

static void inlined_exclusion_hog(void)
{
	excluded_inline();
}

static void foreign_hog(void)
{
	foreign_inline_hog();
}

static void start(unsigned carriers, enum haul_steal steal)
{
	memset(&s, 0, sizeof(s));
	s.rt = runtime_start_stealing(carriers, NULL, steal);
}

static uint64_t placed_yields(void)
{
	struct haul_carrier_stats st;
	uint64_t sum = 0;

	for (unsigned i = 0; i < haul_carriers(s.rt); i++) {
		haul_carrier_get_stats(haul_carrier(s.rt, i), &st);
		sum += st.placed_yields;
	}
	return sum;
}

static struct haul_coro *spawn(haul_fn *fn, void *arg)
{
	struct haul_coro *co;

	ck_assert_int_eq(haul_spawn_on(haul_carrier(s.rt, 0), &co, fn, arg, NULL), 0);
	return co;
}

static void join(struct haul_coro *co)
{
	ck_assert_int_eq(haul_join(co, NULL, HAUL_FOREVER), 0);
}

static void *runs(void *arg)
{
	s.has_run = true;
	return NULL;
}

/* The hog begins once the other one is ready, on the same carrier, and tells whether that one ran
 * in its midst. */
static void *hogs(void *arg)
{
	void (*hog)(void) = (void (*)(void))arg;
	struct haul_coro *other;

	ck_assert_int_eq(haul_spawn(&other, runs, NULL, NULL), 0);
	hog();
	s.others_ran = s.has_run;
	join(other);
	return NULL;
}

static bool lets_others_run(void (*hog)(void), uint64_t ns)
{
	uint64_t before = placed_yields();

	s.has_run = s.others_ran = false;
	s.end = haul_in(ns);
	join(spawn(hogs, (void *)hog));
	ck_assert_int_eq(s.others_ran, placed_yields() > before);
	return s.others_ran;
}

static void no_suspend(void)
{
	HAUL_NO_SUSPEND();
	loop_hog();
}

static void uses_local(void)
{
	haul_local_set(&local, NULL);
	loop_hog();
}

static void holds_mutex(void)
{
	haul_mutex_lock(&s.mutex);
	loop_hog();
	haul_mutex_unlock(&s.mutex);
}

static int in_scope(void *arg)
{
	errno_hog();
	return 0;
}

static void has_deadline(void)
{
	HAUL_SCOPE(scope, haul_in(HAUL_MS), HAUL_SCOPE_ALL);
	haul_scope_spawn(&scope, in_scope, NULL, NULL);
	loop_hog();
	haul_scope_join(&scope);
}

START_TEST(hogs_yield)
{
	start(1, HAUL_STEAL_OFF);
	ck_assert(lets_others_run(loop_hog, FOREVER));
	ck_assert(lets_others_run(tight_hog, FOREVER));
	ck_assert(lets_others_run(recursive_hog, FOREVER));
	ck_assert(lets_others_run(errno_hog, FOREVER));
	ck_assert(lets_others_run(holds_mutex, FOREVER));
	ck_assert(lets_others_run(has_deadline, FOREVER));
	runtime_stop(s.rt);
}
END_TEST

START_TEST(where_it_is_not_safe_none_yields)
{
	start(1, HAUL_STEAL_OFF);
	ck_assert(!lets_others_run(called_back_hog, WHILE));
	ck_assert(!lets_others_run(excluded_hog, WHILE));
	ck_assert(!lets_others_run(inlined_exclusion_hog, WHILE));
	ck_assert(!lets_others_run(foreign_hog, WHILE));
	ck_assert(!lets_others_run(no_suspend, WHILE));
	ck_assert(!lets_others_run(uses_local, WHILE));
	runtime_stop(s.rt);
}
END_TEST

static void *polls(void *arg)
{
	while (haul_maybe_yield(false)) {
		bool before = s.has_run;

		s.end = haul_in(WHILE);
		loop_hog();
		if (s.has_run && !before)
			s.others_ran = true;
	}
	return NULL;
}

START_TEST(a_poller_does_not_yield)
{
	struct haul_coro *co;

	start(1, HAUL_STEAL_OFF);
	ck_assert_int_eq(haul_poller_register(haul_carrier(s.rt, 0), &co, polls, NULL, NULL), 0);
	join(spawn(runs, NULL));
	ck_assert(!s.others_ran);
	ck_assert_uint_eq(placed_yields(), 0);
	haul_cancel(co);
	join(co);
	runtime_stop(s.rt);
}
END_TEST

/* Threads that are no carriers run such code, too. */
START_TEST(other_threads_go_on)
{
	start(1, HAUL_STEAL_OFF);
	s.end = haul_in(WHILE);
	loop_hog();
	runtime_stop(s.rt);
	s.end = haul_in(WHILE);
	loop_hog();
}
END_TEST

static void *keeps_thread(void *arg)
{
	pid_t thread = gettid();

	for (unsigned i = 0; i < 200; i++) {
		s.end = haul_in(100 * HAUL_US);
		loop_hog();
		if (gettid() != thread)
			__builtin_trap();
		haul_yield();
		thread = gettid();
	}
	return NULL;
}

START_TEST(a_yield_keeps_the_thread)
{
	struct haul_coro *cos[20];

	if (!HAUL_STEALING)
		return;
	start(3, HAUL_STEAL_GLOBAL);
	for (unsigned i = 0; i < 20; i++)
		cos[i] = spawn(keeps_thread, NULL);
	for (unsigned i = 0; i < 20; i++)
		join(cos[i]);
	ck_assert_uint_gt(placed_yields(), 0);
	runtime_stop(s.rt);
}
END_TEST

SUITE_MAIN("placed", {hogs_yield, 1}, {where_it_is_not_safe_none_yields, 1},
	{a_poller_does_not_yield, 1}, {other_threads_go_on, 1}, {a_yield_keeps_the_thread, 1})
