/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stealing amid other work: a tree of tasks that spawn, yield, park, sleep, cancel and hog their
 * carriers, on more carriers than CPUs, started from a thread that continues to spawn. Each task
 * runs once, and its slices run in order, one at a time; also while another thread moves the
 * carriers from CPU to CPU.
 */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#include <haul/driver.h>

#include "support/evpoller.h"
#include "support/runtime.h"
#include "support/stress.h"
#include "support/suite.h"

#define CARRIERS 6
#define TASKS 3000

struct forest;

struct task {
	struct forest *forest;
	uint64_t seed;
	struct haul_coro *co;
	unsigned slices; /* not atomic: the next slice sees the write, on any carrier */
	atomic_uint runs;
};

struct forest {
	struct haul_runtime *rt;
	struct task tasks[TASKS];
	atomic_uint next; /* task to be spawned */
	atomic_uint ended, wrong;
};

static void work(struct hauli_random *random)
{
	uint64_t until = haul_now() + hauli_random_below(random, 20) * HAUL_US;

	while (haul_now() < until)
		;
}

static void *run(void *arg);

static struct task *sow(struct forest *f, struct haul_carrier *c, uint64_t seed)
{
	unsigned n = f->next++;
	struct task *t;
	int err;

	if (n >= TASKS)
		return NULL;
	t = &f->tasks[n];
	t->seed = seed;
	err = c ? haul_spawn_on(c, &t->co, run, t, NULL) : haul_spawn(&t->co, run, t, NULL);
	f->wrong += err != 0;
	return t;
}

/* Does not yield until another task has ended: possibly a task queued behind it. */
static void hog(struct forest *f)
{
	uint64_t until = haul_now() + 2 * HAUL_MS;
	unsigned ended = f->ended;

	while (f->ended == ended && haul_now() < until)
		sched_yield();
}

static void step(struct task *t, struct hauli_random *random)
{
	struct forest *f = t->forest;
	struct haul_coro *me = haul_self();
	struct haul_carrier *there;

	switch (hauli_random_below(random, 8)) {
	case 0:
		haul_yield();
		break;
	case 1:
		haul_sleep(hauli_random_below(random, 100) * HAUL_US);
		break;
	case 2:
		haul_unpark(me);
		haul_park(HAUL_FOREVER);
		break;
	case 3:
		sow(f, NULL, hauli_random_next(random));
		break;
	case 4:
		there = haul_carrier(f->rt, hauli_random_below(random, CARRIERS));
		sow(f, there, hauli_random_next(random));
		break;
	case 5: {
		struct task *child = sow(f, NULL, hauli_random_next(random));

		if (child) {
			haul_cancel(child->co);
			haul_unpark(child->co);
		}
		break;
	}
	case 6:
		work(random);
		break;
	case 7:
		if (hauli_random_below(random, 10) == 0)
			hog(f);
		break;
	}
	if (haul_self() != me)
		f->wrong++;
}

static void *run(void *arg)
{
	struct task *t = arg;
	struct haul_carrier *home = haul_coro_home(haul_self());
	struct hauli_random random;
	unsigned steps;

	if (t->runs++ != 0)
		t->forest->wrong++;
	hauli_random_init(&random, t->seed);
	steps = 1 + hauli_random_below(&random, 10);
	for (unsigned i = 0; i < steps; i++) {
		if (t->slices++ != i)
			t->forest->wrong++;
		step(t, &random);
	}
	if (haul_coro_home(haul_self()) != home)
		t->forest->wrong++;
	t->forest->ended++;
	return t;
}

/* Pollers that spin, block, or none: _i. */
static void add_pollers(struct haul_runtime *rt, int i, struct evpoller *p)
{
	for (unsigned c = 0; c < CARRIERS && i > 0; c += 2) {
		evpoller_open(&p[c]);
		ck_assert_int_eq(evpoller_register(haul_carrier(rt, c), &p[c], NULL), 0);
	}
}

/* A whole forest: spawns most tasks on one carrier. */
static void grow(struct forest *f, uint64_t seed)
{
	struct hauli_random random;

	hauli_random_init(&random, seed);
	f->next = f->ended = 0;
	for (unsigned i = 0; i < TASKS; i++) {
		f->tasks[i].forest = f;
		f->tasks[i].slices = 0;
		f->tasks[i].runs = 0;
	}
	while (f->next < TASKS) {
		unsigned c = hauli_random_below(&random, 4) ? 0 : 3;

		sow(f, haul_carrier(f->rt, c), hauli_random_next(&random));
	}
	WAIT_UNTIL(f->ended == TASKS); /* other tasks may still cancel and unpark them */
	for (unsigned i = 0; i < TASKS; i++) {
		void *result;

		ck_assert_int_eq(haul_join(f->tasks[i].co, &result, HAUL_FOREVER), 0);
		ck_assert_ptr_eq(result, &f->tasks[i]);
	}
	ck_assert_uint_eq(f->wrong, 0);
}

static void grow_until(uint64_t deadline, struct forest *f, int how, void (*each)(struct forest *f))
{
	uint64_t seed = stress_seed() + (uint64_t)how * 977;
	struct evpoller pollers[CARRIERS] = {0};

	f->rt = runtime_start_stealing(
		CARRIERS, NULL, how % 2 ? HAUL_STEAL_GLOBAL : HAUL_STEAL_CLUSTER);
	add_pollers(f->rt, how / 2, pollers);
	do {
		grow(f, seed++);
		each(f);
	} while (haul_now() < deadline);
	runtime_stop(f->rt);
	for (unsigned c = 0; c < CARRIERS && how / 2; c += 2)
		evpoller_close(&pollers[c]);
}

