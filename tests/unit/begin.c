/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where coroutines of plain spawns begin and end: on the stack of the one that has just ended, if
 * it fits; on another one, if it waits; and without one, when it has ended.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/resource.h>

#include "sched/state/carrier.h"
#include "sched/state/runtime.h"
#include "support/runtime.h"
#include "support/suite.h"

#define MANY 1000

static struct haul_runtime *rt;
static struct haul_coro *coros[MANY], *selves[MANY];
static uintptr_t frames[MANY];
static atomic_uint begun, wrong;
static atomic_bool open;

static void count(struct hauli_stack *stack, void *arg)
{
	(*(unsigned *)arg)++;
}

/* Stacks ever used. */
static unsigned stacks(void)
{
	unsigned n = 0;

	hauli_stacks_for_each(rt->stacks, count, &n);
	return n;
}

static void *notes(void *arg)
{
	unsigned i = begun++;

	selves[i] = haul_self();
	frames[i] = (uintptr_t)__builtin_frame_address(0);
	return arg;
}

static void *notes_and_parks(void *arg)
{
	notes(arg);
	while (haul_park(HAUL_FOREVER) == 0 && !open)
		;
	wrong += haul_self() != *(struct haul_coro **)arg;
	return arg;
}

static void spawn_many(haul_fn *fn)
{
	begun = wrong = 0;
	for (unsigned i = 0; i < MANY; i++)
		ASSERT_EACH(haul_spawn(&coros[i], fn, &coros[i], NULL) == 0);
	while (begun < MANY)
		haul_yield();
}

static void *sees_one_stack_for_all(void *arg)
{
	unsigned other = 0;
	void *result;

	spawn_many(notes);
	for (unsigned i = 0; i < MANY; i++) {
		wrong += selves[i] != coros[i];
		other += frames[i] != frames[0];
		haul_join(coros[i], &result, HAUL_FOREVER);
		wrong += result != &coros[i];
	}
	return wrong || other ? "a stack, a handle or a result" : NULL;
}

START_TEST(those_that_do_not_wait_share_a_stack)
{
	unsigned before;

	rt = runtime_start_stealing(1, NULL, HAUL_STEAL_OFF);
	before = stacks();
	ck_assert_pstr_eq(run_on(rt, 0, sees_one_stack_for_all, NULL), NULL);
	/* None for those that have ended and are not joined: one set was carved. */
	ck_assert_uint_le(stacks() - before, HAULI_STACK_SET);
	runtime_stop(rt);
}
END_TEST

static void *sees_a_stack_for_each(void *arg)
{
	void *result;

	begun = 0;
	haul_spawn(NULL, notes, NULL, NULL); /* leaves a warm stack */
	haul_yield();
	spawn_many(notes_and_parks);
	for (unsigned i = 1; i < MANY; i++)
		for (unsigned j = 0; j < i; j++)
			wrong += frames[i] == frames[j];
	open = true;
	for (unsigned i = 0; i < MANY; i++)
		haul_unpark(coros[i]);
	for (unsigned i = 0; i < MANY; i++) {
		haul_join(coros[i], &result, HAUL_FOREVER);
		wrong += result != &coros[i];
	}
	return wrong ? "a stack, a handle or a result" : NULL;
}

START_TEST(those_that_wait_keep_theirs)
{
	rt = runtime_start_stealing(1, NULL, HAUL_STEAL_OFF);
	open = false;
	ck_assert_pstr_eq(run_on(rt, 0, sees_a_stack_for_each, NULL), NULL);
	runtime_stop(rt);
}
END_TEST

/* Uses most of a stack of this size. */
static void *uses(void *arg)
{
	size_t bytes = (uintptr_t)arg * 3 / 4;
	volatile char *room = __builtin_alloca(bytes);

	for (size_t i = 0; i < bytes; i += 512)
		room[bytes - 1 - i] = 1;
	begun++;
	return NULL;
}

