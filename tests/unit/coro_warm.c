/* SPDX-License-Identifier: BSD-3-Clause */
/* After an equal number of coroutines before, new coroutines need no system call. A child process
 * shows it: the kernel kills it at the first call. */
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "coro/stack.h"
#include "coro_child.h"
#include "support/suite.h"

#define AT_ONCE 1000

struct head {
	struct hauli_stack stack;
	struct hauli_co co;
	char more[200];
} HAULI_LINE;

static struct hauli_co me;

static void body(void *pass)
{
	struct hauli_co *co = pass;

	hauli_co_arrived(co);
	hauli_co_switch(co, &me, NULL);
	hauli_co_end(co, &me, NULL);
}

static void generation(struct hauli_stack_cache *cache)
{
	struct hauli_stack *stack[AT_ONCE];
	struct head *h[AT_ONCE];

	for (unsigned i = 0; i < AT_ONCE; i++) {
		h[i] = (struct head *)hauli_stack_get(cache, 1);
		hauli_co_prepare(&h[i]->co, &h[i]->stack, h[i], body);
		hauli_co_switch(&me, &h[i]->co, &h[i]->co);
	}
	for (unsigned i = 0; i < AT_ONCE; i++) {
		hauli_co_switch(&me, &h[i]->co, NULL);
		hauli_stack_put(cache, &h[i]->stack, NULL);
	}
	for (unsigned i = 0; i < AT_ONCE; i++)
		stack[i] = hauli_stack_get_shared(cache->arena, 1);
	for (unsigned i = 0; i < AT_ONCE; i++)
		hauli_stack_put_shared(cache->arena, stack[i], NULL);
}

/* Strict mode permits only read, write and exit. */
static void warm_up_and_go_on(void *with_a_call)
{
	struct hauli_stack_cache cache;
	struct hauli_stacks *a;

	if (hauli_stacks_create(&a, sizeof(struct head), HAULI_GUARD_BEST))
		_exit(8);
	hauli_stack_cache_init(&cache, a);
	hauli_co_init_thread(&me);
	generation(&cache);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT))
		_exit(9);
	for (unsigned i = 0; i < 50; i++)
		generation(&cache);
	if (with_a_call)
		hauli_stacks_trim(a);
	syscall(SYS_exit, 0);
}

START_TEST(warm_stacks_need_no_system_call)
{
	struct child c = child_run(warm_up_and_go_on, NULL);

	CHILD_EXITED(c, 0);
}
END_TEST

START_TEST(a_system_call_would_be_seen)
{
	struct child c = child_run(warm_up_and_go_on, &me);

	CHILD_DIED_BY(c, SIGKILL);
}
END_TEST

/* True if a process can be confined here: not under valgrind and not in every container. */
static bool can_confine(void)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0)
		_exit(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) ? 1 : (int)syscall(SYS_exit, 0));
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

int main(void)
{
	const struct suite_test tests[] = {
		{warm_stacks_need_no_system_call, 1}, {a_system_call_would_be_seen, 1}};
	const char *why = NULL;

	if (HAULI_ASAN || HAULI_TSAN)
		why = "a sanitizer makes calls of its own";
	else if (!can_confine())
		why = "no seccomp here";
	if (why) {
		printf("1..0 # SKIP %s\n", why);
		return 0;
	}
	return suite_run("coro_warm", tests, 2);
}
