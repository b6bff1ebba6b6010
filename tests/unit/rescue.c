/* SPDX-License-Identifier: BSD-3-Clause */
/* Carriers whose slice lasts too long are served by spare threads: each hog here waits, without a
 * suspension, for what only its own carrier can do. */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include <haul/fd.h>

#include "coro_child.h"
#include "sched/state/self.h"
#include "support/runtime.h"
#include "support/suite.h"

#define AFTER (2 * HAUL_MS)

static struct {
	struct haul_runtime *rt;
	atomic_uint step, hogs;
	atomic_bool go;
	struct haul_mutex mutex;
	struct haul_event event;
} s;

static int try_start(const struct haul_runtime_opts *opts, unsigned carriers)
{
	struct haul_plan_opts plan_opts = {.carriers = carriers};
	struct haul_runtime_opts o = *opts;
	struct haul_plan *plan = NULL;
	char why[256] = "";
	int err;

	memset(&s, 0, sizeof(s));
	ck_assert_int_eq(haul_plan_create(&plan, &plan_opts, why, sizeof(why)), 0);
	o.plan = plan;
	if (!o.watchdog_ns)
		o.watchdog_ns = HAUL_FOREVER;
	err = haul_start(&s.rt, &o, why, sizeof(why));
	haul_plan_destroy(plan);
	return err;
}

static void start(unsigned carriers, unsigned rescuers)
{
	const struct haul_runtime_opts opts = {
		.steal = HAUL_STEAL_GLOBAL, .rescue_after_ns = AFTER, .rescuers = rescuers};

	ck_assert_int_eq(try_start(&opts, carriers), 0);
}

static struct haul_carrier_stats stats(unsigned carrier)
{
	struct haul_carrier_stats st;

	haul_carrier_get_stats(haul_carrier(s.rt, carrier), &st);
	return st;
}

static void join(struct haul_coro *co)
{
	ck_assert_int_eq(haul_join(co, NULL, HAUL_FOREVER), 0);
}

static struct haul_coro *spawn(haul_fn *fn, bool pinned)
{
	struct haul_coro *co;

	ck_assert_int_eq(haul_spawn_on(haul_carrier(s.rt, 0), &co, fn, NULL,
				 &(struct haul_coro_opts){.pinned = pinned}),
		0);
	return co;
}

/* Computes until `go`. */
static void *hog(void *arg)
{
	s.hogs++;
	while (!s.go)
		;
	return NULL;
}

static void *sets(void *arg)
{
	s.go = true;
	return NULL;
}

static void *sets_later(void *arg)
{
	haul_sleep(HAUL_MS); /* a timer of the carrier that the hog holds */
	s.go = true;
	return NULL;
}

START_TEST(the_run_queue_goes_on)
{
	struct haul_coro *first, *second;

	start(1, 1);
	first = spawn(hog, false);
	WAIT_UNTIL(s.hogs == 1);
	second = spawn(sets, true);
	join(first);
	join(second);
	ck_assert_uint_ge(stats(0).rescues, 1);
	runtime_stop(s.rt);
}
END_TEST

START_TEST(timers_go_on)
{
	struct haul_coro *timed, *first;

	start(1, 1);
	timed = spawn(sets_later, true);
	first = spawn(hog, false);
	join(first);
	join(timed);
	runtime_stop(s.rt);
}
END_TEST

static void *tells_thread(void *arg)
{
	s.step = (unsigned)gettid();
	return NULL;
}

static unsigned thread_of_carrier(void)
{
	join(spawn(tells_thread, true));
	return s.step;
}

START_TEST(the_carrier_comes_back)
{
	struct haul_coro *first;
	unsigned own;

	start(1, 1);
	own = thread_of_carrier();
	first = spawn(hog, false);
	WAIT_UNTIL(s.hogs == 1);
	ck_assert_uint_ne(thread_of_carrier(), own);
	s.go = true;
	join(first);
	WAIT_UNTIL(thread_of_carrier() == own);
	runtime_stop(s.rt);
}
END_TEST

static void *writes(void *fd)
{
	EXPECT(write((int)(intptr_t)fd, "x", 1) == 1);
	return NULL;
}

/* A call that waits for the kernel's work, and one that waits for a descriptor. */
static const char *use_descriptors(void)
{
	struct haul_coro *co;
	void *wrong;
	char byte;
	int fds[2], fd = haul_fd_open("/dev/null", O_RDONLY, 0, HAUL_FOREVER);

	EXPECT(fd >= 0);
	EXPECT(haul_fd_close(fd) == 0);
	EXPECT(pipe2(fds, O_CLOEXEC | O_NONBLOCK) == 0);
	EXPECT(haul_spawn(&co, writes, (void *)(intptr_t)fds[1], NULL) == 0);
	EXPECT(haul_fd_read(fds[0], &byte, 1, HAUL_FOREVER) == 1);
	EXPECT(haul_join(co, &wrong, HAUL_FOREVER) == 0 && !wrong);
	EXPECT(haul_fd_close(fds[0]) == 0);
	EXPECT(haul_fd_close(fds[1]) == 0);
	return NULL;
}

