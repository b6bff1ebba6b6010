/* SPDX-License-Identifier: BSD-3-Clause */
/* The poller's slot: registration, end, fairness. A counter in memory stands for input. */
#include <errno.h>
#include <stdatomic.h>

#include <haul/driver.h>

#include "support/runtime.h"
#include "support/suite.h"

struct source {
	atomic_uint cycles;
	atomic_uint handled;
	unsigned budget; /* cycles until the body returns by itself; 0: until it is asked to end */
	void *status;
	struct haul_carrier *ran_on;
};

static void *polls(void *arg)
{
	struct source *s = arg;

	s->ran_on = haul_carrier_self();
	while (haul_maybe_yield(false)) {
		if (++s->cycles == s->budget)
			return s->status;
	}
	return NULL;
}

START_TEST(poller_spins_on_its_carrier)
{
	struct haul_runtime *rt = runtime_start(2);
	struct source s = {0};
	struct haul_coro *poller;

	ck_assert_int_eq(haul_poller_register(haul_carrier(rt, 1), &poller, polls, &s, NULL), 0);
	WAIT_UNTIL(s.cycles > 1000);
	haul_cancel(poller);
	haul_join(poller, NULL, HAUL_FOREVER);
	ck_assert_ptr_eq(s.ran_on, haul_carrier(rt, 1));
	runtime_stop(rt);
}
END_TEST

START_TEST(second_poller_is_refused_and_changes_nothing)
{
	struct haul_runtime *rt = runtime_start(1);
	struct source a = {0}, b = {0};
	struct haul_coro *poller;

	ck_assert_int_eq(haul_poller_register(haul_carrier(rt, 0), &poller, polls, &a, NULL), 0);
	for (int i = 0; i < 10; i++)
		ck_assert_int_eq(
			haul_poller_register(haul_carrier(rt, 0), NULL, polls, &b, NULL), -EBUSY);
	WAIT_UNTIL(a.cycles > 1000);
	haul_cancel(poller);
	haul_join(poller, NULL, HAUL_FOREVER);
	ck_assert_uint_eq(b.cycles, 0);
	runtime_stop(rt);
}
END_TEST

START_TEST(a_failed_registration_keeps_no_slot)
{
	struct haul_poller_opts opts = {.stack_size = SIZE_MAX / 2};
	struct haul_runtime *rt = runtime_start(1);
	struct source s = {.budget = 1};
	struct haul_coro *poller;

	ck_assert_int_lt(haul_poller_register(haul_carrier(rt, 0), &poller, polls, &s, &opts), 0);
	ck_assert_uint_eq(s.cycles, 0);
	ck_assert_int_eq(haul_poller_register(haul_carrier(rt, 0), &poller, polls, &s, NULL), 0);
	haul_join(poller, NULL, HAUL_FOREVER);
	runtime_stop(rt);
}
END_TEST

static void never_called(void *arg)
{
	ck_abort();
}

/* Nothing else is there to do. */
static void *parks_cancelled(void *arg)
{
	bool parked;

	while (haul_maybe_yield(false) && !haul_poller_try_park())
		;
	haul_poller_unpark();
	haul_cancel(haul_self());
	parked = haul_poller_try_park();
	haul_poller_unpark();
	return parked ? "parked though cancelled" : NULL;
}

START_TEST(a_cancelled_poller_does_not_park)
{
	struct haul_poller_opts opts = {.wakeup = never_called};
	struct haul_runtime *rt = runtime_start(1);
	struct haul_coro *poller;
	void *wrong;

	ck_assert_int_eq(
		haul_poller_register(haul_carrier(rt, 0), &poller, parks_cancelled, NULL, &opts),
		0);
	ck_assert_int_eq(haul_join(poller, &wrong, HAUL_FOREVER), 0);
	ck_assert_pstr_eq(wrong, NULL);
	runtime_stop(rt);
}
END_TEST

START_TEST(completion_carries_the_status_and_frees_the_slot)
{
	struct haul_runtime *rt = runtime_start(1);

	for (int i = 0; i < 100; i++) {
		struct source s = {.budget = 1 + (unsigned)i, .status = &s};
		struct haul_coro *poller;
		void *status;

		ck_assert_int_eq(
			haul_poller_register(haul_carrier(rt, 0), &poller, polls, &s, NULL), 0);
		haul_join(poller, &status, HAUL_FOREVER);
		ck_assert_ptr_eq(status, &s);
		ck_assert_uint_eq(s.cycles, 1 + (unsigned)i);
	}
	runtime_stop(rt);
}
END_TEST

static void *counts(void *arg)
{
	struct source *s = arg;

	s->handled++;
	return NULL;
}

