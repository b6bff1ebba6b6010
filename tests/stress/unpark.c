/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Concurrent requests to one coroutine: threads and carriers unpark it without pause while it
 * parks, and it must see each unpark that follows a change of the shared word. There is no
 * time-out: a lost wakeup hangs.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "support/runtime.h"
#include "support/stress.h"
#include "support/suite.h"

#define GIVERS 3

struct target {
	struct haul_coro *co;
	atomic_ulong given; /* each giver adds one, unparks, waits until it is seen */
	atomic_ulong seen;
	atomic_bool end;
};

static void *sees(void *arg)
{
	struct target *t = arg;

	while (!t->end) {
		while (t->seen == t->given && !t->end)
			haul_park(HAUL_FOREVER);
		t->seen = (unsigned long)t->given;
	}
	return NULL;
}

static void *gives(void *arg)
{
	struct target *t = arg;

	while (!t->end) {
		unsigned long mine = ++t->given;

		haul_unpark(t->co);
		WAIT_UNTIL(t->seen >= mine || t->end);
	}
	return NULL;
}

static void *gives_as_coroutine(void *arg)
{
	return gives(arg);
}

START_TEST(no_unpark_is_lost)
{
	struct haul_runtime *rt = runtime_start(3);
	struct target t = {0};
	struct haul_coro *neighbour, *remote;
	pthread_t threads[GIVERS];
	uint64_t deadline = stress_deadline();

	ck_assert_int_eq(haul_spawn_on(haul_carrier(rt, 0), &t.co, sees, &t, NULL), 0);
	for (int i = 0; i < GIVERS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, gives, &t), 0);
	haul_spawn_on(haul_carrier(rt, 0), &neighbour, gives_as_coroutine, &t, NULL);
	haul_spawn_on(haul_carrier(rt, 1), &remote, gives_as_coroutine, &t, NULL);
	WAIT_UNTIL(haul_now() >= deadline);
	t.end = true;
	haul_unpark(t.co);
	for (int i = 0; i < GIVERS; i++)
		pthread_join(threads[i], NULL);
	haul_join(neighbour, NULL, HAUL_FOREVER);
	haul_join(remote, NULL, HAUL_FOREVER);
	haul_join(t.co, NULL, HAUL_FOREVER);
	ck_assert_uint_gt(t.seen, 100);
	runtime_stop(rt);
}
END_TEST

/* The target ends while requests to it are under way: its slot must not be reused earlier. */
static void *parks_once(void *arg)
{
	haul_park(HAUL_FOREVER);
	return arg;
}

static void *unparks_and_joins(void *arg)
{
	struct haul_carrier *over_there = arg;

	for (int i = 0; i < 200; i++) {
		struct haul_coro *co;
		void *result;

		if (haul_spawn_on(over_there, &co, parks_once, &co, NULL) != 0)
			return "spawn";
		for (int k = 0; k < 1 + i % 5; k++)
			haul_unpark(co);
		haul_join(co, &result, HAUL_FOREVER);
		if (result != &co)
			return "result";
	}
	return NULL;
}

START_TEST(redundant_requests_outlive_no_slot)
{
	struct haul_runtime *rt = runtime_start(3);
	uint64_t deadline = stress_deadline();

	do {
		struct haul_coro *co[3];

		for (unsigned i = 0; i < 3; i++)
			haul_spawn_on(haul_carrier(rt, i), &co[i], unparks_and_joins,
				haul_carrier(rt, (i + 1) % 3), NULL);
		for (unsigned i = 0; i < 3; i++) {
			void *wrong;

			haul_join(co[i], &wrong, HAUL_FOREVER);
			ck_assert_pstr_eq(wrong, NULL);
		}
	} while (haul_now() < deadline);
	runtime_stop(rt);
}
END_TEST

SUITE_MAIN("unpark", {no_unpark_is_lost, 1}, {redundant_requests_outlive_no_slot, 1})
