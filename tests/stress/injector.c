/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Batches from several threads for carriers that sleep, block in their pollers, or spin, of one
 * cluster or two. Tasks keep their carriers for a while now and then, and are unparked, cancelled,
 * joined or detached before or after a carrier has taken them. Each task runs once; no task waits
 * for ever while a carrier sleeps: the test would hang.
 */
#include <pthread.h>
#include <stdatomic.h>

#include <haul/driver.h>

#include "support/evpoller.h"
#include "support/runtime.h"
#include "support/stress.h"
#include "support/suite.h"

#define CARRIERS 4
#define PUTTERS 3
#define BATCH_MAX 100

struct task {
	atomic_uint runs;
	bool parks, hogs;
	struct haul_coro *co;
};

struct putter {
	struct haul_runtime *rt;
	pthread_t thread;
	uint64_t seed, deadline;
	struct task tasks[BATCH_MAX];
	unsigned batches;
};

static void *run(void *arg)
{
	struct task *t = arg;
	uint64_t until = haul_now() + 200 * HAUL_US;

	t->runs++;
	while (t->hogs && haul_now() < until)
		sched_yield();
	if (t->parks)
		haul_park(
			HAUL_FOREVER); /* until an unpark or a cancel, which may have come before */
	return t;
}

/* A detached coroutine; counts its end. */
static void *count(void *arg)
{
	atomic_uint *ended = arg;

	(*ended)++;
	return NULL;
}

static const char *put_and_join(struct putter *p, struct hauli_random *random)
{
	struct haul_coro_opts opts = {
		.near = haul_carrier(p->rt, hauli_random_below(random, CARRIERS))};
	unsigned n = 1 + hauli_random_below(random, hauli_random_below(random, 4) ? 5 : BATCH_MAX);
	struct haul_coro *cos[BATCH_MAX];
	void *args[BATCH_MAX], *result;

	for (unsigned i = 0; i < n; i++) {
		p->tasks[i] = (struct task){.parks = hauli_random_below(random, 3) == 0,
			.hogs = hauli_random_below(random, 8) == 0};
		args[i] = &p->tasks[i];
	}
	if (haul_spawn_many(p->rt, cos, run, args, n, &opts) != 0)
		return "haul_spawn_many";
	if (hauli_random_below(random, 2))
		sched_yield();
	for (unsigned i = 0; i < n; i++) {
		if (!p->tasks[i].parks)
			continue;
		if (hauli_random_below(random, 2))
			haul_unpark(cos[i]);
		else
			haul_cancel(cos[i]);
	}
	for (unsigned i = 0; i < n; i++) {
		haul_join(cos[i], &result, HAUL_FOREVER);
		if (result != &p->tasks[i])
			return "the result of another one";
		if (p->tasks[i].runs != 1)
			return "did not run once";
	}
	return NULL;
}

static const char *put_and_detach(struct putter *p, struct hauli_random *random)
{
	unsigned n = 1 + hauli_random_below(random, BATCH_MAX);
	struct haul_coro *cos[BATCH_MAX];
	void *args[BATCH_MAX];
	atomic_uint ended = 0;

	for (unsigned i = 0; i < n; i++)
		args[i] = &ended;
	if (haul_spawn_many(p->rt, cos, count, args, n, NULL) != 0)
		return "haul_spawn_many";
	for (unsigned i = 0; i < n; i++)
		haul_detach(cos[i]);
	while (ended < n) /* the spawn's wake-ups must be enough */
		sched_yield();
	return NULL;
}

static void *put(void *arg)
{
	struct putter *p = arg;
	const char *wrong = NULL;
	struct hauli_random random;

	hauli_random_init(&random, p->seed);
	while (!wrong && (p->batches < 50 || haul_now() < p->deadline)) {
		wrong = hauli_random_below(&random, 4) ? put_and_join(p, &random)
						       : put_and_detach(p, &random);
		p->batches++;
	}
	return (void *)wrong;
}

static void *spin(void *arg)
{
	while (haul_maybe_yield(false))
		sched_yield();
	return NULL;
}

/* _i: no pollers; blocking pollers; all kinds. */
static void add_pollers(struct haul_runtime *rt, int how, struct evpoller *p)
{
	for (unsigned i = 0; i < CARRIERS; i++) {
		struct haul_carrier *c = haul_carrier(rt, i);

		evpoller_open(&p[i]);
		if (how == 1 || (how == 2 && i % 3 == 1))
			ck_assert_int_eq(evpoller_register(c, &p[i], NULL), 0);
		else if (how == 2 && i % 3 == 2)
			ck_assert_int_eq(haul_poller_register(c, NULL, spin, NULL, NULL), 0);
	}
}

START_TEST(each_runs_once_and_none_is_left)
{
	static struct putter putters[PUTTERS];
	const char *machine = _i % 2 ? "package:2 l3:1 core:2 pu:1" : NULL;
	struct evpoller pollers[CARRIERS] = {0};
	uint64_t seed = stress_seed() + (uint64_t)_i * 977, deadline = stress_deadline();
	struct haul_runtime *rt =
		runtime_start_stealing(CARRIERS, machine, runtime_steal_setting());

	add_pollers(rt, _i / 2, pollers);
	for (unsigned i = 0; i < PUTTERS; i++) {
		putters[i] = (struct putter){.rt = rt, .seed = seed + i, .deadline = deadline};
		ck_assert_int_eq(pthread_create(&putters[i].thread, NULL, put, &putters[i]), 0);
	}
	for (unsigned i = 0; i < PUTTERS; i++) {
		void *wrong;

		pthread_join(putters[i].thread, &wrong);
		ck_assert_pstr_eq(wrong, NULL);
	}
	runtime_stop(rt);
	for (unsigned i = 0; i < CARRIERS; i++)
		evpoller_close(&pollers[i]);
}
END_TEST

struct stopping {
	struct haul_runtime *rt;
	atomic_uint ended;
	atomic_bool refused;
	unsigned let_in;
	pthread_t thread;
};

static void *put_until_refused(void *arg)
{
	struct stopping *s = arg;
	void *args[10];

	for (unsigned i = 0; i < 10; i++)
		args[i] = &s->ended;
	while (haul_spawn_many(s->rt, NULL, count, args, 10, NULL) == 0)
		s->let_in += 10;
	s->refused = true;
	return NULL;
}

/* Keeps the runtime running for the thread that is about to be refused. */
static void *stay(void *arg)
{
	struct stopping *s = arg;

	while (!s->refused)
		haul_yield();
	return NULL;
}

START_TEST(stop_in_the_middle_of_batches)
{
	uint64_t deadline = stress_deadline();
	unsigned rounds = 0;

	while (rounds++ < 3 || haul_now() < deadline) {
		struct stopping s = {.rt = runtime_start(CARRIERS)};

		ck_assert_int_eq(haul_spawn_any(s.rt, NULL, stay, &s, NULL), 0);
		ck_assert_int_eq(pthread_create(&s.thread, NULL, put_until_refused, &s), 0);
		WAIT_UNTIL(s.ended > 100);
		runtime_stop(s.rt);
		pthread_join(s.thread, NULL);
		ck_assert_uint_eq(s.ended, s.let_in);
	}
}
END_TEST

SUITE_MAIN("injector", {each_runs_once_and_none_is_left, 6}, {stop_in_the_middle_of_batches, 1})