static void *spawns_per_cycle(void *arg)
{
	struct source *s = arg;

	while (haul_maybe_yield(true) && s->cycles < 1000) {
		s->cycles++;
		for (int i = 0; i < 32; i++)
			haul_spawn(NULL, counts, s, NULL);
		if (s->handled != 32 * (s->cycles - 1))
			return "a handler of the last cycle had no turn";
	}
	return NULL;
}

START_TEST(handlers_of_a_burst_run_before_the_next_poll)
{
	struct haul_runtime *rt = runtime_start(1);
	/* A wide bound, so that the count budget does not split a burst on a slow machine. */
	struct haul_plan_opts one = {.carriers = 1};
	struct haul_plan *plan;
	struct haul_coro *poller;
	struct source s = {0};
	void *wrong;

	runtime_stop(rt);
	ck_assert_int_eq(haul_plan_create(&plan, &one, NULL, 0), 0);
	ck_assert_int_eq(
		haul_start(&rt,
			&(struct haul_runtime_opts){
				.plan = plan, .round_ns = HAUL_S, .poll_interval_ns = HAUL_S},
			NULL, 0),
		0);
	haul_plan_destroy(plan);
	/* The budget grows by doubling: wait until it is large. */
	for (int i = 0; i < 10; i++) {
		haul_poller_register(
			haul_carrier(rt, 0), &poller, polls, &(struct source){.budget = 10}, NULL);
		haul_join(poller, NULL, HAUL_FOREVER);
		run_on(rt, 0, counts, &s);
	}
	s.handled = 0;
	ck_assert_int_eq(
		haul_poller_register(haul_carrier(rt, 0), &poller, spawns_per_cycle, &s, NULL), 0);
	haul_join(poller, &wrong, HAUL_FOREVER);
	ck_assert_pstr_eq(wrong, NULL);
	runtime_stop(rt);
}
END_TEST

/* Runs for longer than the interval between two polls, and counts the polls in between. */
static void *hogs(void *arg)
{
	struct source *s = arg;
	unsigned without_a_poll = 0;

	for (int i = 0; i < 20; i++) {
		uint64_t until = haul_now() + 100 * HAUL_US;
		unsigned before;

		while (haul_now() < until)
			;
		before = s->cycles;
		haul_yield();
		without_a_poll += s->cycles == before;
	}
	return without_a_poll ? "a long slice was followed by no poll" : NULL;
}

START_TEST(poller_has_its_turn_after_each_long_slice)
{
	struct haul_runtime *rt = runtime_start(1);
	struct source s = {0};
	struct haul_coro *poller, *a, *b;
	void *wrong_a, *wrong_b;

	ck_assert_int_eq(haul_poller_register(haul_carrier(rt, 0), &poller, polls, &s, NULL), 0);
	WAIT_UNTIL(s.cycles > 0); /* its first turn may end in its first call */
	ck_assert_int_eq(haul_spawn_any(rt, &a, hogs, &s, NULL), 0);
	ck_assert_int_eq(haul_spawn_any(rt, &b, hogs, &s, NULL), 0);
	haul_join(a, &wrong_a, HAUL_FOREVER);
	haul_join(b, &wrong_b, HAUL_FOREVER);
	ck_assert_pstr_eq(wrong_a, NULL);
	ck_assert_pstr_eq(wrong_b, NULL);
	haul_cancel(poller);
	haul_join(poller, NULL, HAUL_FOREVER);
	runtime_stop(rt);
}
END_TEST

static void *yields_until_cancelled(void *arg)
{
	while (!haul_cancelled())
		haul_yield();
	return NULL;
}

START_TEST(endless_yielder_does_not_starve_the_poller)
{
	struct haul_runtime *rt = runtime_start(1);
	struct source s = {.budget = 5000};
	struct haul_coro *poller, *yielder;

	ck_assert_int_eq(haul_spawn_any(rt, &yielder, yields_until_cancelled, NULL, NULL), 0);
	ck_assert_int_eq(haul_poller_register(haul_carrier(rt, 0), &poller, polls, &s, NULL), 0);
	haul_join(poller, NULL, HAUL_FOREVER);
	ck_assert_uint_eq(s.cycles, 5000);
	haul_cancel(yielder);
	haul_join(yielder, NULL, HAUL_FOREVER);
	runtime_stop(rt);
}
END_TEST

static void *parks_itself(void *arg)
{
	struct source *s = arg;

	s->cycles = 1;
	while (haul_park(HAUL_FOREVER) == 0)
		s->cycles++;
	return NULL;
}

