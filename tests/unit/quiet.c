/* SPDX-License-Identifier: BSD-3-Clause */
/* Virtual time, and what is said when nothing can wake the coroutines that wait. */
#include <errno.h>
#include <haul/driver.h>
#include <signal.h>
#include <stdatomic.h>

#include "coro/fiber.h"
#include "coro_child.h"
#include "sched/state/carrier.h"
#include "support/runtime.h"
#include "support/suite.h"

#define HOUR (3600 * HAUL_S)

static bool watched;

static struct haul_runtime *start_with(unsigned carriers, bool virtual_time)
{
	struct haul_plan_opts opts = {.carriers = carriers};
	struct haul_runtime *rt = NULL;
	struct haul_plan *plan = NULL;
	char why[256] = "";

	ck_assert_msg(haul_plan_create(&plan, &opts, why, sizeof(why)) == 0, "%s", why);
	ck_assert_int_eq(haul_start(&rt,
				 &(struct haul_runtime_opts){.plan = plan,
					 .virtual_time = virtual_time,
					 /* in real time it would tell before the stop does */
					 .watchdog_ns = virtual_time || watched ? 0 : HAUL_FOREVER},
				 why, sizeof(why)),
		0);
	haul_plan_destroy(plan);
	return rt;
}

static void *sleeps_exactly(void *arg)
{
	for (int i = 0; i < 100; i++) {
		uint64_t at = haul_in(HOUR + (uint64_t)i);

		if (haul_sleep_until(at) != 0 || haul_now() != at)
			return "late, or early";
	}
	if (haul_park(haul_in(HOUR)) != -ETIMEDOUT)
		return "a park without a permit";
	return NULL;
}

START_TEST(a_sleep_of_hours_takes_no_time_and_is_exact)
{
	struct haul_runtime *rt = start_with(1 + (unsigned)_i, true);

	ck_assert_pstr_eq(run_on(rt, (unsigned)_i, sleeps_exactly, NULL), NULL);
	runtime_stop(rt);
}
END_TEST

/* Sleepers of all carriers end in the order of their times. */
#define CARRIERS 4
#define SLEEPERS 64

static struct {
	struct haul_runtime *rt;
	uint64_t began;
	atomic_uint turn, wrong;
	struct haul_sem there, back;
	struct haul_mutex mutex[2];
} s;

static void *sleeps_in_turn(void *arg)
{
	unsigned n = (unsigned)(uintptr_t)arg;
	uint64_t at = s.began + (n + 1) * HOUR;

	s.wrong += haul_sleep_until(at) != 0 || haul_now() != at || s.turn++ != n;
	return NULL;
}

static void *spawns_sleepers(void *arg)
{
	struct haul_coro *co[SLEEPERS];

	s.began = haul_now();
	for (unsigned i = SLEEPERS; i-- > 0;)
		haul_spawn_on(haul_carrier(s.rt, i % CARRIERS), &co[i], sleeps_in_turn,
			(void *)(uintptr_t)i, NULL);
	for (unsigned i = 0; i < SLEEPERS; i++)
		haul_join(co[i], NULL, HAUL_FOREVER);
	return NULL;
}

static void begin(unsigned carriers, bool virtual_time)
{
	memset(&s, 0, sizeof(s));
	s.rt = start_with(carriers, virtual_time);
}

START_TEST(timers_of_all_carriers_end_in_order)
{
	begin(CARRIERS, true);
	run_on(s.rt, 0, spawns_sleepers, NULL);
	ck_assert_uint_eq(s.turn, SLEEPERS);
	ck_assert_uint_eq(s.wrong, 0);
	runtime_stop(s.rt);
}
END_TEST

#define TRIPS 2000

static void *works(void *arg)
{
	for (int i = 0; i < TRIPS; i++) {
		haul_sem_wait(&s.there, HAUL_FOREVER);
		for (int k = 0; k < i % 10; k++)
			haul_yield();
		haul_sem_post(&s.back);
	}
	return NULL;
}

/* Its deadline is the next nanosecond, so a clock that moved while the other works would end the
 * wait. */
