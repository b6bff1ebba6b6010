/* SPDX-License-Identifier: BSD-3-Clause */
/* Time limits leave out the time for which a thread waits for a CPU, also while the wait lasts. */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "sched/state/carrier.h"
#include "sched/state/delay.h"
#include "support/runtime.h"
#include "support/starve.h"
#include "support/suite.h"

#define MS HAUL_MS

/* Own time counts up to the slice, delay does not; what was told late comes back, but never more
 * than there was. */
START_TEST(a_limit_leaves_out_the_time_without_a_cpu)
{
	struct hauli_limit l = hauli_limit(120 * MS);

	ck_assert_uint_eq(hauli_limit_slice(&l), 50 * MS);
	hauli_limit_count(&l, 50 * MS, 50 * MS, 50 * MS);
	ck_assert_uint_eq(l.left, 120 * MS);
	hauli_limit_count(&l, 50 * MS, 50 * MS, 10 * MS);
	ck_assert_uint_eq(l.left, 80 * MS);
	hauli_limit_count(&l, 50 * MS, 50 * MS, 60 * MS);
	ck_assert_uint_eq(l.left, 90 * MS);
	hauli_limit_count(&l, 50 * MS, 50 * MS, 300 * MS);
	ck_assert_uint_eq(l.left, 120 * MS);
	hauli_limit_count(&l, 50 * MS, 5000 * MS, 0); /* all threads were stopped */
	ck_assert_uint_eq(l.left, 70 * MS);
	hauli_limit_count(&l, 50 * MS, 300 * MS, 270 * MS); /* a late look: it ran for 30 ms */
	ck_assert_uint_eq(hauli_limit_slice(&l), 40 * MS);
	hauli_limit_count(&l, 40 * MS, 45 * MS, 0);
	ck_assert_uint_eq(hauli_limit_slice(&l), 0);
	l = hauli_limit(HAUL_FOREVER);
	ck_assert_uint_eq(hauli_limit_slice(&l), HAUL_FOREVER);
	hauli_limit_count(&l, HAUL_FOREVER, 50 * MS, 0);
	ck_assert_uint_eq(hauli_limit_slice(&l), HAUL_FOREVER);
}
END_TEST

static uint64_t count_ms(
	struct hauli_delay *d, uint64_t at, uint64_t ran, uint64_t delay, bool ready)
{
	const struct hauli_delay_look now = {at * MS, ran * MS, delay * MS, ready};

	return hauli_delay_count(d, &now) / MS;
}

START_TEST(a_wait_counts_once)
{
	struct hauli_delay d = {0};

	ck_assert_uint_eq(count_ms(&d, 1000, 10, 500, true), 0);
	/* It runs, and waits when it is looked at: only the kernel could tell since when. */
	ck_assert_uint_eq(count_ms(&d, 1050, 30, 500, true), 0);
	ck_assert_uint_eq(count_ms(&d, 1100, 30, 500, true), 50);
	ck_assert_uint_eq(count_ms(&d, 1150, 30, 500, true), 50);
	/* Moved to another CPU, where it waits on: the kernel tells the part up to there. */
	ck_assert_uint_eq(count_ms(&d, 1200, 30, 660, true), 60);
	ck_assert_uint_eq(count_ms(&d, 1250, 30, 660, true), 50);
	/* The wait is over: 30 ms + 210 ms in all. */
	ck_assert_uint_eq(count_ms(&d, 1300, 45, 745, true), 35);
	ck_assert_uint_eq(count_ms(&d, 1350, 95, 745, true), 0);
	ck_assert_uint_eq(d.ahead, 0);
}
END_TEST

START_TEST(only_waits_for_a_cpu_count)
{
	struct hauli_delay d = {0};

	ck_assert_uint_eq(count_ms(&d, 1000, 10, 0, true), 0);
	ck_assert_uint_eq(count_ms(&d, 1050, 60, 0, true), 0); /* loops */
	ck_assert_uint_eq(count_ms(&d, 1100, 70, 40, true), 40); /* loops on a busy CPU */
	ck_assert_uint_eq(count_ms(&d, 1150, 70, 40, false), 0); /* sleeps */
	ck_assert_uint_eq(count_ms(&d, 1200, 70, 40, false), 0);
	ck_assert_uint_eq(count_ms(&d, 1250, 70, 40, true), 50); /* woken, waits */
	/* It ran and sleeps: what was counted too much does not come off later waits. */
	ck_assert_uint_eq(count_ms(&d, 1300, 71, 41, false), 0);
	ck_assert_uint_eq(count_ms(&d, 1350, 90, 61, true), 20);
}
END_TEST

struct thread {
	pthread_t id;
	atomic_uint tid;
	atomic_bool over;
	int pipe[2]; /* it reads a byte; closed: it ends */
};

static void *loops(void *arg)
{
	struct thread *t = arg;

	t->tid = (unsigned)gettid();
	while (!t->over)
		;
	return NULL;
}

static void *reads(void *arg)
{
	struct thread *t = arg;
	char c;

	t->tid = (unsigned)gettid();
	while (read(t->pipe[0], &c, 1) == 1)
		;
	return NULL;
}

static void thread_begin(struct thread *t, void *(*fn)(void *))
{
	*t = (struct thread){0};
	ck_assert_int_eq(pipe(t->pipe), 0);
	ck_assert_int_eq(pthread_create(&t->id, NULL, fn, t), 0);
	WAIT_UNTIL(t->tid != 0);
}

static void thread_end(struct thread *t)
{
	t->over = true;
	close(t->pipe[1]);
	pthread_join(t->id, NULL);
	close(t->pipe[0]);
}

