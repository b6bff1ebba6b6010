/* SPDX-License-Identifier: BSD-3-Clause */
/* The wheel of timers against an array of deadlines. Time is a number here. */
#include "sched/state/timer.h"

#include <stdbool.h>
#include <string.h>

#include "base/random.h"
#include "support/suite.h"

#define N 2000
#define CROWD 8000 /* timers in one slot */
#define LEVELS 11 /* of the wheel */
#define MOVES 48 /* entries of a level that a call moves */

static struct hauli_timers ts;
static struct hauli_timer timers[CROWD + N];
static bool armed[CROWD + N];
static uint64_t now;

static void begin(uint64_t at)
{
	ck_assert_int_eq(hauli_timers_init(&ts, CROWD + N), 0);
	memset(armed, 0, sizeof(armed));
	now = at;
}

static void end(void)
{
	hauli_timers_fini(&ts);
}

static void arm(unsigned i, uint64_t at)
{
	timers[i].at = at;
	armed[i] = true;
	hauli_timer_arm(&ts, &timers[i]);
}

static void disarm(unsigned i)
{
	armed[i] = false;
	hauli_timer_disarm(&ts, &timers[i]);
}

/* One call; returns how many expired. All are due, in order, and leave the wheel once. */
static unsigned expire(void)
{
	struct hauli_timer *due[HAULI_TIMERS_DUE];
	unsigned n = hauli_timers_expire(&ts, now, due);

	for (unsigned i = 0; i < n; i++) {
		unsigned idx = (unsigned)(due[i] - timers);

		ASSERT_EACH(armed[idx]);
		ASSERT_EACH(due[i]->at <= now);
		ASSERT_EACH(i == 0 || due[i - 1]->at <= due[i]->at);
		armed[idx] = false;
	}
	return n;
}

/* Calls until the wheel says that no more is due. */
static unsigned expire_all(void)
{
	unsigned n = 0, calls = 0;

	for (; ts.next_at <= now; calls++) {
		n += expire();
		ASSERT_EACH(calls < CROWD);
	}
	return n;
}

static uint64_t earliest(unsigned n)
{
	uint64_t at = HAULI_NEVER;

	for (unsigned i = 0; i < n; i++)
		if (armed[i] && timers[i].at < at)
			at = timers[i].at;
	return at;
}

START_TEST(empty_never_fires)
{
	begin(0);
	now = UINT64_MAX / 2;
	ck_assert_uint_eq(expire(), 0);
	ck_assert_uint_eq(ts.next_at, HAULI_NEVER);
	arm(0, HAULI_NEVER);
	ck_assert_uint_eq(ts.next_at, HAULI_NEVER);
	disarm(0);
	arm(0, now);
	disarm(0);
	ck_assert_uint_eq(ts.next_at, HAULI_NEVER);
	end();
}
END_TEST

/* The wheel is past their time, and past the time where a slot of an upper level ended. */
START_TEST(a_time_that_has_passed_is_due)
{
	for (int level = 0; level < LEVELS; level++) {
		begin(UINT64_C(3) << 6 * level);
		arm(0, now);
		ck_assert_uint_eq(expire(), 1);
		for (unsigned i = 0; i < 100; i++)
			arm(i, now - 1);
		ck_assert_uint_eq(expire_all(), 100);
		end();
	}
}
END_TEST

/* Spans from a tick to years. */
static uint64_t span_of(int i)
{
	return UINT64_C(1) << 7 * i;
}

static uint64_t random_below(struct hauli_random *random, uint64_t n)
{
	return hauli_random_next(random) % n;
}

/* The time goes on when the wheel says so. Each timer expires at its tick, and each call does
 * something. */
START_TEST(each_expires_at_its_tick)
{
	struct hauli_random random;
	unsigned expired = 0, calls = 0;

	hauli_random_init(&random, (uint64_t)_i + 1);
	begin(UINT64_C(1) << 50);
	for (unsigned i = 0; i < N; i++)
		arm(i, now + random_below(&random, span_of(_i)));
	while (hauli_timers_next(&ts) != HAULI_NEVER) {
		if (ts.next_at > now) {
			ASSERT_EACH(earliest(N) >= ts.next_at);
			now = ts.next_at;
		}
		expired += expire();
		ASSERT_EACH(calls++ < 2 * N);
	}
	ck_assert_uint_eq(expired, N);
	end();
}
END_TEST

/* Arms, disarms, puts off and lets time pass at random. Nothing is early, late or lost. */
START_TEST(agrees_with_a_list_of_deadlines)
{
	struct hauli_random random;
	uint64_t span = span_of(_i % 8);

	hauli_random_init(&random, (uint64_t)_i + 1);
	begin(random_below(&random, UINT64_C(1) << 55));
	for (unsigned step = 0; step < 40 * N; step++) {
		unsigned i = hauli_random_below(&random, N);
		uint64_t at = now + random_below(&random, random_below(&random, 2 * span) + 1);

		if (step % N == 0) {
			now += random_below(&random, span);
			expire_all();
			ASSERT_EACH(earliest(N) > now);
			ASSERT_EACH(hauli_timers_next(&ts) <= earliest(N));
			ASSERT_EACH(ts.next_at > now);
		} else if (!armed[i]) {
			arm(i, at);
		} else if (at >= timers[i].at && step % 2) {
			timers[i].at = at;
		} else {
			disarm(i);
		}
		ASSERT_EACH(!armed[i] || ts.next_at <= timers[i].at);
	}
	now += 4 * span;
	expire_all();
	ck_assert_uint_eq(earliest(N), HAULI_NEVER);
	end();
}
END_TEST