static void nothing(struct forest *f)
{
}

START_TEST(each_runs_once)
{
	static struct forest f;

	grow_until(stress_deadline(), &f, _i, nothing);
}
END_TEST

struct mover {
	cpu_set_t allowed;
	atomic_bool ends;
	unsigned moves;
};

/* Moves each thread of the process to one CPU, or lets it run on all again. */
static void move_all(struct mover *m, struct hauli_random *random)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *entry;

	while (tasks && (entry = readdir(tasks))) {
		unsigned cpu = hauli_random_below(random, CPU_SETSIZE);
		cpu_set_t one;
		pid_t tid = atoi(entry->d_name);

		if (tid == 0)
			continue;
		while (!CPU_ISSET(cpu, &m->allowed))
			cpu = (cpu + 1) % CPU_SETSIZE;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		/* A thread that has just ended cannot be moved. */
		if (sched_setaffinity(tid, sizeof(one),
			    hauli_random_below(random, 8) ? &one : &m->allowed) == 0)
			m->moves++;
	}
	if (tasks)
		closedir(tasks);
}

static void *mover_main(void *arg)
{
	struct mover *m = arg;
	struct hauli_random random, places;

	hauli_random_init(&random, haul_now());
	/* Apart: how often it draws depends on the machine, which a simulation's time must not. */
	hauli_random_init(&places, haul_now());
	while (!m->ends) {
		struct timespec pause = {.tv_nsec = hauli_random_below(&random, 300000)};

		move_all(m, &places);
		nanosleep(&pause, NULL); /* at any moments */
	}
	return NULL;
}

START_TEST(each_runs_once_while_carriers_move)
{
	static struct forest f;
	struct mover m = {.moves = 0};
	pthread_t thread;

	ck_assert_int_eq(sched_getaffinity(0, sizeof(m.allowed), &m.allowed), 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, mover_main, &m), 0);
	grow_until(stress_deadline(), &f, 3 * _i, nothing);
	m.ends = true;
	pthread_join(thread, NULL);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(m.allowed), &m.allowed), 0);
	fprintf(stderr, "%u moves\n", m.moves);
	ck_assert_uint_gt(m.moves, 0);
}
END_TEST

struct turner {
	pthread_t thread;
	struct haul_runtime *rt;
	atomic_bool *ends;
	unsigned seed;
};

/* Carriers steal and rest in turns. */
static void *turner_main(void *arg)
{
	struct turner *t = arg;
	struct hauli_random random;

	hauli_random_init(&random, t->seed);
	while (!*t->ends) {
		struct timespec pause = {.tv_nsec = hauli_random_below(&random, 100000)};
		unsigned c = hauli_random_below(&random, CARRIERS);

		haul_carrier_set_stealing(
			haul_carrier(t->rt, c), hauli_random_below(&random, 2) == 0);
		if (hauli_random_below(&random, 4) == 0)
			nanosleep(&pause, NULL); /* at any moments */
	}
	return NULL;
}

static void *sets(void *arg)
{
	*(atomic_bool *)arg = true;
	return NULL;
}

/* Spawns a task and does not yield until it has run, which only a thief can do. */
static void *needs_a_thief(void *arg)
{
	atomic_bool ran = false;
	struct haul_coro *co;

	EXPECT(haul_spawn(&co, sets, &ran, NULL) == 0);
	while (!ran)
		sched_yield();
	EXPECT(haul_join(co, NULL, HAUL_FOREVER) == 0);
	return NULL;
}

/* One carrier steals, whichever it is: a task behind a hog still finds it, asleep or not. */
static void one_steals(struct forest *f)
{
	const struct haul_coro_opts pinned = {.pinned = true};

	for (unsigned thief = 0; thief < CARRIERS; thief++) {
		unsigned hog = (thief + 1) % CARRIERS;
		struct haul_coro *co;

		for (unsigned c = 0; c < CARRIERS; c++)
			ck_assert_int_eq(
				haul_carrier_set_stealing(haul_carrier(f->rt, c), c == thief), 0);
		ck_assert_int_eq(
			haul_spawn_on(haul_carrier(f->rt, hog), &co, needs_a_thief, NULL, &pinned),
			0);
		ck_assert_int_eq(haul_join(co, NULL, HAUL_FOREVER), 0);
	}
}

/* While f's tasks have not ended, and then all again. */
static void turned(struct forest *f)
{
	static uint64_t seed = 1;
	struct turner turners[2];
	atomic_bool ends = false;

	for (unsigned i = 0; i < 2; i++) {
		turners[i] = (struct turner){.rt = f->rt, .ends = &ends, .seed = (unsigned)seed++};
		ck_assert_int_eq(
			pthread_create(&turners[i].thread, NULL, turner_main, &turners[i]), 0);
	}
	grow(f, seed);
	ends = true;
	for (unsigned i = 0; i < 2; i++)
		pthread_join(turners[i].thread, NULL);
	one_steals(f);
}

START_TEST(each_runs_once_while_carriers_rest)
{
	static struct forest f;

	grow_until(stress_deadline(), &f, 2 * _i + 1, turned);
}
END_TEST

SUITE_MAIN("steal", {each_runs_once, 4}, {each_runs_once_while_carriers_move, 2},
	{each_runs_once_while_carriers_rest, 2})
