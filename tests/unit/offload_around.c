/* SPDX-License-Identifier: BSD-3-Clause */
/* Offloaded calls and the runtime around them: its stop, virtual time, deadlocks, fork(). */
#include <signal.h>
#include <unistd.h>

#include "coro/fiber.h"
#include "coro_child.h"
#include "offload_bed.h"
#include "support/suite.h"

/* In a child, whose stderr is read: a stop cannot wait for the call, says so, and can later. */
static void stop_twice(void *arg)
{
	begin(1, &(struct haul_offload_opts){.threads = 1});
	call(0, HAUL_FOREVER);
	wait_begun(1);
	call(1, HAUL_FOREVER);
	wait_queued(1);
	haul_detach(s.cos[0]);
	haul_detach(s.cos[1]);
	ck_assert_int_eq(haul_stop(s.rt, 50 * HAUL_MS), -ETIMEDOUT);
	ck_assert_int_eq(s.results[1], -ECANCELED);
	ck_assert_uint_eq(s.returned, 1);
	let_end(1);
	ck_assert_int_eq(haul_stop(s.rt, HAUL_FOREVER), 0);
	ck_assert_uint_eq(s.returned, 2);
	ck_assert_int_eq(s.results[0], 0);
	ck_assert_uint_eq(s.called, 1);
}

START_TEST(a_stop_waits_for_calls_that_have_begun)
{
	struct child c;

	if (HAULI_TSAN)
		return; /* carriers that sleep do not answer a dump */
	c = child_run(stop_twice, NULL);
	ck_assert_msg(c.status == 0, "%s", c.said);
	ck_assert_msg(strstr(c.said, ", waiting for the offloaded call 0x"), "%s", c.said);
	child_show(&c);
}
END_TEST

/* Virtual time. */

static struct haul_runtime *start_virtual(void)
{
	struct haul_plan_opts opts = {.carriers = 2};
	struct haul_runtime *rt = NULL;
	struct haul_plan *plan = NULL;

	ck_assert_int_eq(haul_plan_create(&plan, &opts, NULL, 0), 0);
	ck_assert_int_eq(
		haul_start(&rt, &(struct haul_runtime_opts){.plan = plan, .virtual_time = true},
			NULL, 0),
		0);
	haul_plan_destroy(plan);
	return rt;
}

static void takes_real_time(void *arg)
{
	usleep(20000); /* the time is what is meant: a clock that ran would show it */
}

static void *sleeps_an_hour(void *arg)
{
	return (void *)(intptr_t)haul_sleep(HOUR);
}

static void *takes_no_time(void *rt)
{
	uint64_t began = haul_now();
	struct haul_coro *sleeper;

	EXPECT(haul_spawn_on(haul_carrier(rt, 1), &sleeper, sleeps_an_hour, NULL, NULL) == 0);
	for (int i = 0; i < 3; i++) {
		EXPECT(haul_offload(takes_real_time, NULL, haul_in(1)) == 0);
		EXPECT(haul_now() == began);
	}
	EXPECT(haul_join(sleeper, NULL, HAUL_FOREVER) == 0);
	EXPECT(haul_now() == began + HOUR);
	return NULL;
}

START_TEST(virtual_time_stands_still_meanwhile)
{
	struct haul_runtime *rt;

	ck_assert_int_eq(haul_offload_set(&(struct haul_offload_opts){0}), 0);
	rt = start_virtual();
	ck_assert_pstr_eq(run_on(rt, 0, takes_no_time, rt), NULL);
	runtime_stop(rt);
}
END_TEST

/* What is said about coroutines that nothing can wake, in a child. */

static void *waits_for_ever(void *arg)
{
	struct haul_event e = {0};

	return (void *)(intptr_t)haul_event_wait(&e, HAUL_FOREVER);
}

static void stop_during_call(void *arg)
{
	begin(1, &(struct haul_offload_opts){0});
	call(0, HAUL_FOREVER);
	wait_begun(1);
	let_end(1);
	ck_assert_int_eq(haul_stop(s.rt, HAUL_FOREVER), 0);
}

START_TEST(a_call_that_runs_is_no_deadlock)
{
	struct child c = child_run(stop_during_call, NULL);

	ck_assert_int_eq(c.status, 0);
	ck_assert_msg(!strstr(c.said, "nothing can wake"), "%s", c.said);
}
END_TEST

/* The threads of calls that have ended are no others that might wake somebody. Nor are handlers of
 * signals, such as those of check. */
static void join_in_vain(void)
{
	const int handled[] = {SIGINT, SIGTERM, SIGALRM};
	struct haul_coro *co;

	for (unsigned i = 0; i < sizeof(handled) / sizeof(handled[0]); i++)
		signal(handled[i], SIG_DFL);

	begin(1, &(struct haul_offload_opts){0});
	runtime_stop(s.rt);
	s.rt = start_virtual();
	call(0, HAUL_FOREVER);
	let_end(1);
	(void)result_of(0);
	haul_spawn_on(haul_carrier(s.rt, 1), &co, waits_for_ever, NULL, NULL);
	haul_join(co, NULL, HAUL_FOREVER);
}

START_TEST(a_deadlock_after_a_call_is_told)
{
	const char *line = "haul: 1 coroutine waits, and nothing can wake it";

	if (!HAULI_TSAN) /* it has a thread of its own, which might wake somebody */
		child_until(join_in_vain, line, line);
}
END_TEST

/* Children of fork(). */

static void *offloads_in_child(void *arg)
{
	pid_t child = fork();
	int status;

	if (child == 0)
		_exit(haul_offload(counts, NULL, HAUL_FOREVER) == -EPERM ? 0 : 1);
	EXPECT(child > 0 && waitpid(child, &status, 0) == child);
	EXPECT(status == 0);
	return NULL;
}

static int offload_in_own_runtime(void)
{
	struct haul_runtime *rt = NULL;
	struct haul_coro *co;
	void *wrong = "not joined";

	if (stats().threads != 0 || haul_start(&rt, NULL, NULL, 0) != 0 ||
		haul_spawn_any(rt, &co, calls_one_after_the_other, NULL, NULL) != 0 ||
		haul_join(co, &wrong, HAUL_FOREVER) != 0)
		return 2;
	return haul_stop(rt, HAUL_FOREVER) == 0 && !wrong ? 0 : 3;
}

START_TEST(a_child_of_fork_has_no_threads)
{
	pid_t child;
	int status;

	begin(1, &(struct haul_offload_opts){0});
	ck_assert_pstr_eq(run_on(s.rt, 0, calls_one_after_the_other, NULL), NULL);
	if (!HAULI_TSAN && !HAULI_ASAN) {
		ck_assert_pstr_eq(run_on(s.rt, 0, offloads_in_child, NULL), NULL);
		child = fork();
		if (child == 0)
			_exit(offload_in_own_runtime());
		ck_assert_int_eq(waitpid(child, &status, 0), child);
		ck_assert_msg(status == 0, "status %x", (unsigned)status);
	}
	runtime_stop(s.rt);
}
END_TEST

SUITE_MAIN("offload_around", {a_stop_waits_for_calls_that_have_begun, 1},
	{virtual_time_stands_still_meanwhile, 1}, {a_call_that_runs_is_no_deadlock, 1},
	{a_deadlock_after_a_call_is_told, 1}, {a_child_of_fork_has_no_threads, 1})
