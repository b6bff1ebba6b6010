/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Crowds: what wakes many coroutines at once is done in portions, so that the carrier polls in
 * between. The cases count what happens between two polls; none looks at a clock.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include <haul/driver.h>

#include "sched/state/coroutine.h"
#include "support/runtime.h"
#include "support/suite.h"

#define CROWD 20000
#define PORTION 1500 /* of a round, in which there are several portions of mail */

static struct {
	struct haul_runtime *rt;
	struct haul_coro *coros[CROWD];
	unsigned woken[CROWD]; /* in the order of the wake-ups */
	atomic_uint nb_parked, nb_woken, nb_polls, most;
	atomic_bool held, go;
} s;

static uint64_t messages(void)
{
	struct haul_carrier_stats st;

	haul_carrier_get_stats(haul_carrier(s.rt, 0), &st);
	return st.messages;
}

static unsigned nb_cancelled(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < CROWD; i++)
		n += hauli_coro_is_cancelled(s.coros[i]);
	return n;
}

static void hold(void)
{
	s.held = true;
	while (!s.go)
		sched_yield();
}

static void note(uint64_t step)
{
	if (step > s.most)
		s.most = (unsigned)step;
}

static void *parks(void *arg)
{
	s.nb_parked++;
	if (haul_park(HAUL_FOREVER) == 0)
		s.woken[s.nb_woken++] = (unsigned)(uintptr_t)arg;
	return NULL;
}

static void begin(void)
{
	memset(&s, 0, sizeof(s));
	s.rt = runtime_start(1);
	for (unsigned i = 0; i < CROWD; i++)
		ck_assert_int_eq(haul_spawn_on(haul_carrier(s.rt, 0), &s.coros[i], parks,
					 (void *)(uintptr_t)i, NULL),
			0);
	WAIT_UNTIL(s.nb_parked == CROWD);
}

static void join_all(void)
{
	for (unsigned i = 0; i < CROWD; i++)
		ck_assert_int_eq(haul_join(s.coros[i], NULL, HAUL_FOREVER), 0);
}

static void unpark_all(void)
{
	for (unsigned i = 0; i < CROWD; i++)
		haul_unpark(s.coros[i]);
}

static void check_order(void)
{
	ck_assert_uint_eq(s.nb_woken, CROWD);
	for (unsigned i = 0; i < CROWD; i++)
		ck_assert_uint_eq(s.woken[i], i);
}

/* Holds its carrier until all mail is there, and then polls until all are woken. */
static void *polls_mail(void *arg)
{
	uint64_t last;

	hold();
	last = messages();
	while (haul_maybe_yield(true)) {
		uint64_t now = messages();

		note(now - last);
		last = now;
		s.nb_polls++;
	}
	return NULL;
}

START_TEST(mail_of_a_crowd_is_handled_in_portions)
{
	struct haul_coro *poller;

	begin();
	ck_assert_int_eq(
		haul_poller_register(haul_carrier(s.rt, 0), &poller, polls_mail, NULL, NULL), 0);
	WAIT_UNTIL(s.held);
	unpark_all();
	s.go = true;
	join_all();
	haul_cancel(poller);
	haul_join(poller, NULL, HAUL_FOREVER);
	check_order();
	ck_assert_uint_gt(s.most, 0);
	ck_assert_uint_le(s.most, PORTION);
	runtime_stop(s.rt);
}
END_TEST

static void *holds(void *arg)
{
	hold();
	return NULL;
}

/* Nothing else wakes the carrier: it would not wake up by itself. */
START_TEST(a_carrier_does_not_sleep_before_it_has_handled_its_mail)
{
	begin();
	ck_assert_int_eq(haul_spawn_on(haul_carrier(s.rt, 0), NULL, holds, NULL, NULL), 0);
	WAIT_UNTIL(s.held);
	unpark_all();
	s.go = true;
	WAIT_UNTIL(s.nb_woken == CROWD);
	join_all();
	check_order();
	runtime_stop(s.rt);
}
END_TEST

#define AHEAD 300 /* of the message that a thief looks for */

static void *runs(void *arg)
{
	s.go = true;
	return haul_carrier_self();
}

