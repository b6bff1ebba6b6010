/* SPDX-License-Identifier: BSD-3-Clause */
/* A child of fork() has no carriers: calls that would wait for a carrier are refused there. */
#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include "coro/coro.h"
#include "support/runtime.h"
#include "support/suite.h"

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

	if (haul_start(&rt, NULL) != 0 || haul_spawn_any(rt, &co, nothing, NULL, NULL) != 0 ||
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

		if (!failed && !HAULI_TSAN) /* it starts no threads in a child of fork() */
			failed = has_its_own();
		if (!failed && !HAULI_TSAN && haul_stop(rt, HAUL_FOREVER) != -EINVAL)
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

int main(void)
{
	const struct suite_test tests[] = {{a_child_has_no_carriers}};

	return suite_run("forks", tests, 1);
}
