/* SPDX-License-Identifier: BSD-3-Clause */
/* When a carrier spins before it sleeps: always while that pays, and hardly ever if it does not. */
#include "sched/state/spin.h"

#include "support/runtime.h"
#include "support/suite.h"

/* Of n sleeps, the number before which a carrier spins, if each spinning pays or none does. */
static unsigned spins(struct hauli_spin *s, unsigned n, bool pays)
{
	unsigned spun = 0;

	for (unsigned i = 0; i < n; i++) {
		if (!hauli_spin_may_pay(s))
			continue;
		spun++;
		hauli_spin_learn(s, pays);
	}
	return spun;
}

START_TEST(it_spins_while_that_pays)
{
	struct hauli_spin s = {.ticks = 1000};

	ck_assert_uint_eq(spins(&s, 1000, true), 1000);
}
END_TEST

START_TEST(after_failures_it_hardly_spins)
{
	struct hauli_spin s = {.ticks = 1000};
	unsigned first = spins(&s, 100, false);

	ck_assert_uint_ge(first, 2);
	ck_assert_uint_le(first, 8);
	spins(&s, 10000, false);
	ck_assert_uint_le(spins(&s, 102400, false), 100);
}
END_TEST

START_TEST(one_success_makes_it_spin_again)
{
	struct hauli_spin s = {.ticks = 1000};

	spins(&s, 10000, false);
	ck_assert_uint_le(spins(&s, 1025, true), 1025);
	ck_assert_uint_eq(spins(&s, 1000, true), 1000);
}
END_TEST

START_TEST(without_time_it_never_spins)
{
	struct hauli_spin s = {.ticks = 3};

	ck_assert_uint_eq(spins(&s, 1000, true), 0);
}
END_TEST

static void *echo(void *arg)
{
	while (haul_park(HAUL_FOREVER) == 0)
		haul_unpark(*(struct haul_coro **)arg);
	return NULL;
}

static void *calls(void *co)
{
	for (unsigned i = 0; i < 5000; i++) {
		haul_unpark(co);
		EXPECT(haul_park(HAUL_FOREVER) == 0);
	}
	return NULL;
}

/* The ends of sleeps and of spinning mix: no call is lost. */
START_TEST(calls_of_carriers_that_spin_arrive)
{
	struct haul_runtime *rt = runtime_start(2);
	struct haul_coro *caller = NULL, *other;
	void *wrong;

	haul_spawn_on(haul_carrier(rt, 1), &other, echo, &caller, NULL);
	haul_spawn_on(haul_carrier(rt, 0), &caller, calls, other, NULL);
	ck_assert_int_eq(haul_join(caller, &wrong, HAUL_FOREVER), 0);
	ck_assert_msg(!wrong, "%s", (char *)wrong);
	haul_cancel(other);
	haul_join(other, NULL, HAUL_FOREVER);
	runtime_stop(rt);
}
END_TEST

SUITE_MAIN("spin", {it_spins_while_that_pays, 1}, {after_failures_it_hardly_spins, 1},
	{one_success_makes_it_spin_again, 1}, {without_time_it_never_spins, 1},
	{calls_of_carriers_that_spin_arrive, 1})
