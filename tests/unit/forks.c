/* SPDX-License-Identifier: BSD-3-Clause */
/* A child of fork() has no carriers: calls that would wait for a carrier are refused there. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "coro/coro.h"
#include "support/runtime.h"
#include "support/suite.h"

/* TSan starts no threads in a child of fork(), and a child may find ASan's own locks taken. */
#define CHILD_MAY_START (!HAULI_TSAN && !HAULI_ASAN)
#define FORKS 100

static void *parks(void *arg)
{
	return (void *)(intptr_t)haul_park(HAUL_FOREVER);
}

static void *nothing(void *arg)
{
	return arg;
}

/* In the child: the number of the first call that does not return -EPERM, or 0. */
static int refused(struct haul_runtime *rt, struct haul_coro *of_parent)
{
	struct haul_coro *co;

	if (haul_spawn_any(rt, &co, nothing, NULL, NULL) != -EPERM)
		return 1;
	if (haul_spawn_on(haul_carrier(rt, 1), &co, nothing, NULL, NULL) != -EPERM)
		return 2;
	if (haul_spawn_many(rt, &co, nothing, NULL, 1, NULL) != -EPERM)
		return 3;
	if (haul_join(of_parent, NULL, HAUL_FOREVER) != -EPERM)
		return 4;
	return haul_stop(rt, HAUL_FOREVER) == -EPERM ? 0 : 5;
}

static int has_its_own(void)
{
	struct haul_runtime *rt = NULL;
	struct haul_coro *co;

	if (haul_start(&rt, NULL, NULL, 0) != 0 ||
		haul_spawn_any(rt, &co, nothing, NULL, NULL) != 0 ||
		haul_join(co, NULL, HAUL_FOREVER) != 0)
		return 6;
	return haul_stop(rt, HAUL_FOREVER) == 0 ? 0 : 7;
}

START_TEST(a_child_has_no_carriers)
{
	struct haul_runtime *rt = runtime_start(2);
	struct haul_coro *co;
	pid_t child;
	int status;

	ck_assert_int_eq(haul_spawn_any(rt, &co, parks, NULL, NULL), 0);
	child = fork();
	if (child == 0) {
		int failed = refused(rt, co);

		if (!failed && CHILD_MAY_START)
			failed = has_its_own();
		if (!failed && CHILD_MAY_START && haul_stop(rt, HAUL_FOREVER) != -EINVAL)
			failed = 100; /* the child's own carriers do not revive the parent's */
		_exit(failed);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_msg(status == 0, "status %x", (unsigned)status);
	haul_cancel(co);
	ck_assert_int_eq(haul_join(co, NULL, HAUL_FOREVER), 0);
	runtime_stop(rt);
}
END_TEST

static void *start_and_stop(void *ends)
{
	while (!atomic_load((atomic_bool *)ends))
		runtime_stop(runtime_start(2));
	return NULL;
}

START_TEST(a_child_finds_no_lock_taken)
{
	atomic_bool ends = false;
	pthread_t others;
	pid_t child;
	int status;

	if (!CHILD_MAY_START)
		return;
	ck_assert_int_eq(pthread_create(&others, NULL, start_and_stop, &ends), 0);
	for (int i = 0; i < FORKS; i++) {
		child = fork();
		if (child == 0)
			_exit(has_its_own());
		ck_assert_int_eq(waitpid(child, &status, 0), child);
		ck_assert_msg(status == 0, "fork %d: status %x", i, (unsigned)status);
	}
	atomic_store(&ends, true);
	pthread_join(others, NULL);
}
END_TEST

SUITE_MAIN("forks", {a_child_has_no_carriers, 1}, {a_child_finds_no_lock_taken, 1})
