/* SPDX-License-Identifier: BSD-3-Clause */
/* Misuse of the API: the process (a child) dies with one line that names the call, or the call
 * returns an error where it can. In every build. */
#include <errno.h>

#include <haul/driver.h>
#include <haul/haul.h>

#include "misuse.h"
#include "support/suite.h"

static struct haul_coro *handle;

static void *nothing(void *arg)
{
	return arg;
}

static void *parks(void *arg)
{
	haul_park(HAUL_FOREVER);
	return arg;
}

static void *sleeps(void *arg)
{
	haul_sleep(60 * HAUL_S);
	return arg;
}

/* Calls from outside a coroutine. */

static void yield_outside(void)
{
	haul_yield();
}

static void sleep_outside(void)
{
	haul_sleep(1);
}

static void sleep_until_outside(void)
{
	haul_sleep_until(haul_in(1));
}

static void park_outside(void)
{
	haul_park(HAUL_FOREVER);
}

static void pin_outside(void)
{
	haul_pin();
}

static void unpin_outside(void)
{
	haul_unpin();
}

static void cycle_outside(void)
{
	haul_maybe_yield(false);
}

static void called(void *arg)
{
	abort();
}

static void offload_outside(void)
{
	(void)haul_offload(called, NULL, HAUL_FOREVER);
}

static void offload_now_outside(void)
{
	(void)haul_offload(called, NULL, 0);
}

static void *offloads_amid_change(void *arg)
{
	HAUL_NO_SUSPEND();
	(void)haul_offload(called, NULL, 0);
	return arg;
}

static void offload_amid_change(void)
{
	run_on(rt, 0, offloads_amid_change, NULL);
}

static void offload_in_handler(void)
{
	handle_by(offload_now_outside);
}

static void try_park_outside(void)
{
	haul_poller_try_park();
}

static void can_park_outside(void)
{
	haul_poller_can_park();
}

static void unpark_poller_outside(void)
{
	haul_poller_unpark();
}

static void deadline_outside(void)
{
	haul_poller_deadline();
}

/* Calls before the first start of a runtime, and after its stop. */
static void sleep_before_any_start(void)
{
	runtime_stop(rt);
	haul_sleep(1);
}

/* Calls from a coroutine that is no poller. */

static void *parks_as_a_poller(void *arg)
{
	haul_poller_try_park();
	return NULL;
}

static void park_poller_in_a_coroutine(void)
{
	run_on(rt, 0, parks_as_a_poller, NULL);
}

/* Handles that are invalid or NULL. */

static struct haul_coro *run_another(void)
{
	struct haul_coro *co;

	haul_spawn_on(haul_carrier(rt, 0), &co, nothing, NULL, NULL);
	haul_join(co, NULL, HAUL_FOREVER);
	return co;
}

/* A coroutine that is freed and not only joined, since the carrier has switched to another one. Its
 * stack is then in the carrier's cache, which this thread's spawns do not use. */
static struct haul_coro *joined(void)
{
	struct haul_coro *co = run_another();

	run_another();
	return co;
}

static void join_twice(void)
{
	haul_join(joined(), NULL, HAUL_FOREVER);
}

static void *join_in_a_coroutine(void *co)
{
	haul_join(co, NULL, HAUL_FOREVER);
	return NULL;
}

static void join_twice_in_a_coroutine(void)
{
	run_on(rt, 1, join_in_a_coroutine, joined());
}

static void *join_own_child_twice(void *arg)
{
	struct haul_coro *co;

	haul_spawn(&co, nothing, NULL, NULL);
	haul_join(co, NULL, HAUL_FOREVER);
	haul_join(co, NULL, HAUL_FOREVER);
	return NULL;
}

static void join_twice_on_one_carrier(void)
{
	run_on(rt, 0, join_own_child_twice, NULL);
}

static void *join_a_reused_one(void *arg)
{
	struct haul_coro *co, *other;

	haul_spawn(&co, nothing, NULL, NULL);
	haul_join(co, NULL, HAUL_FOREVER);
	haul_spawn(&other, parks, NULL, NULL);
	haul_detach(other);
	haul_spawn(&other, join_in_a_coroutine, co, NULL); /* co was reused */
	haul_join(other, NULL, HAUL_FOREVER);
	return NULL;
}