static void *uses_descriptors(void *arg)
{
	const char *wrong = use_descriptors();

	s.go = true;
	return (void *)wrong;
}

static void check_descriptors(void)
{
	void *wrong;

	ck_assert_int_eq(haul_join(spawn(uses_descriptors, true), &wrong, HAUL_FOREVER), 0);
	ck_assert_msg(!wrong, "%s", (const char *)wrong);
}

/* By io_uring or by epoll; the carrier's own thread has used them before, or the rescuer is the
 * first. */
START_TEST(descriptors_go_on)
{
	const struct haul_runtime_opts opts = {.steal = HAUL_STEAL_GLOBAL,
		.rescue_after_ns = AFTER,
		.fds = _i & 1 ? HAUL_FDS_EPOLL : HAUL_FDS_BEST};
	struct haul_coro *first;
	unsigned own;

	ck_assert_int_eq(try_start(&opts, 1), 0);
	own = thread_of_carrier();
	if (_i & 2)
		check_descriptors();
	s.go = false;
	first = spawn(hog, false);
	WAIT_UNTIL(s.hogs == 1);
	check_descriptors();
	join(first);
	WAIT_UNTIL(thread_of_carrier() == own);
	check_descriptors();
	runtime_stop(s.rt);
}
END_TEST

/* As many as there are spare threads, one after the other, each in the place of the last one. */
START_TEST(rescuers_are_rescued)
{
	struct haul_coro *hogs[3], *last;

	start(1, 3);
	for (unsigned i = 0; i < 3; i++)
		hogs[i] = spawn(hog, false);
	WAIT_UNTIL(s.hogs == 3);
	last = spawn(sets, true);
	for (unsigned i = 0; i < 3; i++)
		join(hogs[i]);
	join(last);
	ck_assert_uint_ge(stats(0).rescues, 3);
	runtime_stop(s.rt);
}
END_TEST

/* Without a spare thread that is left, nothing is rescued until one is back. */
START_TEST(too_few_rescuers)
{
	struct haul_coro *first, *second, *third;

	start(1, 1);
	first = spawn(hog, false);
	second = spawn(hog, false);
	third = spawn(sets, true);
	WAIT_UNTIL(s.hogs == 2);
	ck_assert(!s.go);
	s.go = true;
	join(first);
	join(second);
	join(third);
	runtime_stop(s.rt);
}
END_TEST

/* The program's own code, which can be left behind, other than a call of haul. */
static void compute(void)
{
	for (volatile unsigned i = 0; i < 10000; i++)
		;
}

/* Hogs until an attempt to rescue was refused. */
static void hog_until_refused(void)
{
	uint64_t before = stats(0).rescues_refused;

	while (stats(0).rescues_refused == before)
		compute();
	s.step++;
}

static void *pinned(void *arg)
{
	hog_until_refused();
	return NULL;
}

static void *in_a_block(void *arg)
{
	HAUL_NO_SUSPEND();

	hog_until_refused();
	return NULL;
}

static struct haul_local local;

static void *with_a_local(void *arg)
{
	(void)haul_local_set(&local, &local);
	hog_until_refused();
	return NULL;
}

START_TEST(what_has_its_carrier_for_itself_is_not_rescued)
{
	haul_fn *const fns[] = {pinned, in_a_block, with_a_local};

	start(1, 1);
	join(spawn(fns[_i], fns[_i] == pinned));
	ck_assert_uint_eq(s.step, 1);
	ck_assert_uint_eq(stats(0).rescues, 0);
	runtime_stop(s.rt);
}
END_TEST

static const char *is_alone(void)
{
	EXPECT(haul_carrier_self() == haul_carrier(s.rt, 0));
	return NULL;
}

/* Becomes one that is left behind, unless it is. */
static void be_left_behind(void)
{
	while (!hauli_here()->steal.stray)
		compute();
}

static void *child(void *arg)
{
	s.step++;
	return NULL;
}

static int scope_child(void *arg)
{
	be_left_behind();
	s.step++;
	return 0;
}

/* What it may call then: each call after it was left behind anew. */
static void *calls(void *arg)
{
	struct haul_coro *co;
	const char *wrong;

	be_left_behind();
	wrong = is_alone();
	if (wrong)
		return (void *)wrong;
	haul_yield();
	be_left_behind();
	EXPECT(haul_spawn(&co, child, NULL, NULL) == 0);
	EXPECT(haul_join(co, NULL, HAUL_FOREVER) == 0);
	be_left_behind();
	EXPECT(haul_sleep(HAUL_US) == 0);
	be_left_behind();
	haul_mutex_lock(&s.mutex);
	be_left_behind();
	haul_mutex_unlock(&s.mutex);
	haul_yield();
	be_left_behind();
	EXPECT(haul_local_set(&local, &s) == 0);
	haul_yield();
	haul_pin();
	EXPECT(haul_local_get(&local) == &s);
	haul_unpin();
	haul_yield();
	be_left_behind();
	{
		HAUL_NO_SUSPEND();

		wrong = is_alone();
	}
	if (wrong)
		return (void *)wrong;
	haul_yield();
	be_left_behind();
	haul_pin();
	wrong = is_alone();
	haul_unpin();
	if (wrong)
		return (void *)wrong;
	haul_yield();
	{
		HAUL_SCOPE(scope, HAUL_FOREVER, HAUL_SCOPE_FAIL_FAST);

		be_left_behind();
		EXPECT(haul_scope_spawn(&scope, scope_child, NULL, NULL) == 0);
		EXPECT(haul_scope_join(&scope) == 0);
	}
	be_left_behind();
	EXPECT(s.step == 2);
	EXPECT(haul_event_wait(&s.event, haul_in(HAUL_US)) == -ETIMEDOUT);
	be_left_behind();
	return NULL;
}