static void *spawns_all_sizes(void *arg)
{
	static const size_t sizes[] = {8 << 10, 200 << 10, 24 << 10, 1000 << 10};

	begun = 0;
	for (unsigned i = 0; i < 40; i++) {
		struct haul_coro_opts opts = {
			.name = "sized", .stack_size = sizes[i % 4], .pinned = i % 3 == 0};

		ASSERT_EACH(haul_spawn(NULL, uses, (void *)opts.stack_size, &opts) == 0);
	}
	while (begun < 40)
		haul_yield();
	return NULL;
}

START_TEST(each_has_the_size_that_it_asked_for)
{
	for (int steal = 0; steal < 2; steal++) {
		rt = runtime_start_stealing(
			2, NULL, steal && HAUL_STEALING ? HAUL_STEAL_GLOBAL : HAUL_STEAL_OFF);
		ck_assert_ptr_null(run_on(rt, 0, spawns_all_sizes, NULL));
		runtime_stop(rt);
	}
}
END_TEST

static void *is_cancelled(void *arg)
{
	begun++;
	wrong += !haul_cancelled();
	wrong += haul_park(HAUL_FOREVER) != -ECANCELED;
	return NULL;
}

static void *cancels_before_the_start(void *arg)
{
	struct haul_coro *co[3];

	begun = wrong = 0;
	for (unsigned i = 0; i < 3; i++) {
		ASSERT_EACH(haul_spawn(&co[i], is_cancelled, NULL, NULL) == 0);
		haul_cancel(co[i]);
	}
	for (unsigned i = 0; i < 3; i++)
		haul_join(co[i], NULL, HAUL_FOREVER);
	return begun != 3 || wrong ? "a cancel" : NULL;
}

START_TEST(a_cancel_before_the_start_counts)
{
	rt = runtime_start_stealing(1, NULL, HAUL_STEAL_OFF);
	ck_assert_pstr_eq(run_on(rt, 0, cancels_before_the_start, NULL), NULL);
	runtime_stop(rt);
}
END_TEST

/* Without memory for stacks of their size, coroutines wait until there is some. */
static void *waits_for_memory(void *arg)
{
	const struct haul_coro_opts large = {.stack_size = 1000 * 1024};
	struct rlimit none = {1 << 20, RLIM_INFINITY}, before;
	unsigned early;

	begun = 0;
	haul_spawn(NULL, notes, NULL, NULL); /* so that there are objects and small stacks */
	haul_yield();
	getrlimit(RLIMIT_AS, &before);
	none.rlim_max = before.rlim_max;
	setrlimit(RLIMIT_AS, &none);
	for (unsigned i = 0; i < 5; i++)
		ASSERT_EACH(haul_spawn(NULL, notes, NULL, &large) == 0);
	for (unsigned i = 0; i < 5; i++)
		ASSERT_EACH(haul_spawn(NULL, notes, NULL, NULL) == 0);
	for (unsigned i = 0; i < 100; i++)
		haul_yield();
	early = begun;
	setrlimit(RLIMIT_AS, &before);
	while (begun < 11)
		haul_yield();
	return early == 6 ? NULL : "not all others ran, or some too early";
}

START_TEST(without_memory_they_begin_later)
{
	if (HAULI_ASAN || HAULI_TSAN)
		return; /* their shadow needs memory, too */
	rt = runtime_start_stealing(1, NULL, HAUL_STEAL_OFF);
	ck_assert_pstr_eq(run_on(rt, 0, waits_for_memory, NULL), NULL);
	runtime_stop(rt);
}
END_TEST

SUITE_MAIN("begin", {those_that_do_not_wait_share_a_stack, 1}, {those_that_wait_keep_theirs, 1},
	{each_has_the_size_that_it_asked_for, 1}, {a_cancel_before_the_start_counts, 1},
	{without_memory_they_begin_later, 1})