static void join_after_reuse(void)
{
	run_on(rt, 0, join_a_reused_one, NULL);
}

static void join_by_two(void)
{
	haul_spawn_on(haul_carrier(rt, 0), &handle, parks, NULL, NULL);
	haul_spawn_on(haul_carrier(rt, 1), NULL, join_in_a_coroutine, handle, NULL);
	haul_join(handle, NULL, HAUL_FOREVER);
}

static void join_after_detach(void)
{
	haul_spawn_on(haul_carrier(rt, 0), &handle, parks, NULL, NULL);
	haul_detach(handle);
	haul_join(handle, NULL, HAUL_FOREVER);
}

/* The report does not list coroutines ended by the stop as unjoined. One that only parked would be
 * told by the stop, as one that nothing can wake. */
static void join_after_stop(void)
{
	haul_spawn_on(haul_carrier(rt, 0), &handle, sleeps, NULL, NULL);
	runtime_stop(rt);
	haul_join(handle, NULL, HAUL_FOREVER);
}

static void detach_after_join(void)
{
	haul_detach(joined());
}

static void detach_right_after_join(void)
{
	haul_detach(run_another());
	run_another();
}

static void detach_twice(void)
{
	haul_spawn_on(haul_carrier(rt, 0), &handle, parks, NULL, NULL);
	haul_detach(handle);
	run_another(); /* the carrier has handled the request */
	haul_detach(handle);
	run_another();
}

static void unpark_after_join(void)
{
	haul_unpark(joined());
}

static void cancel_after_join(void)
{
	haul_cancel(joined());
}

static void unpark_none(void)
{
	haul_unpark(NULL);
}

static void cancel_none(void)
{
	haul_cancel(NULL);
}

static void detach_none(void)
{
	haul_detach(NULL);
}

static void name_of_none(void)
{
	haul_coro_name(NULL);
}

static void home_of_none(void)
{
	haul_coro_home(NULL);
}

/* Calls that need the state of a carrier, from another thread. */

static void id_of_no_carrier(void)
{
	haul_carrier_id(haul_carrier_self());
}

static void place_of_no_carrier(void)
{
	haul_carrier_place(haul_carrier(rt, 2));
}

static void runtime_of_no_carrier(void)
{
	haul_carrier_runtime(NULL);
}

static void stats_of_no_carrier(void)
{
	struct haul_carrier_stats st;

	haul_carrier_get_stats(NULL, &st);
}

static void start_nowhere(void)
{
	haul_start(NULL, NULL, NULL, 0);
}

static void carriers_of_none(void)
{
	haul_carriers(NULL);
}

static void carrier_of_none(void)
{
	haul_carrier(NULL, 0);
}

static void near_none(void)
{
	haul_carrier_near(rt, NULL);
}

static void dump_of_none(void)
{
	haul_dump(NULL, stderr);
}

static void trim_of_none(void)
{
	haul_trim(NULL);
}

/* Calls from a handler that runs on its poller's stack. */

static void join_handle(void)
{
	haul_join(handle, NULL, HAUL_FOREVER);
}

static void sleep_in_a_handler(void)
{
	handle_by(sleep_outside);
}

static void park_in_a_handler(void)
{
	handle_by(park_outside);
}

static void yield_in_a_handler(void)
{
	handle_by(yield_outside);
}

static void join_in_a_handler(void)
{
	haul_spawn_on(haul_carrier(rt, 1), &handle, parks, NULL, NULL);
	handle_by(join_handle);
}

#define OUTSIDE "called outside a coroutine"
#define NO_POLLER "called outside a poller"
#define USED_UP "was joined or detached before"
#define IS_NULL "is NULL"
#define IN_HANDLER "called in a burst handler"

