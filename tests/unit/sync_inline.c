/* SPDX-License-Identifier: BSD-3-Clause */
/* Locks and unlocks that are compiled into the program, and calls of the library as older programs
 * make them, agree about a mutex. */
#include <haul/sync.h>

#include "base/assert.h"
#include "base/random.h"
#include "coro/fiber.h"
#include "sched/state/self.h"
#include "sync/mutex.h"

#include "support/runtime.h"
#include "support/suite.h"

#define CARRIERS 3
#define MEMBERS 6
#define STEPS 4000

/* By its address a function is called in the library. No compiler sees through these. */
static struct {
	void (*lock)(struct haul_mutex *m);
	int (*lock_by)(struct haul_mutex *m, uint64_t deadline);
	void (*unlock)(struct haul_mutex *m);
} calls = {haul_mutex_lock, haul_mutex_lock_by, haul_mutex_unlock};

static struct haul_mutex mutex;
static uint64_t inside, entries; /* under the mutex */

static bool lock_somehow(uint64_t how)
{
	switch (how % 5) {
	case 0:
		haul_mutex_lock(&mutex);
		return true;
	case 1:
		calls.lock(&mutex);
		return true;
	case 2:
		return haul_mutex_lock_by(&mutex, HAUL_FOREVER) == 0;
	case 3:
		return calls.lock_by(&mutex, haul_in(HAUL_S)) == 0;
	default:
		return haul_mutex_lock_by(&mutex, 0) == 0;
	}
}

static void unlock_somehow(uint64_t how)
{
	if (how % 2)
		haul_mutex_unlock(&mutex);
	else
		calls.unlock(&mutex);
}

static void *locks_and_unlocks(void *seed)
{
	struct hauli_random random;

	hauli_random_init(&random, (uintptr_t)seed);
	for (unsigned i = 0; i < STEPS; i++) {
		if (lock_somehow(hauli_random_below(&random, 5))) {
			EXPECT(++inside == 1);
			EXPECT(hauli_mutex_is_held_by(&mutex, haul_self()));
			if (hauli_random_below(&random, 4) == 0)
				haul_yield();
			entries++;
			EXPECT(--inside == 0);
			unlock_somehow(hauli_random_below(&random, 2));
		}
		if (hauli_random_below(&random, 4) == 0)
			haul_yield();
	}
	return NULL;
}

START_TEST(both_agree)
{
	struct haul_runtime *rt = runtime_start_stealing(
		CARRIERS, NULL, HAUL_STEALING ? (enum haul_steal)(_i % 3) : HAUL_STEAL_OFF);
	struct haul_coro *cos[MEMBERS];

	__asm__ volatile("" : : "r"(&calls) : "memory");
	inside = entries = 0;
	for (unsigned i = 0; i < MEMBERS; i++)
		ck_assert_int_eq(
			haul_spawn_on(haul_carrier(rt, i % CARRIERS), &cos[i], locks_and_unlocks,
				(void *)(uintptr_t)(1 + _i * MEMBERS + i), NULL),
			0);
	for (unsigned i = 0; i < MEMBERS; i++) {
		void *wrong;

		ck_assert_int_eq(haul_join(cos[i], &wrong, HAUL_FOREVER), 0);
		ck_assert_msg(!wrong, "seed %u: %s", 1 + _i * MEMBERS + i, (char *)wrong);
	}
	ck_assert_uint_ge(entries, MEMBERS * STEPS / 2);
	runtime_stop(rt);
}
END_TEST

static void *is_shown(void *arg)
{
	return haul_inline_here_->current == (void *)haul_self() ? arg : NULL;
}

/* To programs, only by a library that has nothing to check. */
START_TEST(the_running_coroutine_is_shown)
{
	struct haul_runtime *rt = runtime_start(1);
	struct haul_coro *co;
	void *shown;

	ck_assert_uint_ne(haul_inline_here_->current->flags, 0); /* this is no carrier */
	haul_spawn_on(haul_carrier(rt, 0), &co, is_shown, &mutex, NULL);
	haul_join(co, &shown, HAUL_FOREVER);
	ck_assert_int_eq(shown != NULL, !HAUL_CHECKS && !HAULI_ASAN && !HAULI_TSAN);
	runtime_stop(rt);
}
END_TEST

SUITE_MAIN("sync_inline", {both_agree, 12}, {the_running_coroutine_is_shown, 1})
