/* SPDX-License-Identifier: BSD-3-Clause */
/* A coroutine that ends and holds a mutex, however it got it, is reported in one line. Always built
 * with the checks of -Dchecks=true. */
#include <errno.h>

#include "misuse.h"
#include "support/suite.h"

static struct haul_mutex mutex;
static struct haul_cond cond;

static void lock(void)
{
	haul_mutex_lock(&mutex);
}

static void try(void)
{
	(void)haul_mutex_lock_by(&mutex, 0);
}

static void select_mutex(void)
{
	struct haul_case cases[] = {haul_case_mutex(&mutex)};

	(void)haul_select(cases, 1, HAUL_FOREVER);
}

static void wait_for_cond(void)
{
	haul_mutex_lock(&mutex);
	(void)haul_cond_wait(&cond, &mutex, haul_in(1));
}

static void (*const locks[])(void) = {lock, try, select_mutex, wait_for_cond};
#define LOCKS ((int)(sizeof(locks) / sizeof(locks[0])))

static void *ends_with_it(void *how)
{
	((void (*)(void))how)();
	return NULL;
}

static void *unlocks_it(void *how)
{
	((void (*)(void))how)();
	haul_mutex_unlock(&mutex);
	return NULL;
}

/* The second one, and the third, wait for the mutex; but for a try. */
static void *one_after_another(void *how)
{
	struct haul_coro *cos[3];

	haul_mutex_lock(&mutex);
	for (int i = 0; i < 3; i++)
		haul_spawn(&cos[i], i < 2 ? unlocks_it : ends_with_it, how, NULL);
	haul_yield();
	haul_mutex_unlock(&mutex);
	for (int i = 0; i < 3; i++)
		haul_join(cos[i], NULL, HAUL_FOREVER);
	return NULL;
}

static void ends_with_what_it_locked(void)
{
	run_on(rt, 0, ends_with_it, (void *)lock);
}

static void ends_with_what_it_tried(void)
{
	run_on(rt, 0, ends_with_it, (void *)try);
}

static void ends_with_what_it_selected(void)
{
	run_on(rt, 0, ends_with_it, (void *)select_mutex);
}

static void ends_after_a_condition(void)
{
	run_on(rt, 0, ends_with_it, (void *)wait_for_cond);
}

static void ends_with_what_it_was_given(void)
{
	run_on(rt, 0, one_after_another, (void *)lock);
}

static void ends_with_what_its_select_was_given(void)
{
	run_on(rt, 0, one_after_another, (void *)select_mutex);
}

#define ENDED "has ended and still holds a mutex"

static const struct misuse misuses[] = {
	{ends_with_what_it_locked, "haul_mutex_lock", ENDED},
	{ends_with_what_it_tried, "haul_mutex_lock", ENDED},
	{ends_with_what_it_selected, "haul_mutex_lock", ENDED},
	{ends_after_a_condition, "haul_mutex_lock", ENDED},
	{ends_with_what_it_was_given, "haul_mutex_lock", ENDED},
	{ends_with_what_its_select_was_given, "haul_mutex_lock", ENDED},
};
#define MISUSES ((int)(sizeof(misuses) / sizeof(misuses[0])))

START_TEST(a_mistake_is_reported)
{
	misuse_is_reported(&misuses[_i]);
}
END_TEST

static void *contend(void *how)
{
	struct haul_coro *cos[20];

	for (int i = 0; i < 20; i++)
		haul_spawn(&cos[i], unlocks_it, how, NULL);
	for (int i = 0; i < 20; i++)
		haul_join(cos[i], NULL, HAUL_FOREVER);
	return NULL;
}

START_TEST(right_use_passes)
{
	rt = runtime_start(1);
	run_on(rt, 0, contend, (void *)locks[_i]);
	runtime_stop(rt);
}
END_TEST

SUITE_MAIN("held", {a_mistake_is_reported, MISUSES}, {right_use_passes, LOCKS})
