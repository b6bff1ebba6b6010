/* SPDX-License-Identifier: BSD-3-Clause */
/* haul_stack(): each frame of one that waits, what it says of those without a stack, addresses that
 * are none, and questions about coroutines that come and go. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "base/random.h"
#include "coro/fiber.h"
#include "hibernate.h"
#include "sched/look/snapshot.h"
#include "support/stress.h"

static struct haul_runtime *rt;
static struct haul_stack got;
static atomic_bool go, ends;
static struct haul_mutex mutex;

/* A sanitizer puts off signals while a thread sleeps: carriers that are asked must not. */
static void *stays_awake(void *arg)
{
	while (!ends)
		haul_yield();
	return NULL;
}

static void begin_on(enum haul_steal steal)
{
	const struct haul_coro_opts opts = {.name = "awake", .pinned = true};

	go = ends = false;
	mutex = (struct haul_mutex){0};
	rt = runtime_start_stealing(2, NULL, steal);
	for (unsigned i = 0; i < 2 && HAULI_TSAN; i++)
		ck_assert_int_eq(
			haul_spawn_on(haul_carrier(rt, i), NULL, stays_awake, NULL, &opts), 0);
}

static void end(void)
{
	ends = true;
	runtime_stop(rt);
}

static struct haul_coro *begin(unsigned carrier, const char *name, haul_fn *fn, void *arg)
{
	const struct haul_coro_opts opts = {.name = name};
	struct haul_coro *co;

	ck_assert_int_eq(haul_spawn_on(haul_carrier(rt, carrier), &co, fn, arg, &opts), 0);
	return co;
}

static void done(struct haul_coro *co)
{
	ck_assert_int_eq(haul_join(co, NULL, HAUL_FOREVER), 0);
}

/* On a busy machine a carrier may not get a CPU for a second. */
static int ask(const void *co)
{
	int err;

	do {
		err = haul_stack(rt, co, &got);
	} while (err == -ETIMEDOUT);
	return err;
}

static void wait_for(const void *co, const char *what)
{
	WAIT_UNTIL(ask(co) == 0 && strcmp(got.what, what) == 0);
}

#define DEEP 10

static const char *_Atomic returns[DEEP];

static __attribute__((noinline)) intptr_t descend(unsigned depth, struct haul_coro *unlocks)
{
	intptr_t n;

	atomic_store(&returns[depth], (const char *)__builtin_return_address(0));
	if (depth > 0)
		n = descend(depth - 1, unlocks) + 1;
	else if (unlocks)
		n = haul_join(unlocks, NULL, HAUL_FOREVER);
	else
		n = haul_park(HAUL_FOREVER);
	__asm__ volatile("" : "+r"(n));
	return n;
}

static void *parks_deep(void *arg)
{
	intptr_t n = descend(DEEP - 1, arg);

	__asm__ volatile("" : "+r"(n)); /* no tail call */
	return (void *)n;
}

/* The calls of descend() are among the frames, in their order, each by an address inside it. */
static void check_descent(void)
{
	unsigned i = 0;

	while (i < got.nb_frames && (const char *)got.frames[i].pc + 1 != returns[0])
		i++;
	ck_assert_uint_le(i + DEEP, got.nb_frames);
	for (unsigned k = 0; k < DEEP; k++)
		ck_assert_ptr_eq((const char *)got.frames[i + k].pc + 1, returns[k]);
	for (unsigned k = 0; k < got.nb_frames; k++) {
		ck_assert_msg(strstr(got.frames[k].place, "+0x"), "%s", got.frames[k].place);
		ck_assert_uint_lt(strlen(got.frames[k].place), HAUL_STACK_TEXT);
	}
}

START_TEST(each_call_of_one_that_waits)
{
	struct haul_coro *parker, *joiner;

	begin_on(HAUL_STEAL_OFF);
	parker = begin(1, "parker \x01", parks_deep, NULL);
	wait_for(parker, "parked");
	ck_assert_str_eq(got.name, "parker ?");
	ck_assert_uint_eq(got.carrier, 1);
	ck_assert(!got.hibernates);
	check_descent();
	joiner = begin(0, "joiner", parks_deep, parker);
	wait_for(joiner, "the end of");
	ck_assert_uint_eq(got.carrier, 0);
	check_descent();
	haul_unpark(parker);
	done(joiner);
	end();
}
END_TEST

static void *locks(void *arg)
{
	haul_mutex_lock(&mutex);
	WAIT_UNTIL(go);
	haul_mutex_unlock(&mutex);
	return NULL;
}