START_TEST(calls_of_one_that_was_left_behind)
{
	unsigned carriers = _i == 0 ? 1 : 3;
	void *wrong;

	start(carriers, 2);
	wrong = run_on(s.rt, 0, calls, NULL);
	ck_assert_msg(!wrong, "%s", (const char *)wrong);
	runtime_stop(s.rt);
}
END_TEST

/* Of itself only: the calls that are compiled into it (haul/sync_inline.h) find the mutex free, as
 * long as each knows which coroutine it is in. */
static void *locks_its_own(void *arg)
{
	struct haul_mutex mutex = {0};

	for (unsigned n = 0; n < 400; n++) {
		uint64_t until = haul_in(200 * HAUL_US);

		for (unsigned i = 0; i % 64 || haul_now() < until; i++) {
			haul_mutex_lock(&mutex);
			haul_mutex_unlock(&mutex);
		}
		haul_yield();
	}
	return NULL;
}

START_TEST(inlined_calls_know_their_coroutine)
{
	const struct haul_runtime_opts opts = {
		.steal = HAUL_STEAL_GLOBAL, .rescue_after_ns = 20 * HAUL_US, .rescuers = 2};
	struct haul_coro *both[2];

	ck_assert_int_eq(try_start(&opts, 1), 0);
	for (unsigned i = 0; i < 2; i++)
		both[i] = spawn(locks_its_own, false);
	for (unsigned i = 0; i < 2; i++)
		join(both[i]);
	ck_assert_uint_gt(stats(0).rescues, 0);
	runtime_stop(s.rt);
}
END_TEST

/* Its own carrier has gone on, so its cancel and its stop come from there. */
static void *until_cancelled(void *arg)
{
	be_left_behind();
	while (haul_sleep(HAUL_US) != -ECANCELED)
		;
	be_left_behind();
	return NULL;
}

static void *gluttons(void *arg)
{
	be_left_behind();
	return NULL;
}

static void two_gluttons(void *arg)
{
	const struct haul_runtime_opts opts = {.steal = HAUL_STEAL_GLOBAL,
		.rescue_after_ns = AFTER,
		.watchdog_ns = HAUL_S}; /* so it looks at the end only */

	if (try_start(&opts, 1) != 0)
		_exit(1);
	for (int i = 0; i < 2; i++)
		haul_spawn_on(haul_carrier(s.rt, 0), NULL, gluttons, NULL,
			&(struct haul_coro_opts){.name = "glutton"});
	haul_stop(s.rt, HAUL_FOREVER);
	_exit(0);
}

START_TEST(the_watchdog_tells_of_it)
{
	struct child c = child_run(two_gluttons, NULL);
	const char *said = strstr(c.said, "haul: coroutine \"glutton\"");

	CHILD_EXITED(c, 0);
	ck_assert_msg(c.lines == 1 && said == c.said &&
			strstr(said, "another thread serves carrier 0 meanwhile (one of ") &&
			strstr(said, " since the last line), at "),
		"%s", c.said);
	child_show(&c);
}
END_TEST

START_TEST(a_stop_waits_for_it)
{
	start(2, 1);
	ck_assert_int_eq(
		haul_spawn_on(haul_carrier(s.rt, 0), NULL, until_cancelled, NULL, NULL), 0);
	runtime_stop(s.rt);
}
END_TEST

START_TEST(options_are_checked)
{
	const struct haul_runtime_opts wrong[] = {
		{.rescue_after_ns = AFTER},
		{.rescue_after_ns = AFTER, .rescuers = 257, .steal = HAUL_STEAL_GLOBAL},
	};

	ck_assert_int_eq(try_start(&wrong[_i], 1), -EINVAL);
}
END_TEST

SUITE_MAIN("rescue", {the_run_queue_goes_on, 1}, {timers_go_on, 1}, {rescuers_are_rescued, 1},
	{the_carrier_comes_back, 1}, {descriptors_go_on, 4}, {too_few_rescuers, 1},
	{what_has_its_carrier_for_itself_is_not_rescued, 3}, {calls_of_one_that_was_left_behind, 2},
	{inlined_calls_know_their_coroutine, 1}, {the_watchdog_tells_of_it, 1},
	{a_stop_waits_for_it, 1}, {options_are_checked, 2})
