/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random operations: spawns near and far, yields, sleeps, parks, unparks, cancels, joins, detaches,
 * and stops amid them. Each spawned coroutine runs and is accounted for.
 */
#include <errno.h>
#include <stdatomic.h>

#include "support/runtime.h"
#include "support/stress.h"
#include "support/suite.h"

#define CARRIERS 4
#define PER_ROUND 2000

struct load {
	struct haul_runtime *rt;
	uint64_t seed;
	atomic_uint started, ended;
};

/* A coroutine's actions are a function of its number, so that a seed replays the choices. */
struct task {
	struct load *load;
	uint64_t seed;
	struct haul_coro *co;
};

static void *works(void *arg)
{
	struct task *task = arg;
	struct load *load = task->load;
	struct haul_carrier *home = haul_coro_home(haul_self());
	bool may_move = runtime_steal_setting() != HAUL_STEAL_OFF;
	struct hauli_random random;

	hauli_random_init(&random, task->seed);
	load->started++;
	for (uint32_t steps = hauli_random_below(&random, 8); steps > 0; steps--) {
		switch (hauli_random_below(&random, 4)) {
		case 0:
			haul_yield();
			break;
		case 1:
			haul_sleep(hauli_random_below(&random, 50) * HAUL_US);
			break;
		case 2:
			haul_unpark(haul_self());
			haul_park(HAUL_FOREVER);
			break;
		case 3:
			haul_park(HAUL_FOREVER); /* until the parent unparks or cancels */
			break;
		}
		if (haul_coro_home(haul_self()) != home)
			return "changed its home";
		if (haul_carrier_self() != home && !may_move)
			return "left home";
	}
	load->ended++;
	return NULL;
}

/* Unparks or cancels its children until each has ended, then joins it. */
static void *parents(void *arg)
{
	static struct task tasks[PER_ROUND];
	struct load *load = arg;
	struct hauli_random random;
	void *wrong, *any = NULL;

	hauli_random_init(&random, load->seed);
	for (unsigned i = 0; i < PER_ROUND; i++) {
		struct task *t = &tasks[i];
		unsigned carrier = hauli_random_below(&random, CARRIERS);

		*t = (struct task){.load = load, .seed = hauli_random_next(&random)};
		if (haul_spawn_on(haul_carrier(load->rt, carrier), &t->co, works, t, NULL) != 0)
			return "spawn";
		if (hauli_random_below(&random, 8) == 0)
			haul_yield();
	}
	for (unsigned i = 0; i < PER_ROUND; i++) {
		if (hauli_random_below(&random, 2))
			haul_unpark(tasks[i].co);
		haul_cancel(tasks[i].co);
	}
	for (unsigned i = 0; i < PER_ROUND; i++) {
		haul_join(tasks[i].co, &wrong, HAUL_FOREVER);
		any = wrong ? wrong : any;
	}
	return any;
}

/* _i selects different seeds. */
START_TEST(every_spawn_is_joined)
{
	struct load load = {.seed = stress_seed() + (uint64_t)_i * 977};
	uint64_t deadline = stress_deadline();

	load.rt = runtime_start(CARRIERS);
	do {
		load.started = load.ended = 0;
		ck_assert_pstr_eq(run_on(load.rt, (unsigned)_i % CARRIERS, parents, &load), NULL);
		ck_assert_uint_eq(load.started, PER_ROUND);
		ck_assert_uint_eq(load.ended, PER_ROUND);
		load.seed++;
	} while (haul_now() < deadline);
	runtime_stop(load.rt);
}
END_TEST

static void *breeds(void *arg)
{
	struct load *load = arg;

	load->started++;
	while (!haul_cancelled()) {
		if (load->started < 5000)
			haul_spawn_any(load->rt, NULL, breeds, load, NULL);
		haul_sleep(HAUL_US);
	}
	load->ended++;
	return NULL;
}

/* Threads and coroutines spawn while the runtime stops: each accepted coroutine runs and ends. */
START_TEST(stop_in_the_middle_of_spawns)
{
	uint64_t deadline = stress_deadline();
	unsigned rounds = 0;

	while (rounds++ < 3 || haul_now() < deadline) {
		struct load load = {.rt = runtime_start(CARRIERS)};
		unsigned let_in = 0;

		while (let_in < 20 || load.started < 200)
			let_in += haul_spawn_any(load.rt, NULL, breeds, &load, NULL) == 0;
		runtime_stop(load.rt);
		ck_assert_uint_eq(load.started, load.ended);
	}
}
END_TEST

SUITE_MAIN("runtime", {every_spawn_is_joined, 2}, {stop_in_the_middle_of_spawns, 1})