/* More timers than one call expires are due at once, at one tick or at several. */
START_TEST(a_call_does_a_bounded_amount_of_work)
{
	static struct hauli_timer_entry *before[CROWD];
	struct hauli_random random;
	unsigned calls = 0, expired = 0;

	hauli_random_init(&random, (uint64_t)_i + 1);
	begin(UINT64_C(1) << 50);
	for (unsigned i = 0; i < CROWD; i++)
		arm(i, now + 1000000 + random_below(&random, span_of(_i)));
	now += _i % 2 ? 1000000 + span_of(_i) : 0;
	while (earliest(CROWD) != HAULI_NEVER) {
		unsigned moved = 0, n;

		for (unsigned i = 0; i < CROWD; i++)
			before[i] = timers[i].entry;
		n = expire();
		for (unsigned i = 0; i < CROWD; i++)
			moved += armed[i] && timers[i].entry != before[i];
		ASSERT_EACH(moved <= LEVELS * MOVES);
		expired += n;
		if (ts.next_at <= now)
			calls++;
		else if (ts.next_at != HAULI_NEVER)
			now = ts.next_at + span_of(_i) / 256;
		/* An entry moves once per level. */
		ASSERT_EACH(calls <= CROWD / HAULI_TIMERS_DUE + LEVELS * CROWD / MOVES + LEVELS);
	}
	ck_assert_uint_eq(expired, CROWD);
	end();
}
END_TEST

/* A crowd moves before it is due: the first of it come with the first call at their tick. */
START_TEST(a_crowd_is_in_place_when_it_is_due)
{
	const uint64_t slot = UINT64_C(1) << 24; /* a slot of level 4 */
	uint64_t begins = 1000 * slot;
	struct hauli_random random;

	hauli_random_init(&random, (uint64_t)_i + 1);
	begin(begins - 100 * slot);
	arm(CROWD, now);
	ck_assert_uint_eq(expire_all(), 1);
	for (unsigned i = 0; i < CROWD; i++)
		arm(i, begins + random_below(&random, slot));
	for (; now < begins; now += slot / 1024)
		ck_assert_uint_eq(expire(), 0);
	for (unsigned i = 0; i < 1000; i++) {
		now = earliest(CROWD);
		expire();
		ASSERT_EACH(earliest(CROWD) > now);
	}
	end();
}
END_TEST

/* While a crowd moves, or is late, other timers expire. */
START_TEST(a_crowd_does_not_hold_up_others)
{
	const uint64_t slot = UINT64_C(1) << 24;
	unsigned waits = 0;

	begin(1000 * slot);
	for (unsigned i = 0; i < CROWD; i++)
		arm(i, 1100 * slot + i);
	now = 1099 * slot;
	arm(CROWD, now);
	ck_assert_uint_eq(expire(), 1);
	for (unsigned i = 0; i < 20; i++) {
		arm(CROWD, ++now);
		ck_assert_uint_eq(expire(), 1);
	}
	/* A late timer of an upper level, while as many as a call expires are due below it. */
	expire_all();
	arm(CROWD, now + 1000);
	now += 1000;
	for (unsigned round = 0; armed[CROWD]; round++) {
		for (unsigned i = 1; i <= HAULI_TIMERS_DUE; i++)
			if (!armed[CROWD + i])
				arm(CROWD + i, now);
		expire();
		waits = round;
	}
	ck_assert_uint_le(waits, 1);
	end();
}
END_TEST

/* Chunks come back: the wheel has no more of them than it needs. */
START_TEST(memory_does_not_get_lost)
{
	struct hauli_random random;

	hauli_random_init(&random, 1);
	memset(armed, 0, sizeof(armed));
	ck_assert_int_eq(hauli_timers_init(&ts, 100), 0);
	now = UINT64_C(1) << 40;
	for (unsigned step = 0; step < 200000; step++) {
		unsigned i = hauli_random_below(&random, 100);

		if (armed[i])
			disarm(i);
		else
			arm(i, now + random_below(&random, span_of((int)(step % 8))));
		if (step % 64 == 0) {
			now += random_below(&random, 100000);
			expire_all();
		}
	}
	end();
}
END_TEST

/* The hot pair: nothing is left to do for time-outs that were cancelled. */
START_TEST(cancelled_time_outs_leave_nothing)
{
	begin(UINT64_C(1) << 40);
	for (unsigned i = 0; i < 1000; i++)
		arm(i, now + 1000 + i);
	arm(N, now + 1000000);
	for (unsigned i = 0; i < 1000; i++)
		disarm(i);
	ck_assert_uint_eq(hauli_timers_next(&ts), now + 1000000);
	now = ts.next_at;
	ck_assert_uint_eq(expire(), 1);
	ck_assert_uint_eq(ts.next_at, HAULI_NEVER);
	end();
}
END_TEST

SUITE_MAIN("timer", {empty_never_fires, 1}, {a_time_that_has_passed_is_due, 1},
	{each_expires_at_its_tick, 8}, {agrees_with_a_list_of_deadlines, 16},
	{a_call_does_a_bounded_amount_of_work, 6}, {a_crowd_is_in_place_when_it_is_due, 3},
	{a_crowd_does_not_hold_up_others, 1}, {memory_does_not_get_lost, 1},
	{cancelled_time_outs_leave_nothing, 1})
