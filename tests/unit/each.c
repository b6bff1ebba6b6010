/* SPDX-License-Identifier: BSD-3-Clause */
/* haul/carrier.h: a function on each carrier, values of carriers, blocks that do not suspend. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#include "misuse.h"
#include "support/suite.h"

#define CARRIERS 4

static struct haul_runtime *start(void)
{
	return runtime_start_stealing(CARRIERS, NULL, HAUL_STEAL_CLUSTER);
}

static atomic_uint runs[CARRIERS], released, calls;
static struct haul_runtime *other_runtime;

static int marks(void *arg)
{
	unsigned i = haul_carrier_id(haul_carrier_self());

	runs[i]++;
	haul_sleep(50 * HAUL_MS); /* suspends, for longer than a call that would not wait for it */
	runs[i] += haul_carrier_id(haul_carrier_self()) == i;
	return 0;
}

static int fails_from_1_on(void *arg)
{
	int id = (int)haul_carrier_id(haul_carrier_self());

	return id ? -100 - id : 0;
}

static void *calls_each(void *runtime)
{
	int err = haul_on_each(runtime, marks, NULL);

	if (err == 0 && haul_on_each(runtime, fails_from_1_on, NULL) != -101)
		err = -EINVAL;
	return (void *)(intptr_t)err;
}

/* The callers: a thread, a coroutine, a cancelled one, one whose deadline has passed. */
static void *calls_each_cancelled(void *runtime)
{
	haul_cancel(haul_self());
	return calls_each(runtime);
}

static void *calls_each_too_late(void *runtime)
{
	HAUL_SCOPE(scope, 1, HAUL_SCOPE_ALL);

	return calls_each(runtime);
}

START_TEST(a_function_runs_on_each_carrier)
{
	haul_fn *const callers[] = {calls_each, calls_each_cancelled, calls_each_too_late};
	struct haul_runtime *runtime = start();

	memset(runs, 0, sizeof(runs));
	ck_assert_ptr_null(
		_i == 3 ? calls_each(runtime) : run_on(runtime, 1, callers[_i], runtime));
	for (unsigned i = 0; i < CARRIERS; i++)
		ck_assert_uint_eq(runs[i], 2);
	runtime_stop(runtime);
}
END_TEST

static int refused;

static void *calls_each_at_stop(void *runtime)
{
	calls = 1;
	while (haul_sleep(HAUL_S) == 0)
		;
	refused = haul_on_each(runtime, marks, NULL);
	return NULL;
}

START_TEST(a_stop_refuses)
{
	struct haul_runtime *runtime = start();

	calls = 0;
	ck_assert_int_eq(
		haul_spawn_on(haul_carrier(runtime, 2), NULL, calls_each_at_stop, runtime, NULL),
		0);
	WAIT_UNTIL(calls == 1);
	runtime_stop(runtime);
	ck_assert_int_eq(refused, -ECANCELED);
}
END_TEST

static int counts_call(void *arg)
{
	calls++;
	return 0;
}

static void *calls_each_once(void *runtime)
{
	return (void *)(intptr_t)haul_on_each(runtime, counts_call, NULL);
}

static void *calls_each_from_afar(void *runtime)
{
	return run_on(other_runtime, 0, calls_each_once, runtime);
}

/* By a thread, and by a coroutine of another runtime. The stop can come between two joins. */
START_TEST(a_stop_waits_for_calls_from_outside)
{
	other_runtime = runtime_start(1);
	for (int i = 0; i < 100; i++) {
		struct haul_runtime *runtime = start();
		pthread_t thread;
		void *err;

		calls = 0;
		ck_assert_int_eq(pthread_create(&thread, NULL,
					 i % 2 ? calls_each_from_afar : calls_each_once, runtime),
			0);
		WAIT_UNTIL(calls > 0);
		runtime_stop(runtime);
		pthread_join(thread, &err);
		ck_assert(!err || (intptr_t)err == -ECANCELED);
	}
	runtime_stop(other_runtime);
}
END_TEST

static void counts_release(void *value)
{
	released += *(unsigned *)value;
}

static struct haul_local number = HAUL_LOCAL(counts_release), other = HAUL_LOCAL(NULL);
static struct haul_local never_set = HAUL_LOCAL(counts_release);
static unsigned numbers[CARRIERS] = {1, 10, 100, 1000};

