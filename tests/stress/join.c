/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Coroutines of all carriers, and a plain thread, spawn others there and join them with short
 * deadlines until they have ended; they park with deadlines while others unpark them. Each result
 * comes once and to its joiner, and no permit is lost, while carriers steal.
 */
#include <errno.h>
#include <stdatomic.h>

#include "base/random.h"
#include "sched/coroutine.h"

#include "support/runtime.h"
#include "support/stress.h"
#include "support/suite.h"

#define CARRIERS 4
#define JOINERS 16
#define JOINS 200

static struct {
	struct haul_runtime *rt;
	atomic_uint joined, given_up, wrong;
} s;

/* What a target gets: its result is the address. */
struct task {
	uint64_t seed;
	unsigned runs;
	struct haul_coro *joiner;
	atomic_bool *woken;
};

static void *target(void *arg)
{
	struct task *task = arg;
	struct hauli_random random;

	hauli_random_init(&random, task->seed);
	task->runs++;
	if (hauli_random_below(&random, 2))
		haul_sleep(hauli_random_below(&random, 50000));
	if (task->joiner) {
		*task->woken = true;
		haul_unpark(task->joiner);
	}
	return task;
}

/* In a loop, as users have to. */
static void park_until_woken(const atomic_bool *woken, struct hauli_random *random)
{
	while (!*woken) {
		int err = haul_park(haul_in(hauli_random_below(random, 20000)));

		s.wrong += err != 0 && err != -ETIMEDOUT;
	}
}

static void join(struct hauli_random *random)
{
	struct haul_carrier *there =
		haul_carrier(s.rt, (unsigned)hauli_random_below(random, CARRIERS));
	struct task task = {.seed = hauli_random_next(random)};
	atomic_bool woken = false;
	struct haul_coro *co;
	void *result;
	int err;

	if (hauli_random_below(random, 2)) {
		task.joiner = haul_self();
		task.woken = &woken;
	}
	if (haul_spawn_on(there, &co, target, &task, NULL) != 0)
		abort();
	if (task.joiner)
		park_until_woken(&woken, random);
	do {
		result = NULL;
		err = haul_join(co, &result,
			hauli_random_below(random, 4) ? haul_in(hauli_random_below(random, 30000))
						      : 0);
		s.given_up += err == -ETIMEDOUT;
		if (err && !haul_self())
			sched_yield();
		else if (err)
			haul_yield();
	} while (err == -ETIMEDOUT || err == -EAGAIN);
	s.wrong += err != 0 || result != &task || task.runs != 1;
	s.joined++;
}

static void *joiner(void *arg)
{
	struct hauli_random random;

	hauli_random_init(&random, (uint64_t)(uintptr_t)arg);
	for (unsigned i = 0; i < JOINS; i++)
		join(&random);
	return NULL;
}

START_TEST(each_is_joined_once)
{
	uint64_t deadline = stress_deadline(), seed = stress_seed();
	unsigned rounds = 0;

	memset(&s, 0, sizeof(s));
	s.rt = runtime_start_stealing(
		CARRIERS, NULL, _i == 0 ? runtime_steal_setting() : HAUL_STEAL_GLOBAL);
	do {
		struct haul_coro *joiners[JOINERS];

		for (unsigned i = 0; i < JOINERS; i++)
			ck_assert_int_eq(
				haul_spawn_on(haul_carrier(s.rt, i % CARRIERS), &joiners[i], joiner,
					(void *)(uintptr_t)seed++, NULL),
				0);
		joiner((void *)(uintptr_t)seed++);
		for (unsigned i = 0; i < JOINERS; i++)
			ck_assert_int_eq(haul_join(joiners[i], NULL, HAUL_FOREVER), 0);
		rounds++;
	} while (haul_now() < deadline);
	ck_assert_uint_eq(s.wrong, 0);
	ck_assert_uint_eq(s.joined, rounds * (JOINERS + 1) * JOINS);
	ck_assert_uint_gt(s.given_up, 0);
	runtime_stop(s.rt);
}
END_TEST

SUITE_MAIN("join", {each_is_joined_once, HAUL_STEALING ? 2 : 1})