static atomic_bool hogs;

static void *hog(void *arg)
{
	hogs = true;
	while (!go)
		;
	return NULL;
}

static void *nothing(void *arg)
{
	return NULL;
}

START_TEST(what_each_does)
{
	struct haul_coro *hogging, *waiting, *locker, *many[3];

	begin_on(HAUL_STEAL_OFF);
	locker = begin(1, "holder", locks, NULL);
	waiting = begin(1, "locker", locks, NULL);
	wait_for(waiting, "mutex");
	ck_assert_uint_gt(got.nb_frames, 1);
	hogs = false;
	hogging = begin(0, "hog", hog, NULL);
	wait_for(hogging, "running");
	WAIT_UNTIL(hogs);
	ck_assert_int_eq(ask(hogging), 0); /* that it never suspends does not matter */
	ck_assert_str_eq(got.what, "running");
	ck_assert(got.nb_frames > 0 || HAULI_TSAN);
	many[0] = begin(0, "late", nothing, NULL);
	WAIT_UNTIL(ask(many[0]) == 0);
	ck_assert_str_eq(got.what, "not begun");
	ck_assert_uint_eq(got.nb_frames, 0);
	go = true;
	done(hogging);
	done(locker);
	done(waiting);
	done(many[0]);
	end();
}
END_TEST

START_TEST(those_without_a_home_yet)
{
	struct haul_coro *hogging[2], *many[3];

	begin_on(HAUL_STEAL_OFF);
	for (unsigned i = 0; i < 2; i++) {
		hogs = false;
		hogging[i] = begin(i, "hog", hog, NULL);
		WAIT_UNTIL(hogs);
	}
	ck_assert_int_eq(haul_spawn_many(rt, many, nothing, NULL, 3,
				 &(struct haul_coro_opts){.name = "homeless"}),
		0);
	ck_assert_int_eq(ask(many[2]), 0);
	ck_assert_str_eq(got.what, "no carrier");
	ck_assert_str_eq(got.name, "homeless");
	ck_assert_uint_eq(got.nb_frames, 0);
	go = true;
	for (unsigned i = 0; i < 3; i++)
		done(many[i]);
	done(hogging[0]);
	done(hogging[1]);
	end();
}
END_TEST

