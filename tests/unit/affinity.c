/* SPDX-License-Identifier: BSD-3-Clause */
/* A pinned coroutine always runs on its home. The homes of child coroutines. */
#include <errno.h>

#include "support/runtime.h"
#include "support/suite.h"

#define CARRIERS 3

static void *stays_here(void *arg)
{
	struct haul_carrier *home = haul_coro_home(haul_self());
	bool ok;

	haul_pin();
	ok = haul_carrier_self() == home;
	for (int i = 0; i < 1000 && ok; i++) {
		haul_yield();
		ok = haul_carrier_self() == home;
	}
	for (int i = 0; i < 50 && ok; i++) {
		ok = haul_sleep(i * HAUL_US) == 0 && haul_carrier_self() == home;
	}
	for (int i = 0; i < 1000 && ok; i++) {
		haul_unpark(haul_self());
		ok = haul_park(HAUL_FOREVER) == 0 && haul_carrier_self() == home;
	}
	return ok ? home : NULL;
}

START_TEST(coroutine_stays_at_home)
{
	struct haul_runtime *rt = runtime_start(CARRIERS);

	for (unsigned i = 0; i < CARRIERS; i++)
		ck_assert_ptr_eq(run_on(rt, i, stays_here, NULL), haul_carrier(rt, i));
	runtime_stop(rt);
}
END_TEST

static void *its_home(void *arg)
{
	return haul_coro_home(haul_self());
}

/* Thieves may steal the parent and its children. */
static void *child_is_at_home(void *arg)
{
	struct haul_carrier *home = haul_coro_home(haul_self());
	struct haul_coro *child;
	void *there = NULL;

	if (haul_spawn(&child, its_home, NULL, NULL) == 0)
		haul_join(child, &there, HAUL_FOREVER);
	if (there != home)
		return "haul_spawn left home";
	if (haul_spawn_any(arg, &child, its_home, NULL, NULL) == 0)
		haul_join(child, &there, HAUL_FOREVER);
	return there == home ? NULL : "haul_spawn_any left home";
}

START_TEST(child_is_at_home_where_its_parent_is)
{
	struct haul_runtime *rt = runtime_start(CARRIERS);

	for (unsigned i = 0; i < CARRIERS; i++)
		ck_assert_pstr_eq(run_on(rt, i, child_is_at_home, rt), NULL);
	runtime_stop(rt);
}
END_TEST

START_TEST(plain_thread_is_no_carrier)
{
	struct haul_runtime *rt = runtime_start(1);

	ck_assert_ptr_null(haul_carrier_self());
	ck_assert_ptr_null(haul_self());
	ck_assert(!haul_cancelled());
	ck_assert_int_eq(haul_spawn(NULL, its_home, NULL, NULL), -EPERM);
	runtime_stop(rt);
}
END_TEST

START_TEST(spawning_round_robin_reaches_each_carrier)
{
	struct haul_runtime *rt = runtime_start(CARRIERS);
	struct haul_coro_opts opts = {.round_robin = true};
	unsigned seen[CARRIERS] = {0};

	for (unsigned i = 0; i < 4 * CARRIERS; i++) {
		struct haul_coro *co;
		void *there;

		ck_assert_int_eq(haul_spawn_any(rt, &co, its_home, NULL, &opts), 0);
		haul_join(co, &there, HAUL_FOREVER);
		seen[haul_carrier_id(there)]++;
	}
	for (unsigned i = 0; i < CARRIERS; i++)
		ck_assert_uint_eq(seen[i], 4);
	runtime_stop(rt);
}
END_TEST

START_TEST(facts_of_a_carrier)
{
	struct haul_runtime *rt = runtime_start(CARRIERS);

	for (unsigned i = 0; i < CARRIERS; i++) {
		ck_assert_uint_eq(haul_carrier_id(haul_carrier(rt, i)), i);
		ck_assert_ptr_eq(haul_carrier_runtime(haul_carrier(rt, i)), rt);
	}
	ck_assert_ptr_null(haul_carrier(rt, CARRIERS));
	runtime_stop(rt);
}
END_TEST

SUITE_MAIN("affinity", {coroutine_stays_at_home, 1}, {child_is_at_home_where_its_parent_is, 1},
	{plain_thread_is_no_carrier, 1}, {spawning_round_robin_reaches_each_carrier, 1},
	{facts_of_a_carrier, 1})