/* The hog ends when a thief has run the last one. */
START_TEST(a_thief_finds_a_start_behind_a_crowd_of_other_mail)
{
	struct haul_coro_opts pinned = {.pinned = true};
	struct haul_coro *child;
	struct haul_carrier *c;
	void *ran_on;

	if (!HAUL_STEALING)
		return;
	memset(&s, 0, sizeof(s));
	s.rt = runtime_start_stealing(2, NULL, HAUL_STEAL_GLOBAL);
	c = haul_carrier(s.rt, 0);
	for (uintptr_t i = 0; i < AHEAD; i++)
		ck_assert_int_eq(haul_spawn_on(c, &s.coros[i], parks, (void *)i, &pinned), 0);
	WAIT_UNTIL(s.nb_parked == AHEAD);
	ck_assert_int_eq(haul_spawn_on(c, NULL, holds, NULL, &pinned), 0);
	WAIT_UNTIL(s.held);
	for (unsigned i = 0; i < AHEAD; i++)
		haul_unpark(s.coros[i]);
	ck_assert_int_eq(haul_spawn_on(c, &child, runs, NULL, NULL), 0);
	ck_assert_int_eq(haul_join(child, &ran_on, HAUL_FOREVER), 0);
	ck_assert_ptr_eq(ran_on, haul_carrier(s.rt, 1));
	for (unsigned i = 0; i < AHEAD; i++)
		ck_assert_int_eq(haul_join(s.coros[i], NULL, HAUL_FOREVER), 0);
	runtime_stop(s.rt);
}
END_TEST

static void *counts_polls(void *arg)
{
	while (haul_maybe_yield(true))
		s.nb_polls++;
	return NULL;
}

static void *ends(void *arg)
{
	s.nb_woken++;
	return NULL;
}

/* Returns the number of polls between the first join and the last. */
static void *joins_ended(void *arg)
{
	unsigned polls;

	for (unsigned i = 0; i < CROWD; i++)
		ck_assert_int_eq(haul_spawn(&s.coros[i], ends, NULL, NULL), 0);
	WAIT_UNTIL(s.nb_woken == CROWD);
	polls = s.nb_polls;
	for (unsigned i = 0; i < CROWD; i++)
		ck_assert_int_eq(haul_join(s.coros[i], NULL, HAUL_FOREVER), 0);
	return (void *)(uintptr_t)(s.nb_polls - polls);
}

START_TEST(a_joiner_of_a_crowd_lets_the_poller_run)
{
	struct haul_coro *poller;

	memset(&s, 0, sizeof(s));
	s.rt = runtime_start(1);
	ck_assert_int_eq(
		haul_poller_register(haul_carrier(s.rt, 0), &poller, counts_polls, NULL, NULL), 0);
	ck_assert_ptr_nonnull(run_on(s.rt, 0, joins_ended, NULL));
	haul_cancel(poller);
	haul_join(poller, NULL, HAUL_FOREVER);
	runtime_stop(s.rt);
}
END_TEST

static void *polls_to_the_end(void *arg)
{
	unsigned last = 0;

	while (last < CROWD) {
		unsigned now;

		haul_maybe_yield(true);
		now = nb_cancelled();
		note(now - last);
		s.nb_polls += now != last;
		last = now;
	}
	return NULL;
}

START_TEST(a_stop_cancels_a_crowd_in_portions)
{
	begin();
	for (unsigned i = 0; i < CROWD; i++)
		haul_detach(s.coros[i]);
	ck_assert_int_eq(
		haul_poller_register(haul_carrier(s.rt, 0), NULL, polls_to_the_end, NULL, NULL), 0);
	ck_assert_int_eq(haul_stop(s.rt, HAUL_FOREVER), 0);
	ck_assert_uint_eq(s.nb_woken, 0);
	/* As many portions as the time between two polls has room for. */
	ck_assert_uint_ge(s.nb_polls, 4);
	ck_assert_uint_le(s.most, CROWD / 4);
}
END_TEST

SUITE_MAIN("crowd", {mail_of_a_crowd_is_handled_in_portions, 1},
	{a_carrier_does_not_sleep_before_it_has_handled_its_mail, 1},
	{a_thief_finds_a_start_behind_a_crowd_of_other_mail, 1},
	{a_joiner_of_a_crowd_lets_the_poller_run, 1}, {a_stop_cancels_a_crowd_in_portions, 1})