START_TEST(addresses_that_are_no_coroutines)
{
	struct haul_coro *co, *ended;
	char on_stack[16];
	const void *const none[] = {NULL, (void *)1, (void *)0x1000, (void *)UINTPTR_MAX, on_stack,
		(void *)haul_stack, &got, (void *)((uintptr_t)1 << 63)};
	struct hauli_random random;

	begin_on(HAUL_STEAL_OFF);
	co = begin(0, "parker", parks_deep, NULL);
	ended = begin(1, "ended", nothing, NULL);
	wait_for(co, "parked");
	for (unsigned i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		ck_assert_int_eq(haul_stack(rt, none[i], &got), -ESRCH);
	for (unsigned i = 1; i < sizeof(struct haul_coro); i++)
		ASSERT_EACH(haul_stack(rt, (const char *)co + i, &got) == -ESRCH);
	hauli_random_init(&random, stress_seed());
	for (unsigned i = 0; i < 10000; i++) {
		uintptr_t any = (uintptr_t)hauli_random_next(&random);

		/* Some near the slab, where other objects are free or were never carved. */
		if (i % 2)
			any = (uintptr_t)co + (any % 4096 - 2048) * sizeof(struct haul_coro);
		if (haul_stack(rt, (void *)any, &got) == 0)
			ASSERT_EACH(got.name[0]);
	}
	WAIT_UNTIL(ask(ended) == -ESRCH);
	done(ended);
	ck_assert_int_eq(ask(ended), -ESRCH);
	haul_unpark(co);
	done(co);
	ck_assert_int_eq(ask(co), -ESRCH);
	end();
}
END_TEST

START_TEST(one_that_hibernates)
{
	struct idle one = {.bytes = 512};
	struct haul_coro *co;

	ends = false;
	rt = start((struct haul_runtime_opts){0}, 1);
	if (HAULI_TSAN)
		haul_detach(begin(0, "awake", stays_awake, NULL));
	co = spawn(rt, &one);
	look(rt, 1);
	ck_assert_int_eq(ask(co), 0);
	ck_assert(got.hibernates);
	ck_assert_uint_gt(got.nb_frames, 1);
	ck_assert_str_eq(got.what, "parked");
	ck_assert_uint_eq(thaws(rt), 0);
	haul_unpark(co);
	ck_assert_ptr_null(join(co));
	end();
}
END_TEST

static void *blocks_signals(void *arg)
{
	sigset_t set, before;

	sigemptyset(&set);
	sigaddset(&set, HAULI_SNAPSHOT_SIGNAL);
	pthread_sigmask(SIG_BLOCK, &set, &before);
	hogs = true;
	WAIT_UNTIL(go);
	pthread_sigmask(SIG_SETMASK, &before, NULL); /* the late signal comes here */
	return NULL;
}

START_TEST(a_carrier_that_does_not_answer)
{
	struct haul_coro *deaf, *co;

	begin_on(HAUL_STEAL_OFF);
	hogs = false;
	co = begin(0, "parker", parks_deep, NULL);
	wait_for(co, "parked");
	deaf = begin(0, "deaf", blocks_signals, NULL);
	WAIT_UNTIL(hogs);
	ck_assert_int_eq(haul_stack(rt, co, &got), -ETIMEDOUT);
	ck_assert_int_eq(haul_stack(rt, deaf, &got), -ETIMEDOUT);
	ck_assert_uint_eq(got.nb_frames, 0);
	go = true;
	done(deaf);
	ck_assert_int_eq(ask(co), 0);
	ck_assert_str_eq(got.what, "parked");
	haul_unpark(co);
	done(co);
	end();
}
END_TEST

static __attribute__((noinline)) void wait_in(unsigned way, unsigned depth)
{
	char room[64];

	__asm__ volatile("" : : "r"(room) : "memory");
	if (depth > 0) {
		wait_in(way, depth - 1);
		__asm__ volatile("" ::: "memory");
		return;
	}
	switch (way) {
	case 0:
		haul_sleep(20 * HAUL_US);
		break;
	case 1:
		haul_park(haul_in(10 * HAUL_US));
		break;
	case 2:
		haul_mutex_lock(&mutex);
		haul_yield();
		haul_mutex_unlock(&mutex);
		break;
	case 3:
		haul_yield();
		break;
	default:
		break;
	}
}

static void *comes_and_goes(void *arg)
{
	unsigned way = (unsigned)(uintptr_t)arg;

	for (unsigned i = 0; i < 100; i++)
		wait_in(way % 5, (way >> 4) % 20);
	return NULL;
}

#define SOME 64

static struct haul_coro *_Atomic some[SOME];

/* Any of the coroutines, most of which have ended or are about to. */
static void *asks(void *arg)
{
	struct haul_stack stack;
	struct hauli_random random;
	uintptr_t n = 0;

	hauli_random_init(&random, (uintptr_t)arg);
	while (!ends) {
		const void *co = some[hauli_random_below(&random, SOME)];
		int err = haul_stack(rt, co, &stack);

		ASSERT_EACH(err == 0 || err == -ESRCH || err == -ETIMEDOUT);
		ASSERT_EACH(stack.nb_frames <= HAUL_STACK_FRAMES);
		n += err == 0 && stack.nb_frames > 0;
	}
	return (void *)n;
}

START_TEST(any_that_come_and_go)
{
	uint64_t seed = stress_seed(), until = stress_deadline();
	struct hauli_random random;
	uintptr_t stacks = 0;
	pthread_t askers[2];

	begin_on(_i && HAUL_STEALING ? HAUL_STEAL_CLUSTER : HAUL_STEAL_OFF);
	hauli_random_init(&random, seed);
	for (uintptr_t i = 0; i < 2; i++)
		ck_assert_int_eq(
			pthread_create(&askers[i], NULL, asks, (void *)(uintptr_t)(seed + i)), 0);
	while (haul_now() < until) {
		for (unsigned i = 0; i < SOME; i++)
			some[i] = begin(hauli_random_below(&random, 2), "brief", comes_and_goes,
				(void *)(uintptr_t)hauli_random_next(&random));
		for (unsigned i = 0; i < SOME; i++)
			done(some[i]);
	}
	ends = true;
	for (unsigned i = 0; i < 2; i++) {
		void *n;

		pthread_join(askers[i], &n);
		stacks += (uintptr_t)n;
	}
	fprintf(stderr, "%ju call stacks\n", (uintmax_t)stacks);
	end();
}
END_TEST

SUITE_MAIN("look_stack", {each_call_of_one_that_waits, 1}, {what_each_does, 1},
	{those_without_a_home_yet, 1}, {addresses_that_are_no_coroutines, 1},
	{one_that_hibernates, 1}, {a_carrier_that_does_not_answer, 1}, {any_that_come_and_go, 2})