/* Returns when the time is over. */
static void let_a_limit_pass(uint32_t tid, uint64_t ns)
{
	struct hauli_limit l = hauli_limit(ns);
	struct hauli_delay d = {0};
	uint64_t slice;

	(void)hauli_delay_of_thread(tid, &d);
	while ((slice = hauli_limit_slice(&l)) > 0) {
		const struct timespec t = {.tv_nsec = (long)slice};

		nanosleep(&t, NULL); /* the time of the limit */
		hauli_limit_spend(&l, slice, hauli_delay_of_thread(tid, &d));
	}
}

START_TEST(a_limit_ends_for_a_thread_that_loops)
{
	struct thread t;

	thread_begin(&t, loops);
	let_a_limit_pass(t.tid, 100 * MS);
	thread_end(&t);
}
END_TEST

START_TEST(a_limit_ends_for_a_thread_that_sleeps)
{
	struct thread t;

	thread_begin(&t, reads);
	let_a_limit_pass(t.tid, 100 * MS);
	thread_end(&t);
}
END_TEST

START_TEST(a_thread_that_is_gone_has_no_delay)
{
	struct hauli_delay d = {0};
	struct thread t;

	thread_begin(&t, reads);
	thread_end(&t);
	ck_assert_uint_eq(hauli_delay_of_thread(t.tid, &d), 0);
	ck_assert_uint_eq(hauli_delay_of_thread(0, &d), 0);
}
END_TEST

/* The delay grows while the kernel's figure stands still, and by no more than the time that goes
 * by. */
/* A carrier that has been started on a busy machine, and stopped at once. */
START_TEST(a_thread_that_has_not_begun_waits_for_a_cpu)
{
	static struct haul_carrier c;
	struct hauli_delay d = {0};
	uint64_t began, delay;

	ck_assert_uint_eq(hauli_delay_since(&c, &d), 0);
	began = d.last.at;
	usleep(20000); /* the delay that is counted */
	delay = hauli_delay_since(&c, &d);
	ck_assert_uint_eq(delay, d.last.at - began);
	ck_assert_uint_ge(delay, 20 * MS);
	ck_assert_uint_eq(d.ahead, delay);
}
END_TEST

START_TEST(a_wait_that_lasts_is_seen)
{
	struct hauli_delay_look first;
	struct hauli_delay d;
	struct starve s;
	struct thread t;
	uint64_t seen;

	thread_begin(&t, reads);
	starve_begin(&s, t.tid);
	do {
		/* It may get the CPU at once: then it is woken again. */
		d = (struct hauli_delay){0};
		seen = 0;
		ck_assert_int_eq(write(t.pipe[1], "", 1), 1);
		(void)hauli_delay_of_thread(t.tid, &d);
		first = d.last;
		while (seen < 100 * MS && d.last.ready && d.last.ran == first.ran) {
			seen += hauli_delay_of_thread(t.tid, &d);
			sched_yield();
		}
	} while (seen < 100 * MS || d.last.delay != first.delay);
	ck_assert_uint_le(seen, d.last.at - first.at);
	starve_end(&s);
	thread_end(&t);
}
END_TEST

static void *returns_null(void *arg)
{
	return NULL;
}

START_TEST(looks_at_a_carrier_do_not_go_back)
{
	struct haul_runtime *rt = runtime_start(1);
	struct haul_carrier *c = haul_carrier(rt, 0);
	struct hauli_delay d = {0};

	ck_assert_ptr_null(run_on(rt, 0, returns_null, NULL));
	ck_assert_uint_eq(hauli_delay_since(c, &d), 0);
	for (int i = 0; i < 100; i++) {
		struct hauli_delay_look last = d.last;

		run_on(rt, 0, returns_null, NULL);
		(void)hauli_delay_since(c, &d);
		ck_assert_uint_ge(d.last.at, last.at);
		ck_assert_uint_ge(d.last.ran, last.ran);
		ck_assert_uint_ge(d.last.delay, last.delay);
	}
	runtime_stop(rt);
}
END_TEST

#define LIMIT (100 * MS)
#define STOPS 2 /* on a busy machine this thread may be the one that waits for a CPU */

static void stop_a_starved_one(void)
{
	struct haul_runtime *rt = runtime_start(1);
	struct starve s;
	int err;

	ck_assert_ptr_null(run_on(rt, 0, returns_null, NULL));
	starve_begin(&s, hauli_u32_published_get(&haul_carrier(rt, 0)->run.tid));
	starve_for(&s, 5 * LIMIT);
	err = haul_stop(rt, LIMIT);
	starve_end(&s);
	ck_assert_int_eq(err, 0);
}

START_TEST(a_stop_waits_for_a_carrier_that_waits_for_a_cpu)
{
	for (unsigned i = 0; i < STOPS; i++)
		stop_a_starved_one();
}
END_TEST

SUITE_MAIN("delay", {a_limit_leaves_out_the_time_without_a_cpu, 1}, {a_wait_counts_once, 1},
	{only_waits_for_a_cpu_count, 1}, {a_limit_ends_for_a_thread_that_loops, 1},
	{a_limit_ends_for_a_thread_that_sleeps, 1}, {a_thread_that_is_gone_has_no_delay, 1},
	{a_wait_that_lasts_is_seen, 1}, {a_thread_that_has_not_begun_waits_for_a_cpu, 1},
	{looks_at_a_carrier_do_not_go_back, 1},
	{a_stop_waits_for_a_carrier_that_waits_for_a_cpu, 1})
