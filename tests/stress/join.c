/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Coroutines of all carriers, and a plain thread, spawn others there and join them with short
 * deadlines until they have ended; they park with deadlines while others unpark them. Each result
 * comes once and to its joiner, and no permit is lost, while carriers steal.
 *
 * Plain threads join while another one stops the runtime: each call returns, with the result, or
 * with -ECANCELED, and then with that only.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/random.h"
#include "sched/state/coroutine.h"

#include "support/hang.h"
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

#define THREADS 3
#define HANDLES 40 /* of each thread */

struct thread {
	pthread_t id;
	uint64_t seed;
	struct haul_coro *co[HANDLES];
	bool gone; /* a join has returned -ECANCELED */
	unsigned joined, wrong;
};

static atomic_uint threads_join;
static uint64_t round_seed;

/* Some end at once, some soon, some when they are cancelled. */
static void *ends_somehow(void *arg)
{
	struct hauli_random random;
	static const uint64_t longest[] = {1, 50 * HAUL_US, HAUL_MS, HAUL_S * 3600};
	uint64_t most;

	hauli_random_init(&random, round_seed + (uint64_t)(uintptr_t)arg);
	most = longest[hauli_random_below(&random, 4)];
	if (most > 1)
		haul_sleep(most / 2 + hauli_random_next(&random) % (most / 2));
	return arg;
}

static void join_against_stop(struct thread *t, unsigned i, struct hauli_random *random)
{
	void *result = NULL;
	int err;

	do {
		const uint64_t deadlines[] = {0, haul_now(), haul_in(50 * HAUL_US), HAUL_FOREVER};

		err = haul_join(t->co[i], &result, deadlines[hauli_random_below(random, 4)]);
	} while (err == -ETIMEDOUT || err == -EAGAIN);
	if (err == 0) {
		t->wrong += t->gone || result != &t->co[i];
		t->joined++;
	} else {
		t->wrong += err != -ECANCELED;
		t->gone = true;
	}
}

static void *joins_against_stop(void *arg)
{
	struct thread *t = arg;
	struct hauli_random random;

	hauli_random_init(&random, t->seed);
	threads_join++;
	for (unsigned i = 0; i < HANDLES; i++)
		join_against_stop(t, i, &random);
	return NULL;
}

static void spawn_for(struct haul_runtime *rt, struct thread *t, struct hauli_random *random)
{
	void *args[HANDLES];

	t->seed = hauli_random_next(random);
	for (unsigned i = 0; i < HANDLES; i++)
		args[i] = &t->co[i];
	if (hauli_random_below(random, 2)) {
		ck_assert_int_eq(haul_spawn_many(rt, t->co, ends_somehow, args, HANDLES, NULL), 0);
		return;
	}
	for (unsigned i = 0; i < HANDLES; i++)
		ck_assert_int_eq(haul_spawn_on(haul_carrier(rt, i % 2), &t->co[i], ends_somehow,
					 args[i], NULL),
			0);
}

static unsigned stop_against_joins(struct hauli_random *random)
{
	struct haul_runtime *rt = runtime_start(2);
	struct thread threads[THREADS] = {0};
	unsigned joined = 0;

	threads_join = 0;
	round_seed = hauli_random_next(random);
	for (unsigned i = 0; i < THREADS; i++) {
		spawn_for(rt, &threads[i], random);
		ck_assert_int_eq(
			pthread_create(&threads[i].id, NULL, joins_against_stop, &threads[i]), 0);
	}
	WAIT_UNTIL(threads_join == THREADS);
	for (unsigned n = hauli_random_below(random, 200); n > 0; n--)
		sched_yield();
	runtime_stop(rt);
	for (unsigned i = 0; i < THREADS; i++) {
		pthread_join(threads[i].id, NULL);
		ck_assert_uint_eq(threads[i].wrong, 0);
		joined += threads[i].joined;
	}
	return joined;
}

START_TEST(a_join_against_a_stop_returns)
{
	uint64_t deadline = stress_deadline();
	unsigned rounds = 0, joined = 0;
	struct hauli_random random;

	hauli_random_init(&random, stress_seed());
	do {
		joined += stop_against_joins(&random);
		rounds++;
		hang_watch();
	} while (haul_now() < deadline || joined == 0 || joined == rounds * THREADS * HANDLES);
	hang_ends();
}
END_TEST

SUITE_MAIN("join", {each_is_joined_once, HAUL_STEALING ? 2 : 1}, {a_join_against_a_stop_returns})
