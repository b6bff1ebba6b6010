/* SPDX-License-Identifier: BSD-3-Clause */
/* The timer heap against a plain sort. */
#include "sched/timer.h"

#include "base/random.h"
#include "support/suite.h"

#define N 2000

static int by_time(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

START_TEST(empty_never_fires)
{
	struct hauli_timers ts;

	hauli_timers_init(&ts);
	ck_assert_ptr_null(hauli_timer_expire(&ts, UINT64_MAX));
	ck_assert_uint_eq(ts.next_at, HAULI_NEVER);
}
END_TEST

START_TEST(fires_in_order_of_time)
{
	static struct hauli_timer timers[N];
	static uint64_t expected[N];
	struct hauli_timers ts;
	struct hauli_random random;

	hauli_random_init(&random, (uint64_t)_i + 1);
	hauli_timers_init(&ts);
	for (int i = 0; i < N; i++) {
		timers[i].at = expected[i] = hauli_random_below(&random, N);
		hauli_timer_arm(&ts, &timers[i]);
	}
	qsort(expected, N, sizeof(expected[0]), by_time);
	for (int i = 0; i < N; i++) {
		struct hauli_timer *t;

		ck_assert_uint_eq(ts.next_at, expected[i]);
		ck_assert_ptr_null(expected[i] ? hauli_timer_expire(&ts, expected[i] - 1) : NULL);
		t = hauli_timer_expire(&ts, expected[i]);
		ck_assert_ptr_nonnull(t);
		ck_assert_uint_eq(t->at, expected[i]);
	}
	ck_assert_ptr_null(hauli_timer_expire(&ts, UINT64_MAX));
}
END_TEST

/* Arms, disarms and fires at random; every timer leaves the heap once, by the expected way. */
START_TEST(disarmed_never_fires)
{
	static struct hauli_timer timers[N];
	static bool armed[N];
	struct hauli_timers ts;
	struct hauli_random random;
	int in_heap = 0, fired = 0;

	hauli_random_init(&random, (uint64_t)_i + 1);
	hauli_timers_init(&ts);
	for (int i = 0; i < N; i++)
		armed[i] = false;
	for (int step = 0; step < 20 * N; step++) {
		uint32_t i = hauli_random_below(&random, N);

		if (!armed[i]) {
			timers[i].at = hauli_random_below(&random, 1000000);
			hauli_timer_arm(&ts, &timers[i]);
		} else {
			hauli_timer_disarm(&ts, &timers[i]);
		}
		in_heap += armed[i] ? -1 : 1;
		armed[i] = !armed[i];
	}
	for (struct hauli_timer *t; (t = hauli_timer_expire(&ts, UINT64_MAX)); fired++) {
		ck_assert(armed[t - timers]);
		armed[t - timers] = false;
	}
	ck_assert_int_eq(fired, in_heap);
}
END_TEST

SUITE_MAIN("timer", {empty_never_fires, 1}, {fires_in_order_of_time, 5}, {disarmed_never_fires, 5})