static void *waits_for_work(void *arg)
{
	uint64_t began = haul_now();
	struct haul_coro *other;

	haul_spawn_on(haul_carrier(s.rt, 1 + (unsigned)(uintptr_t)arg % (CARRIERS - 1)), &other,
		works, NULL, NULL);
	for (int i = 0; i < TRIPS; i++) {
		haul_sem_post(&s.there);
		s.wrong += haul_sem_wait(&s.back, haul_in(1)) != 0;
	}
	haul_join(other, NULL, HAUL_FOREVER);
	s.wrong += haul_now() != began;
	return NULL;
}

START_TEST(time_stands_still_while_there_is_work)
{
	begin(CARRIERS, true);
	for (uintptr_t i = 0; i < CARRIERS - 1; i++)
		run_on(s.rt, 0, waits_for_work, (void *)i);
	ck_assert_uint_eq(s.wrong, 0);
	runtime_stop(s.rt);
}
END_TEST

static void *returns(void *arg)
{
	return arg;
}

START_TEST(the_clock_has_one_owner)
{
	struct haul_runtime *rt = start_with(1, true), *other = NULL;
	struct haul_coro *co;
	char why[100] = "";
	struct haul_runtime_opts opts = {0};
	uint64_t now;

	ck_assert_int_eq(haul_start(&other, &opts, why, sizeof(why)), -EBUSY);
	ck_assert_pstr_eq(why, "clock: with virtual time a runtime is the only one of the process");
	ck_assert_int_eq(
		haul_poller_register(haul_carrier(rt, 0), NULL, returns, NULL, NULL), -ENOTSUP);
	now = haul_now();
	ck_assert_int_eq(haul_spawn_on(haul_carrier(rt, 0), &co, sleeps_exactly, NULL, NULL), 0);
	ck_assert_int_eq(haul_join(co, NULL, HAUL_FOREVER), 0);
	ck_assert_uint_ge(haul_now(), now + 100 * HOUR);
	runtime_stop(rt);
	ck_assert_uint_lt(haul_now(), now + HOUR); /* real time again */

	rt = start_with(1, false);
	opts.virtual_time = true;
	ck_assert_int_eq(haul_start(&other, &opts, why, sizeof(why)), -EBUSY);
	runtime_stop(rt);
	opts.steal = HAUL_STEAL_CLUSTER;
	ck_assert_int_eq(haul_start(&other, &opts, why, sizeof(why)), -EINVAL);
}
END_TEST

/* What is said about a runtime in which all wait; in a child, by its stop, or at once. */

static void *takes_both(void *arg)
{
	struct haul_mutex *first = &s.mutex[arg != NULL], *second = &s.mutex[arg == NULL];

	haul_mutex_lock(first);
	s.turn++;
	while (s.turn < 2)
		haul_yield();
	haul_mutex_lock(second);
	return NULL;
}

static void spawn(unsigned carrier, haul_fn *fn, void *arg)
{
	haul_spawn_on(haul_carrier(s.rt, carrier), NULL, fn, arg,
		&(struct haul_coro_opts){.name = "philosopher"});
}

static void *waits(void *arg)
{
	s.turn++;
	haul_sem_wait(&s.there, HAUL_FOREVER);
	s.turn++;
	haul_sem_wait(&s.there, HAUL_FOREVER);
	return NULL;
}

static void *sleeps_long(void *arg)
{
	s.turn++;
	haul_sleep(HOUR);
	return NULL;
}

static void *polls(void *arg)
{
	while (haul_maybe_yield(false))
		;
	return NULL;
}

/* Each sleeps before the stop, else nothing is said. */
static void wait_for_sleep(unsigned turns)
{
	WAIT_UNTIL(s.turn == turns);
	for (unsigned i = 0; i < haul_carriers(s.rt); i++)
		WAIT_UNTIL(hauli_inbox_has_slept(&haul_carrier(s.rt, i)->mail.inbox));
}

static void deadlock_of_two(void)
{
	spawn(0, takes_both, NULL);
	spawn(1, takes_both, &s);
	wait_for_sleep(2);
	haul_stop(s.rt, HAUL_MS);
}

