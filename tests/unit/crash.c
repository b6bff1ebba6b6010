/* SPDX-License-Identifier: BSD-3-Clause */
/* A coroutine that ends the program by a signal gets a line before; the program ends as it would
 * have done without haul. */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>

#include "coro_child.h"
#include "sched/run/poller.h"
#include "sched/state/self.h"
#include "support/dig.h"
#include "support/runtime.h"
#include "support/suite.h"

static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
#define SIGNALS ((int)(sizeof(signals) / sizeof(signals[0])))

static struct haul_runtime *rt;
static atomic_bool began;

static void set_all(void (*handler)(int sig))
{
	for (int i = 0; i < SIGNALS; i++)
		signal(signals[i], handler);
}

static void start(enum haul_steal steal)
{
	rt = runtime_start_stealing(2, NULL, steal);
}

static void *faults(void *arg)
{
	asm volatile("" : "+r"(arg));
	return (void *)(uintptr_t) * (const unsigned char *)arg;
}

static void *aborts(void *arg)
{
	abort();
}

static void *raises(void *sig)
{
	raise((int)(uintptr_t)sig);
	return NULL;
}

/* In a system call: a signal amid the thread sanitizer's own code makes it wait for itself. */
static void *runs_on(void *arg)
{
	began = true;
	for (;;)
		pause();
	return NULL;
}

static void spawn_and_wait(haul_fn *fn, void *arg)
{
	struct haul_coro *co;

	haul_spawn_on(
		haul_carrier(rt, 1), &co, fn, arg, &(struct haul_coro_opts){.name = "culprit"});
	haul_join(co, NULL, HAUL_FOREVER);
}

static void run_culprit(haul_fn *fn, void *arg)
{
	set_all(SIG_DFL); /* a sanitizer's handlers are away */
	start(HAUL_STEAL_OFF);
	spawn_and_wait(fn, arg);
}

static void fault(void *arg)
{
	run_culprit(faults, arg);
}

START_TEST(a_fault_tells_coroutine_carrier_address_and_stack)
{
	struct child c = child_run(fault, (void *)0x40);

	CHILD_DIED_BY(c, SIGSEGV);
	ck_assert_msg(c.lines == 1 && strstr(c.said, "haul: SIGSEGV in coroutine \"culprit\" 0x") &&
			strstr(c.said, " on carrier 1, address 0x40, at "),
		"%s", c.said);
	child_show(&c);
}
END_TEST

static void abort_in_a_coroutine(void *arg)
{
	run_culprit(aborts, NULL);
}

START_TEST(so_does_an_abort)
{
	struct child c = child_run(abort_in_a_coroutine, NULL);
	const char *stack = strstr(c.said, ", at ");

	CHILD_DIED_BY(c, SIGABRT);
	ck_assert_msg(c.lines == 1 && strstr(c.said, "haul: SIGABRT in coroutine \"culprit\" 0x") &&
			strstr(c.said, " on carrier 1, at ") &&
			!strstr(c.said, " on carrier 1, at libc."),
		"%s", c.said);
	/* Its function is the only frame: neither abort() nor what began the coroutine. With the
	 * thread sanitizer abort() is a function of the program. */
	ck_assert_msg(HAULI_TSAN || !strstr(stack, " < "), "%s", c.said);
}
END_TEST

static void *digs(void *arg)
{
	return (void *)(uintptr_t)dig(0);
}

static void overrun(void *arg)
{
	run_culprit(digs, NULL);
}

START_TEST(an_overrun_stack_is_told_as_such_with_its_last_frames)
{
	struct child c = child_run(overrun, NULL);
	const char *second = strstr(c.said, "haul: SIGSEGV in coroutine \"culprit\" 0x");

	CHILD_DIED_BY(c, SIGSEGV);
	ck_assert_msg(c.lines == 2 && strstr(c.said, "\"culprit\" has run over its stack of ") &&
			second && strstr(second, " times)"),
		"%s", c.said);
}
END_TEST

static void raise_in_a_coroutine(void *sig)
{
	run_culprit(raises, sig);
}

START_TEST(each_of_the_signals_does)
{
	struct child c = child_run(raise_in_a_coroutine, (void *)(uintptr_t)signals[_i]);

	CHILD_DIED_BY(c, signals[_i]);
	ck_assert_msg(c.lines == 1 && strstr(c.said, " in coroutine \"culprit\" 0x"), "%s", c.said);
}
END_TEST

/* Its home is kept busy, so a thief runs it. */
static void *aborts_if_stolen(void *arg)
{
	while (haul_carrier_self() == arg)
		haul_yield();
	abort();
}

static void *keeps_busy(void *arg)
{
	began = true;
	for (;;)
		;
	return NULL;
}

static void abort_as_a_stolen_one(void *arg)
{
	struct haul_coro_opts pinned = {.pinned = true};
	struct haul_coro *co;

	set_all(SIG_DFL);
	start(HAUL_STEAL_GLOBAL);
	haul_spawn_on(haul_carrier(rt, 0), NULL, keeps_busy, NULL, &pinned);
	WAIT_UNTIL(began);
	haul_spawn_on(haul_carrier(rt, 0), &co, aborts_if_stolen, haul_carrier(rt, 0),
		&(struct haul_coro_opts){.name = "culprit"});
	haul_join(co, NULL, HAUL_FOREVER);
}