static int sets(void *arg)
{
	unsigned i = haul_carrier_id(haul_carrier_self());

	if (haul_local_get(&number) || haul_local_get(&other))
		return -EEXIST;
	return haul_local_set(&number, &numbers[i]) ?: haul_local_set(&other, &runs[i]);
}

static int finds(void *arg)
{
	unsigned i = haul_carrier_id(haul_carrier_self());

	return haul_local_get(&number) == &numbers[i] && haul_local_get(&other) == &runs[i] &&
			!haul_local_get(&never_set)
		? 0
		: -EINVAL;
}

/* Twice: the second runtime finds nothing of the first. */
START_TEST(each_carrier_has_its_value)
{
	struct haul_runtime *runtime = start();

	released = 0;
	ck_assert_ptr_null(haul_local_get(&number));
	ck_assert_int_eq(haul_local_set(&number, numbers), -EPERM);
	ck_assert_int_eq(haul_on_each(runtime, sets, NULL), 0);
	ck_assert_int_eq(haul_on_each(runtime, finds, NULL), 0);
	ck_assert_ptr_null(haul_local_get(&number));
	ck_assert_uint_eq(released, 0);
	runtime_stop(runtime);
	ck_assert_uint_eq(released, 1111);
}
END_TEST

static struct haul_local many[HAUL_LOCALS_MAX + 1];

static void *sets_too_many(void *arg)
{
	int err = 0;

	for (unsigned i = 0; i <= HAUL_LOCALS_MAX && !err; i++)
		err = haul_local_set(&many[i], &many[i]);
	if (err != -ENOSPC)
		return "more keys than there are";
	return haul_local_get(&many[0]) == &many[0] && !haul_local_get(&many[HAUL_LOCALS_MAX])
		? NULL
		: "a value";
}

START_TEST(keys_can_be_used_up)
{
	struct haul_runtime *runtime = start();

	ck_assert_pstr_eq(run_on(runtime, 0, sets_too_many, NULL), NULL);
	runtime_stop(runtime);
}
END_TEST

static struct haul_mutex mutex;

static uint64_t blocks(void)
{
	struct haul_carrier_stats stats;

	haul_carrier_get_stats(haul_carrier_self(), &stats);
	return stats.no_suspends;
}

static void *returns(void *arg)
{
	return arg;
}

/* It may spawn, wake and try; afterwards it may suspend. */
static const char *works_inside(void)
{
	HAUL_NO_SUSPEND();
	HAUL_NO_SUSPEND();
	struct haul_event event = {0};

	if (haul_spawn(NULL, returns, NULL, NULL) != 0)
		return "a spawn";
	haul_unpark(haul_self());
	return haul_event_wait(&event, 0) == -EAGAIN ? NULL : "a try";
}

static void *does_not_suspend(void *arg)
{
	uint64_t before = blocks();
	const char *wrong = works_inside();

	haul_yield();
	haul_sleep(1);
	if (!wrong && blocks() - before != 2)
		wrong = "another count";
	return (void *)wrong;
}

START_TEST(a_block_may_do_what_does_not_suspend)
{
	struct haul_runtime *runtime = runtime_start(1);

	{
		HAUL_NO_SUSPEND(); /* a plain thread */
	}
	ck_assert_pstr_eq(run_on(runtime, 0, does_not_suspend, NULL), NULL);
	runtime_stop(runtime);
}
END_TEST

static void lock_inside(void)
{
	HAUL_NO_SUSPEND();
	haul_mutex_lock(&mutex);
}

static void yield_inside(void)
{
	HAUL_NO_SUSPEND();
	haul_yield();
}

static void offer_inside(void)
{
	HAUL_NO_SUSPEND();
	haul_maybe_yield(false);
}

static void sleep_inside(void)
{
	HAUL_NO_SUSPEND();
	haul_sleep(1);
}

static void park_inside(void)
{
	HAUL_NO_SUSPEND();
	haul_unpark(haul_self());
	haul_park(HAUL_FOREVER);
}

static void open_a_scope_inside(void)
{
	HAUL_NO_SUSPEND();
	HAUL_SCOPE(scope, HAUL_FOREVER, HAUL_SCOPE_ALL);
}

static int nothing(void *arg)
{
	return 0;
}

