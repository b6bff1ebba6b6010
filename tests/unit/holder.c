/* SPDX-License-Identifier: BSD-3-Clause */
/* Mistakes about who holds a mutex: the process (a child) dies with a line that names the call, and
 * says what is known of the holder. */
#include "misuse.h"
#include "support/suite.h"

static struct haul_mutex mutex;
static struct haul_cond cond;

static void lock(void)
{
	haul_mutex_lock(&mutex);
}

static void unlock(void)
{
	haul_mutex_unlock(&mutex);
}

static void wait_for_cond(void)
{
	(void)haul_cond_wait(&cond, &mutex, HAUL_FOREVER);
}

/* Of carrier 0. */
static void *holds(void *locked)
{
	haul_mutex_lock(&mutex);
	haul_event_set(locked);
	haul_park(HAUL_FOREVER);
	haul_mutex_unlock(&mutex);
	return NULL;
}

static void another_holds(void)
{
	static struct haul_event locked;

	haul_spawn_on(haul_carrier(rt, 0), NULL, holds, &locked, NULL);
	WAIT_UNTIL(haul_event_is_set(&locked));
}

static void lock_twice(void)
{
	haul_mutex_lock(&mutex);
	haul_mutex_lock(&mutex);
}

static void locks_twice(void)
{
	on_carrier(0, lock_twice);
}

static void lock_twice_by(void)
{
	haul_mutex_lock(&mutex);
	(void)haul_mutex_lock_by(&mutex, 0);
}

static void locks_twice_by(void)
{
	on_carrier(0, lock_twice_by);
}

static void unlocks_what_is_free(void)
{
	on_carrier(0, unlock);
}

static void unlocks_what_others_hold(void)
{
	another_holds();
	on_carrier(1, unlock);
}

static void overwrite_and_unlock(void)
{
	haul_mutex_lock(&mutex);
	memset(&mutex, 0x5a, sizeof(mutex));
	mutex.hidden[0] &= ~(uint64_t)3; /* else it seems to be in use for a moment */
	unlock();
}

static void unlocks_overwritten(void)
{
	on_carrier(0, overwrite_and_unlock);
}

/* Its holder is not the caller's predecessor at the same address. */
static void unlocks_what_an_ended_one_holds(void)
{
	on_carrier(0, lock);
	on_carrier(1, unlock);
}

static void *locks(void *arg)
{
	haul_mutex_lock(&mutex);
	return NULL;
}

/* Each begins where the one before has ended. */
static void locks_in_turn(void)
{
	for (int i = 0; i < 2; i++) {
		struct haul_coro *co;

		haul_spawn(&co, locks, NULL, NULL);
		haul_join(co, NULL, HAUL_FOREVER);
	}
}

static void locks_what_an_ended_one_holds(void)
{
	on_carrier(0, locks_in_turn);
}

static void unlocks_outside(void)
{
	another_holds();
	unlock();
}

static void waits_without_mutex(void)
{
	on_carrier(0, wait_for_cond);
}

static void waits_with_the_mutex_of_others(void)
{
	another_holds();
	on_carrier(1, wait_for_cond);
}

static void select_what_it_holds(void)
{
	struct haul_case cases[] = {haul_case_mutex(&mutex)};

	haul_mutex_lock(&mutex);
	(void)haul_select(cases, 1, 0);
}

static void selects_what_it_holds(void)
{
	on_carrier(0, select_what_it_holds);
}

#define CALLER "is held by the caller"
#define OTHER "is held by another coroutine"
#define ENDED "is held by a coroutine that has ended"
#define EARLIER ", or by an earlier coroutine at its address, which ended without an unlock"
#define HOLDER "haul: the holder is coroutine \""

static const struct misuse misuses[] = {
	{locks_twice, "haul_mutex_lock", CALLER},
	{locks_twice_by, "haul_mutex_lock_by", CALLER},
	{selects_what_it_holds, "haul_select", CALLER},
	{unlocks_what_is_free, "haul_mutex_unlock", "is not locked"},
	{unlocks_what_others_hold, "haul_mutex_unlock", OTHER, false, HOLDER},
	{unlocks_overwritten, "haul_mutex_unlock", "was freed or overwritten"},
	{unlocks_what_an_ended_one_holds, "haul_mutex_unlock", ENDED},
	{locks_what_an_ended_one_holds, "haul_mutex_lock", EARLIER},
	{unlocks_outside, "haul_mutex_unlock", OTHER, false, HOLDER},
	{waits_without_mutex, "haul_cond_wait", "is not held by the caller"},
	{waits_with_the_mutex_of_others, "haul_cond_wait", "is not held by the caller"},
};
#define MISUSES ((int)(sizeof(misuses) / sizeof(misuses[0])))

START_TEST(a_mistake_is_reported)
{
	/* With checks the coroutine that ends with a mutex is the mistake. */
	if (HAUL_CHECKS &&
		(strcmp(misuses[_i].mistake, ENDED) == 0 ||
			strcmp(misuses[_i].mistake, EARLIER) == 0))
		return;
	misuse_is_reported(&misuses[_i]);
}
END_TEST

SUITE_MAIN("holder", {a_mistake_is_reported, MISUSES})