static const struct misuse misuses[] = {
	{yield_outside, "haul_yield", OUTSIDE},
	{sleep_outside, "haul_sleep", OUTSIDE},
	{sleep_until_outside, "haul_sleep_until", OUTSIDE},
	{sleep_before_any_start, "haul_sleep", OUTSIDE, true},
	{park_outside, "haul_park", OUTSIDE},
	{pin_outside, "haul_pin", OUTSIDE},
	{unpin_outside, "haul_unpin", OUTSIDE},
	{cycle_outside, "haul_maybe_yield", OUTSIDE},
	{offload_outside, "haul_offload", OUTSIDE},
	{offload_now_outside, "haul_offload", OUTSIDE},
	{offload_amid_change, "haul_offload", "HAUL_NO_SUSPEND()"},
	{offload_in_handler, "haul_offload", IN_HANDLER},
	{try_park_outside, "haul_poller_try_park", NO_POLLER},
	{can_park_outside, "haul_poller_can_park", NO_POLLER},
	{unpark_poller_outside, "haul_poller_unpark", NO_POLLER},
	{deadline_outside, "haul_poller_deadline", NO_POLLER},
	{park_poller_in_a_coroutine, "haul_poller_try_park", NO_POLLER},
	{join_twice, "haul_join", USED_UP},
	{join_twice_in_a_coroutine, "haul_join", USED_UP},
	{join_twice_on_one_carrier, "haul_join", USED_UP},
	{join_after_reuse, "haul_join", USED_UP},
	{join_by_two, "haul_join", "others wait for it"},
	{join_after_detach, "haul_join", USED_UP},
	{join_after_stop, "haul_join", "join before haul_stop()", true},
	{detach_after_join, "haul_detach", USED_UP},
	{detach_right_after_join, "haul_detach", USED_UP},
	{detach_twice, "haul_detach", USED_UP},
	{unpark_after_join, "haul_unpark", USED_UP},
	{cancel_after_join, "haul_cancel", USED_UP},
	{unpark_none, "haul_unpark", IS_NULL},
	{cancel_none, "haul_cancel", IS_NULL},
	{detach_none, "haul_detach", IS_NULL},
	{name_of_none, "haul_coro_name", IS_NULL},
	{home_of_none, "haul_coro_home", IS_NULL},
	{id_of_no_carrier, "haul_carrier_id", IS_NULL},
	{place_of_no_carrier, "haul_carrier_place", IS_NULL},
	{runtime_of_no_carrier, "haul_carrier_runtime", IS_NULL},
	{stats_of_no_carrier, "haul_carrier_get_stats", IS_NULL},
	{start_nowhere, "haul_start", IS_NULL},
	{carriers_of_none, "haul_carriers", IS_NULL},
	{carrier_of_none, "haul_carrier", IS_NULL},
	{near_none, "haul_carrier_near", IS_NULL},
	{dump_of_none, "haul_dump", IS_NULL},
	{trim_of_none, "haul_trim", IS_NULL},
	{sleep_in_a_handler, "haul_sleep", IN_HANDLER},
	{park_in_a_handler, "haul_park", IN_HANDLER},
	{yield_in_a_handler, "haul_yield", IN_HANDLER},
	{join_in_a_handler, "haul_join", IN_HANDLER},
};
#define MISUSES ((int)(sizeof(misuses) / sizeof(misuses[0])))

START_TEST(a_mistake_is_reported)
{
	misuse_is_reported(&misuses[_i]);
}
END_TEST

/* Calls that return an error. */

static void *spawn_without_order_key(void *arg)
{
	return (void *)(intptr_t)haul_spawn(NULL, nothing, NULL, arg);
}

START_TEST(an_order_key_beyond_the_last_is_refused)
{
	struct haul_coro_opts last = {.order_key = HAUL_ORDER_KEYS};
	struct haul_coro_opts beyond = {.order_key = HAUL_ORDER_KEYS + 1};
	struct haul_coro_opts huge = {.stack_size = HAUL_STACK_MAX + 1};

	rt = runtime_start(1);
	ck_assert_int_eq(haul_spawn_any(rt, NULL, nothing, NULL, &last), 0);
	ck_assert_int_eq(haul_spawn_any(rt, NULL, nothing, NULL, &beyond), -EINVAL);
	ck_assert_int_eq(haul_spawn_many(rt, NULL, nothing, NULL, 1, &beyond), -EINVAL);
	ck_assert_int_eq(haul_spawn_on(haul_carrier(rt, 0), NULL, nothing, NULL, &beyond), -EINVAL);
	ck_assert_int_eq((intptr_t)run_on(rt, 0, spawn_without_order_key, &beyond), -EINVAL);
	ck_assert_int_eq((intptr_t)run_on(rt, 0, spawn_without_order_key, &huge), -EINVAL);
	ck_assert_int_eq((intptr_t)run_on(rt, 0, spawn_without_order_key, &last), 0);
	runtime_stop(rt);
}
END_TEST