static void one_that_waits(void)
{
	spawn(0, waits, NULL);
	wait_for_sleep(1);
	runtime_stop(s.rt);
}

static void one_that_sleeps(void)
{
	spawn(0, waits, NULL);
	spawn(1, sleeps_long, NULL);
	wait_for_sleep(2);
	runtime_stop(s.rt);
}

static void one_that_a_thread_wakes(void)
{
	spawn(0, waits, NULL);
	wait_for_sleep(1);
	haul_sem_post(&s.there);
	wait_for_sleep(2);
	runtime_stop(s.rt);
}

static void one_beside_a_poller(void)
{
	haul_poller_register(haul_carrier(s.rt, 1), NULL, polls, NULL, NULL);
	spawn(0, waits, NULL);
	WAIT_UNTIL(s.turn == 1);
	WAIT_UNTIL(hauli_inbox_has_slept(&haul_carrier(s.rt, 0)->mail.inbox));
	runtime_stop(s.rt);
}

static const struct end {
	void (*make)(void);
	const char *said; /* NULL: nothing */
} ends[] = {
	{deadlock_of_two, "haul: 2 coroutines wait, and nothing can wake them: there is no timer"},
	{one_that_waits, "haul: 1 coroutine waits, and nothing can wake it: there is no timer"},
	{one_that_sleeps, NULL},
	{one_that_a_thread_wakes, NULL},
	{one_beside_a_poller, NULL},
};

static void make_end(void *arg)
{
	begin(2, false);
	((const struct end *)arg)->make();
}

START_TEST(a_stop_says_who_waits_in_vain)
{
	struct child c = child_run(make_end, (void *)&ends[_i]);

	ck_assert_msg(c.status == 0, "%s", c.said);
	if (!ends[_i].said) {
		ck_assert_pstr_eq(c.said, "");
		return;
	}
	ck_assert_msg(strncmp(c.said, ends[_i].said, strlen(ends[_i].said)) == 0 &&
			strstr(c.said, "\n  carrier 0: "),
		"%s", c.said);
	for (char *line = strtok(c.said, "\n"); line; line = strtok(NULL, "\n"))
		printf("# %s\n", line);
}
END_TEST

/* When it happens, also beside haul's own threads. */
static void join_one_that_waits(void)
{
	struct haul_coro *co;

	haul_spawn_on(haul_carrier(s.rt, 1), &co, waits, NULL, NULL);
	haul_join(co, NULL, HAUL_FOREVER);
}

static void join_in_vain(void)
{
	begin(2, true);
	join_one_that_waits();
}

static void join_in_vain_with_dumps(void)
{
	begin(2, true);
	haul_dump_on_signal(SIGUSR1);
	join_one_that_waits();
}

/* In real time, by the watchdog, if there is no handler of a signal, such as those of check. */
static void join_in_vain_in_real_time(void)
{
	const int handled[] = {SIGINT, SIGTERM, SIGALRM};

	for (unsigned i = 0; i < sizeof(handled) / sizeof(handled[0]); i++)
		signal(handled[i], SIG_DFL);
	watched = true;
	begin(2, false);
	join_one_that_waits();
}

START_TEST(a_join_in_vain_is_told_at_once)
{
	static void (*const how[])(void) = {
		join_in_vain, join_in_vain_with_dumps, join_in_vain_in_real_time};
	const char *line = "haul: 1 coroutine waits, and nothing can wake it";

	if (!HAULI_TSAN) /* it has a thread of its own, which might wake somebody */
		child_until(how[_i], line, line);
}
END_TEST

SUITE_MAIN("quiet", {a_sleep_of_hours_takes_no_time_and_is_exact, 2},
	{timers_of_all_carriers_end_in_order, 1}, {time_stands_still_while_there_is_work, 1},
	{the_clock_has_one_owner, 1},
	{a_stop_says_who_waits_in_vain, sizeof(ends) / sizeof(ends[0])},
	{a_join_in_vain_is_told_at_once, 3})
