/* SPDX-License-Identifier: BSD-3-Clause */
/* The watchdog finds long slices. */
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#include "coro_child.h"
#include "sched/glue.h"
#include "support/runtime.h"
#include "support/suite.h"

static struct {
	struct haul_runtime *rt;
	atomic_uint step;
	atomic_bool go;
	struct hauli_counter cycles;
} s;

static void start(uint64_t watchdog_ns)
{
	struct haul_plan_opts two = {.carriers = 2};
	struct haul_plan *plan = NULL;
	char why[256];

	memset(&s, 0, sizeof(s));
	ck_assert_int_eq(haul_plan_create(&plan, &two, why, sizeof(why)), 0);
	ck_assert_int_eq(
		haul_start(&s.rt,
			&(struct haul_runtime_opts){.plan = plan, .watchdog_ns = watchdog_ns}, NULL,
			0),
		0);
	haul_plan_destroy(plan);
}

static uint64_t found(unsigned carrier)
{
	struct haul_carrier_stats stats;

	haul_carrier_get_stats(haul_carrier(s.rt, carrier), &stats);
	return stats.long_slices;
}

/* Computes until the watchdog has found it. */
static void *hogs(void *arg)
{
	while (found(1) == 0)
		;
	return NULL;
}

static void spawn(unsigned carrier, haul_fn *fn, const char *name)
{
	haul_spawn_on(haul_carrier(s.rt, carrier), NULL, fn, NULL,
		&(struct haul_coro_opts){.name = name});
}

static void hog(void *arg)
{
	start(0);
	spawn(1, hogs, "glutton");
	while (found(1) == 0)
		;
	haul_stop(s.rt, HAUL_FOREVER);
}

START_TEST(a_hog_gets_a_line)
{
	struct child c = child_run(hog, NULL);

	ck_assert_int_eq(c.status, 0);
	ck_assert_msg(c.lines == 1 && strstr(c.said, "haul: coroutine \"glutton\"") == c.said &&
			strstr(c.said,
				" ms on carrier 1 without a wait or haul_maybe_yield(), at "),
		"%s", c.said);
	child_show(&c);
}
END_TEST

/* The carriers are looked at one after the other: when two more have been found on carrier 0, the
 * slice on carrier 1 has been looked at again. */
static void *hogs_for_longer(void *arg)
{
	while (found(1) == 0)
		;
	s.step = 1;
	while (!s.go)
		;
	return NULL;
}

static void *hogs_again(void *arg)
{
	uint64_t before = found(0);

	while (found(0) == before)
		;
	return NULL;
}

static void long_hog(void *arg)
{
	uint64_t n;

	start(0);
	spawn(1, hogs_for_longer, "glutton");
	WAIT_UNTIL(s.step == 1);
	for (int i = 0; i < 3; i++)
		run_on(s.rt, 0, hogs_again, NULL);
	n = found(1);
	s.go = true;
	haul_stop(s.rt, HAUL_FOREVER);
	_exit(n == 1 ? 0 : 1);
}

START_TEST(a_hog_counts_once)
{
	struct child c = child_run(long_hog, NULL);

	CHILD_EXITED(c, 0);
}
END_TEST

/* Its thread is in the kernel, and uses no CPU. */
static void *blocks_its_thread(void *arg)
{
	/* Many periods of the watchdog. */
	nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
	return NULL;
}

START_TEST(a_thread_that_waits_is_no_hog)
{
	start(0);
	run_on(s.rt, 1, blocks_its_thread, NULL);
	ck_assert_uint_eq(found(1), 0);
	runtime_stop(s.rt);
}
END_TEST

/* As those of drivers-glue, without a port. */
static void *counts_cycles(void *arg)
{
	struct haul_carrier *c = haul_carrier_self();
	void (*cycle)(void) = arg;

	hauli_glue_poller_begins(c, &s.cycles, NULL);
	hauli_stopwatch_start(hauli_glue_work(c), hauli_ticks());
	do {
		cycle();
		hauli_counter_add(&s.cycles, 1);
	} while (hauli_glue_go_on(c, true));
	hauli_stopwatch_stop(hauli_glue_work(c), hauli_ticks());
	hauli_glue_poller_ends(c);
	return NULL;
}

static void poll_by(void (*cycle)(void))
{
	const struct haul_poller_opts opts = {.name = "busy"};

	ck_assert_int_eq(haul_poller_register(
				 haul_carrier(s.rt, 1), NULL, counts_cycles, (void *)cycle, &opts),
		0);
}

static void long_cycle(void)
{
	hogs(NULL);
	s.step = 1;
}

static void long_poll(void *arg)
{
	start(0);
	poll_by(long_cycle);
	WAIT_UNTIL(s.step == 1);
	haul_stop(s.rt, HAUL_FOREVER);
}

START_TEST(a_long_cycle_of_a_poller_gets_a_line)
{
	struct child c = child_run(long_poll, NULL);

	ck_assert_int_eq(c.status, 0);
	ck_assert_msg(c.lines == 1 && strstr(c.said, "haul: poller \"busy\"") == c.said &&
			strstr(c.said, " ms on carrier 1 without a poll, at "),
		"%s", c.said);
	child_show(&c);
}
END_TEST

static void short_cycle(void)
{
	struct timespec used;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	if (used.tv_sec > 0 || used.tv_nsec > 100 * 1000000)
		s.step = 1;
}

/* Its carrier resumes it once. */
START_TEST(a_poller_that_spins_is_no_hog)
{
	start(0);
	poll_by(short_cycle);
	WAIT_UNTIL(s.step == 1);
	ck_assert_uint_eq(found(1), 0);
	runtime_stop(s.rt);
}
END_TEST

SUITE_MAIN("watchdog", {a_hog_gets_a_line, 1}, {a_hog_counts_once, 1},
	{a_thread_that_waits_is_no_hog, 1}, {a_long_cycle_of_a_poller_gets_a_line, 1},
	{a_poller_that_spins_is_no_hog, 1})