START_TEST(parked_poller_does_not_stop_handlers)
{
	struct haul_runtime *rt = runtime_start(1);
	struct source s = {0};
	struct haul_coro *poller;

	ck_assert_int_eq(
		haul_poller_register(haul_carrier(rt, 0), &poller, parks_itself, &s, NULL), 0);
	WAIT_UNTIL(s.cycles == 1);
	for (int i = 0; i < 100; i++)
		run_on(rt, 0, counts, &s);
	ck_assert_uint_eq(s.handled, 100);
	haul_unpark(poller);
	WAIT_UNTIL(s.cycles == 2);
	haul_cancel(poller);
	haul_join(poller, NULL, HAUL_FOREVER);
	runtime_stop(rt);
}
END_TEST

struct closing {
	struct haul_coro *poller, *parked;
	bool parked_went_on;
};

static void *goes_on_after_the_poller(void *arg)
{
	struct closing *c = arg;

	if (haul_park(HAUL_FOREVER) == 0)
		c->parked_went_on = true;
	return NULL;
}

static void *closes_the_poller(void *arg)
{
	struct closing *c = arg;

	haul_spawn(&c->parked, goes_on_after_the_poller, c, NULL);
	haul_yield();
	haul_cancel(c->poller);
	haul_join(c->poller, NULL, HAUL_FOREVER);
	haul_unpark(c->parked);
	haul_join(c->parked, NULL, HAUL_FOREVER);
	return c->parked_went_on ? NULL : "the parked one did not go on";
}

START_TEST(handler_closes_the_poller_and_others_go_on)
{
	struct haul_runtime *rt = runtime_start(1);
	struct source s = {0};
	struct closing c = {0};

	ck_assert_int_eq(haul_poller_register(haul_carrier(rt, 0), &c.poller, polls, &s, NULL), 0);
	ck_assert_pstr_eq(run_on(rt, 0, closes_the_poller, &c), NULL);
	runtime_stop(rt);
}
END_TEST

START_TEST(stop_ends_a_poller)
{
	struct haul_runtime *rt = runtime_start(2);
	struct source s[2] = {0};

	for (unsigned i = 0; i < 2; i++)
		ck_assert_int_eq(
			haul_poller_register(haul_carrier(rt, i), NULL, polls, &s[i], NULL), 0);
	WAIT_UNTIL(s[0].cycles > 100 && s[1].cycles > 100);
	runtime_stop(rt);
}
END_TEST

struct leaver {
	struct haul_carrier *c;
	atomic_bool parked, woken;
	unsigned let_in; /* pollers registered while the wakeup runs */
};

/* Returns while it is parked, during the call of its wakeup. */
static void *leaves_parked(void *arg)
{
	struct leaver *l = arg;

	while (haul_maybe_yield(false) && !haul_poller_try_park())
		;
	l->parked = true;
	while (!l->woken)
		sched_yield();
	return NULL;
}

static void looks_for_its_slot(void *arg)
{
	static struct source s = {.budget = 1};
	struct leaver *l = arg;

	l->woken = true;
	for (int i = 0; i < 2000; i++) {
		l->let_in += haul_poller_register(l->c, NULL, polls, &s, NULL) != -EBUSY;
		sched_yield();
	}
}

static void *nothing(void *arg)
{
	return arg;
}

START_TEST(a_parked_poller_that_returns_outlives_its_wakeup)
{
	const struct haul_poller_opts opts = {.wakeup = looks_for_its_slot};
	struct haul_runtime *rt = runtime_start(1);
	struct leaver l = {.c = haul_carrier(rt, 0)};

	ck_assert_int_eq(haul_poller_register(l.c, NULL, leaves_parked, &l, &opts), 0);
	WAIT_UNTIL(l.parked);
	run_on(rt, 0, nothing, NULL);
	ck_assert(l.woken);
	ck_assert_uint_eq(l.let_in, 0);
	runtime_stop(rt);
}
END_TEST

SUITE_MAIN("poller", {poller_spins_on_its_carrier, 1},
	{second_poller_is_refused_and_changes_nothing, 1}, {a_failed_registration_keeps_no_slot, 1},
	{a_cancelled_poller_does_not_park, 1},
	{completion_carries_the_status_and_frees_the_slot, 1},
	{handlers_of_a_burst_run_before_the_next_poll, 1},
	{poller_has_its_turn_after_each_long_slice, 1},
	{endless_yielder_does_not_starve_the_poller, 1}, {parked_poller_does_not_stop_handlers, 1},
	{handler_closes_the_poller_and_others_go_on, 1}, {stop_ends_a_poller, 1},
	{a_parked_poller_that_returns_outlives_its_wakeup, 1})