static void *start_another(void *arg)
{
	return (void *)(intptr_t)haul_start(arg, NULL, NULL, 0);
}

START_TEST(no_start_in_a_coroutine)
{
	struct haul_runtime *other = NULL;

	rt = runtime_start(1);
	ck_assert_int_eq((intptr_t)run_on(rt, 0, start_another, &other), -EPERM);
	ck_assert_ptr_null(other);
	runtime_stop(rt);
}
END_TEST

static int launch_none(
	void *ctx, unsigned i, const struct haul_place *place, int (*fn)(void *), void *arg)
{
	return -EAGAIN;
}

START_TEST(options_out_of_range_are_refused)
{
	const struct haul_launcher halves[] = {{0}, {.launch = launch_none}};
	const struct haul_runtime_opts wrong[] = {
		{.steal = (enum haul_steal)3},
		{.steal = (enum haul_steal)99},
		{.steal = (enum haul_steal) - 1},
		{.steal_most = 129},
		{.steal_depth = 257},
		{.searchers = 33},
		{.stack_size = HAUL_STACK_MAX + 1},
		{.stack_size = SIZE_MAX},
		{.launcher = &halves[0]},
		{.launcher = &halves[1]},
	};

	static const char *const lines[] = {
		"options: steal: ", "options: steal: ", "options: steal: ", "options: steal_most: ",
		"options: steal_depth: ", "options: searchers: ", "stacks: ", "stacks: ",
		"options: launcher: ", "options: launcher: "};
	char line[256];

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct haul_runtime_opts opts = wrong[i];

		rt = NULL;
		ck_assert_msg(haul_start(&rt, &opts, NULL, 0) == -EINVAL && !rt, "options %zu", i);
		ck_assert_int_eq(haul_start(&rt, &opts, line, sizeof(line)), -EINVAL);
		ck_assert_msg(strncmp(line, lines[i], strlen(lines[i])) == 0, "%zu: %s", i, line);
	}
}
END_TEST

START_TEST(plans_that_lead_nowhere_are_refused)
{
	struct haul_plan *good = NULL;
	char why[256] = "";

	ck_assert_msg(haul_plan_create(&good, &(struct haul_plan_opts){.carriers = 3}, why,
			      sizeof(why)) == 0,
		"%s", why);
	for (int i = 0; i < 8; i++) {
		struct haul_plan plan = *good;
		struct haul_place places[3] = {good->places[0], good->places[1], good->places[2]};
		unsigned by_distance[6] = {1, 2, 2, 0, 0, 1};
		unsigned nearest[1] = {0};
		struct haul_plan *const p = &plan;

		plan.places = places;
		plan.by_distance = by_distance;
		plan.cpus = 1;
		plan.nearest = nearest;
		rt = NULL;
		switch (i) {
		case 0:
			ck_assert_int_eq(
				haul_start(&rt, &(struct haul_runtime_opts){.plan = p}, NULL, 0),
				0);
			runtime_stop(rt);
			continue;
		case 1:
			plan.carriers = 0;
			break;
		case 2:
			plan.carriers = HAUL_CARRIERS_MAX + 1;
			break;
		case 3:
			plan.places = NULL;
			break;
		case 4:
			plan.clusters = 0;
			break;
		case 5:
			places[2].cluster = plan.clusters;
			break;
		case 6:
			by_distance[5] = 3;
			break;
		case 7:
			nearest[0] = 3;
			break;
		}
		ck_assert_msg(
			haul_start(&rt, &(struct haul_runtime_opts){.plan = p}, NULL, 0) == -EINVAL,
			"plan %d", i);
	}
	haul_plan_destroy(good);
}
END_TEST

SUITE_MAIN("misuse", {a_mistake_is_reported, MISUSES}, {an_order_key_beyond_the_last_is_refused, 1},
	{no_start_in_a_coroutine, 1}, {options_out_of_range_are_refused, 1},
	{plans_that_lead_nowhere_are_refused, 1})