START_TEST(a_stolen_one_is_told_with_its_home)
{
	struct child c;

	if (!HAUL_STEALING)
		return;
	c = child_run(abort_as_a_stolen_one, NULL);
	CHILD_DIED_BY(c, SIGABRT);
	ck_assert_msg(strstr(c.said, "\"culprit\" 0x") &&
			strstr(c.said, " on carrier 1, stolen from carrier 0, at "),
		"%s", c.said);
}
END_TEST

static void *aborts_when_polling(void *arg)
{
	if (hauli_poller_go_on(hauli_self(), false))
		abort();
	return NULL;
}

static void abort_in_a_poller(void *arg)
{
	set_all(SIG_DFL);
	start(HAUL_STEAL_OFF);
	haul_poller_register(haul_carrier(rt, 1), NULL, aborts_when_polling, NULL, NULL);
	for (;;)
		pause();
}

START_TEST(a_poller_is_told_as_one)
{
	struct child c = child_run(abort_in_a_poller, NULL);

	CHILD_DIED_BY(c, SIGABRT);
	ck_assert_msg(c.lines == 1 && strstr(c.said, "haul: SIGABRT in poller \""), "%s", c.said);
}
END_TEST

/* The others: nothing is said. */

static void abort_outside(void *arg)
{
	set_all(SIG_DFL);
	start(HAUL_STEAL_OFF);
	abort();
}

/* As kill(1) does, to have a core. */
static void be_killed(void *sig)
{
	set_all(SIG_DFL);
	start(HAUL_STEAL_OFF);
	haul_spawn_on(haul_carrier(rt, 1), NULL, runs_on, NULL, NULL);
	WAIT_UNTIL(began);
	if (fork() == 0) {
		uint32_t tid = hauli_u32_published_get(&haul_carrier(rt, 1)->run.tid);

		syscall(SYS_tgkill, getppid(), (pid_t)tid, (int)(uintptr_t)sig);
		_exit(0);
	}
	for (;;)
		pause();
}

START_TEST(a_signal_that_came_from_elsewhere_is_no_crash_of_a_coroutine)
{
	struct child c = child_run(abort_outside, NULL);

	CHILD_DIED_BY(c, SIGABRT);
	ck_assert_uint_eq(c.lines, 0);
	for (int i = 0; i < SIGNALS; i++) {
		c = child_run(be_killed, (void *)(uintptr_t)signals[i]);
		CHILD_DIED_BY(c, signals[i]);
		ck_assert_uint_eq(c.lines, 0);
	}
}
END_TEST

static void exit_by(int sig)
{
	_exit(100 + sig);
}

static void handle_before(void *sig)
{
	struct sigaction now;

	set_all(exit_by);
	start(HAUL_STEAL_OFF);
	sigaction(SIGABRT, NULL, &now);
	if (now.sa_handler != exit_by)
		_exit(1); /* it should be left alone */
	spawn_and_wait(raises, sig);
}

static void handle_after(void *sig)
{
	set_all(SIG_DFL);
	start(HAUL_STEAL_OFF);
	set_all(exit_by);
	spawn_and_wait(raises, sig);
}

START_TEST(handlers_of_the_program_are_called_and_nothing_is_said)
{
	struct child c = child_run(handle_before, (void *)(uintptr_t)signals[_i]);

	CHILD_EXITED(c, 100 + signals[_i]);
	ck_assert_uint_eq(c.lines, 0);
	c = child_run(handle_after, (void *)(uintptr_t)signals[_i]);
	CHILD_EXITED(c, 100 + signals[_i]);
	ck_assert_uint_eq(c.lines, 0);
}
END_TEST

static void stop_before(void *arg)
{
	struct sigaction now;

	set_all(SIG_DFL);
	for (int n = 0; n < 2; n++) {
		start(HAUL_STEAL_OFF);
		sigaction(SIGABRT, NULL, &now);
		if (!(now.sa_flags & SA_SIGINFO))
			_exit(1);
		runtime_stop(rt);
	}
	for (int i = 0; i < SIGNALS; i++) {
		sigaction(signals[i], NULL, &now);
		if (now.sa_handler != SIG_DFL)
			_exit(2);
	}
}

START_TEST(the_last_stop_gives_the_signals_back)
{
	struct child c = child_run(stop_before, NULL);

	CHILD_EXITED(c, 0);
}
END_TEST

SUITE_MAIN("crash", {a_fault_tells_coroutine_carrier_address_and_stack, 1}, {so_does_an_abort, 1},
	{an_overrun_stack_is_told_as_such_with_its_last_frames, 1},
	{each_of_the_signals_does, SIGNALS}, {a_stolen_one_is_told_with_its_home, 1},
	{a_poller_is_told_as_one, 1},
	{a_signal_that_came_from_elsewhere_is_no_crash_of_a_coroutine, 1},
	{handlers_of_the_program_are_called_and_nothing_is_said, SIGNALS},
	{the_last_stop_gives_the_signals_back, 1})
