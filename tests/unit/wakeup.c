/* SPDX-License-Identifier: BSD-3-Clause */
/* The number of wake-up calls: none where none is needed, one where one is. */
#include <pthread.h>
#include <stdatomic.h>

#include "support/runtime.h"
#include "support/suite.h"

static struct haul_carrier_stats stats(struct haul_runtime *rt, unsigned i)
{
	struct haul_carrier_stats st;

	haul_carrier_get_stats(haul_carrier(rt, i), &st);
	return st;
}

/* Waits until carrier i sleeps once more than before. */
static void wait_asleep(struct haul_runtime *rt, unsigned i, uint64_t parks_before)
{
	WAIT_UNTIL(stats(rt, i).parks > parks_before);
}

static void *returns(void *arg)
{
	return arg;
}

static void *parks(void *arg)
{
	haul_park(HAUL_FOREVER);
	return arg;
}

static void *gives_itself_work(void *arg)
{
	for (int i = 0; i < 1000; i++) {
		struct haul_coro *co;

		haul_spawn(&co, parks, NULL, NULL);
		haul_yield();
		haul_unpark(co);
		haul_join(co, NULL, HAUL_FOREVER);
	}
	/* Two messages are the test's own: the spawn, which may have woken the carrier, and the
	 * join. */
	return stats(arg, 0).wakeups <= 1 && stats(arg, 0).messages <= 2 ? NULL : "woken";
}

START_TEST(own_work_makes_no_call_and_no_message)
{
	struct haul_runtime *rt = runtime_start(1);

	ck_assert_pstr_eq(run_on(rt, 0, gives_itself_work, rt), NULL);
	runtime_stop(rt);
}
END_TEST

static atomic_bool busy, end;

static void *keeps_busy(void *arg)
{
	busy = true;
	while (!end)
		haul_yield();
	return NULL;
}

START_TEST(running_carrier_is_not_woken)
{
	struct haul_runtime *rt = runtime_start(1);
	struct haul_coro *co;
	uint64_t before;

	busy = end = false;
	haul_spawn_any(rt, &co, keeps_busy, NULL, NULL);
	WAIT_UNTIL(busy);
	before = stats(rt, 0).wakeups;
	for (int i = 0; i < 1000; i++)
		run_on(rt, 0, returns, NULL);
	ck_assert_uint_eq(stats(rt, 0).wakeups, before);
	end = true;
	haul_join(co, NULL, HAUL_FOREVER);
	runtime_stop(rt);
}
END_TEST

START_TEST(sleeping_carrier_is_woken_by_one_call)
{
	struct haul_runtime *rt = runtime_start(1);

	for (int i = 0; i < 200; i++) {
		uint64_t parks_before;
		uint64_t wakeups;

		wait_asleep(rt, 0, stats(rt, 0).wakeups);
		wakeups = stats(rt, 0).wakeups;
		parks_before = stats(rt, 0).parks;
		ck_assert_int_eq(haul_spawn_any(rt, NULL, returns, NULL, NULL), 0);
		wait_asleep(rt, 0, parks_before);
		ck_assert_uint_eq(stats(rt, 0).wakeups, wakeups + 1);
	}
	runtime_stop(rt);
}
END_TEST

#define GIVERS 8

struct giving {
	struct haul_runtime *rt;
	pthread_barrier_t together;
};

static void *gives(void *arg)
{
	struct giving *g = arg;

	pthread_barrier_wait(&g->together);
	haul_spawn_any(g->rt, NULL, returns, NULL, NULL);
	return NULL;
}

/* Eight pushers at once: at most one call for each sleep of the carrier in between. There may be
 * more sleeps than calls: a waker that is preempted before its futex call ends the next sleep. */
START_TEST(eight_givers_make_one_call_per_sleep)
{
	struct giving g = {.rt = runtime_start(1)};

	pthread_barrier_init(&g.together, NULL, GIVERS);
	for (int round = 0; round < 200; round++) {
		struct haul_carrier_stats before;
		pthread_t threads[GIVERS];

		wait_asleep(g.rt, 0, stats(g.rt, 0).wakeups);
		before = stats(g.rt, 0);
		for (int i = 0; i < GIVERS; i++)
			ck_assert_int_eq(pthread_create(&threads[i], NULL, gives, &g), 0);
		for (int i = 0; i < GIVERS; i++)
			pthread_join(threads[i], NULL);
		WAIT_UNTIL(stats(g.rt, 0).ended == before.ended + GIVERS);
		WAIT_UNTIL(stats(g.rt, 0).parks - before.parks >=
			stats(g.rt, 0).wakeups - before.wakeups);
	}
	pthread_barrier_destroy(&g.together);
	runtime_stop(g.rt);
}
END_TEST

SUITE_MAIN("wakeup", {own_work_makes_no_call_and_no_message, 1}, {running_carrier_is_not_woken, 1},
	{sleeping_carrier_is_woken_by_one_call, 1}, {eight_givers_make_one_call_per_sleep, 1})