static void call_each_inside(void)
{
	HAUL_NO_SUSPEND();
	haul_on_each(rt, nothing, NULL);
}

static void end_the_outer_first(void)
{
	struct haul_no_suspend outer, inner;

	haul_no_suspend_begin(&outer, "outer");
	haul_no_suspend_begin(&inner, "inner");
	haul_no_suspend_end(&outer);
}

static void each_of_none(void)
{
	haul_on_each(NULL, nothing, NULL);
}

static void each_without_a_function(void)
{
	haul_on_each(rt, NULL, NULL);
}

static void set_no_key(void)
{
	haul_local_set(NULL, &mutex);
}

static void get_no_key(void)
{
	haul_local_get(NULL);
}

static void (*in_release)(void);

static void calls_in_release(void *value)
{
	in_release();
}

static struct haul_local held = HAUL_LOCAL(calls_in_release);

static void *holds(void *arg)
{
	haul_local_set(&held, &held);
	return NULL;
}

static void in_a_release(void (*fn)(void))
{
	in_release = fn;
	run_on(rt, 0, holds, NULL);
	runtime_stop(rt);
}

static void sleep_in_release(void)
{
	haul_sleep(1);
}

static void yield_in_release(void)
{
	haul_yield();
}

static void offer_in_release(void)
{
	haul_maybe_yield(false);
}

static void wait_in_release(void)
{
	struct haul_event event = {0};

	haul_event_wait(&event, HAUL_FOREVER);
}

static void call_each_in_release(void)
{
	haul_on_each(rt, fails_from_1_on, NULL);
}

#define IN_RELEASE(fn)             \
	static void end_##fn(void) \
	{                          \
		in_a_release(fn);  \
	}

IN_RELEASE(sleep_in_release)
IN_RELEASE(yield_in_release)
IN_RELEASE(offer_in_release)
IN_RELEASE(wait_in_release)
IN_RELEASE(call_each_in_release)

#define IN_COROUTINE(fn)           \
	static void co_##fn(void)  \
	{                          \
		on_carrier(0, fn); \
	}

IN_COROUTINE(lock_inside)
IN_COROUTINE(yield_inside)
IN_COROUTINE(offer_inside)
IN_COROUTINE(sleep_inside)
IN_COROUTINE(park_inside)
IN_COROUTINE(open_a_scope_inside)
IN_COROUTINE(call_each_inside)
IN_COROUTINE(end_the_outer_first)

#define PLACE "tests/unit/each.c:"

static const struct misuse misuses[] = {
	{co_lock_inside, "haul_mutex_lock", PLACE},
	{co_yield_inside, "haul_yield", PLACE},
	{co_offer_inside, "haul_maybe_yield", PLACE},
	{co_sleep_inside, "haul_sleep", PLACE},
	{co_park_inside, "haul_park", PLACE},
	{co_open_a_scope_inside, "haul_scope_open", PLACE},
	{co_call_each_inside, "haul_on_each", PLACE},
	{co_end_the_outer_first, "haul_no_suspend_end", "the block ends before one inside it"},
	{end_sleep_in_release, "haul_sleep", "called outside a coroutine"},
	{end_yield_in_release, "haul_yield", "called outside a coroutine"},
	{end_offer_in_release, "haul_maybe_yield", "called outside a coroutine"},
	{end_wait_in_release, "haul_event_wait", "called outside a coroutine"},
	{end_call_each_in_release, "haul_on_each", "called outside a coroutine"},
	{each_of_none, "haul_on_each", "the runtime or the function is NULL"},
	{each_without_a_function, "haul_on_each", "the runtime or the function is NULL"},
	{set_no_key, "haul_local_set", "the key is NULL"},
	{get_no_key, "haul_local_get", "the key is NULL"},
};

#define MISUSES (int)(sizeof(misuses) / sizeof(misuses[0]))

START_TEST(a_mistake_is_reported)
{
	misuse_is_reported(&misuses[_i]);
}
END_TEST

SUITE_MAIN("each", {a_function_runs_on_each_carrier, 4}, {a_stop_refuses, 1},
	{a_stop_waits_for_calls_from_outside, 1}, {each_carrier_has_its_value, 2},
	{a_block_may_do_what_does_not_suspend, 1}, {a_mistake_is_reported, MISUSES},
	{keys_can_be_used_up, 1}) /* it leaves none */
