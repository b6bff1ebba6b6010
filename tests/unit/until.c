/* SPDX-License-Identifier: BSD-3-Clause */
/* Park and join with deadlines. */
#include <errno.h>
#include <stdatomic.h>

#include "sched/wait/join.h"
#include "sched/wait/request.h"
#include "support/runtime.h"
#include "support/suite.h"

#define SOON (2 * HAUL_MS)
#define LATER (10 * SOON)

static struct {
	struct haul_carrier *there; /* the home of the targets */
	struct haul_coro *other;
	atomic_int step;
	atomic_bool go;
	bool detaches;
} s;

static void *parks_again(void *arg)
{
	uint64_t began = haul_now();

	if (haul_park(0) != -EAGAIN)
		return "took a permit that was not there";
	if (haul_park(haul_in(SOON)) != -ETIMEDOUT || haul_now() - began < SOON)
		return "no time-out, or early";
	haul_unpark(haul_self());
	if (haul_park(0) != 0)
		return "left a permit that was there";
	haul_unpark(haul_self());
	if (haul_park(1) != 0)
		return "the deadline won over a permit that was there";
	if (haul_park(1) != -ETIMEDOUT)
		return "a deadline that has passed";
	return NULL;
}

static void *is_woken(void *arg)
{
	uint64_t deadline;
	int err;

	s.step = 1;
	if (haul_park(haul_in(HAUL_S * 3600)) != 0)
		return "not woken";
	s.step = 2;
	deadline = haul_in(LATER);
	err = haul_park(deadline);
	if (err != 0 && haul_now() < deadline)
		return "not woken";
	if (err != 0) /* it was woken too late, on a busy machine */
		haul_park(HAUL_FOREVER);
	s.step = 3;
	if (haul_park(HAUL_FOREVER) != 0 || haul_now() < deadline)
		return "woken by the deadline of the first park";
	s.step = 4;
	if (haul_park(haul_in(HAUL_S * 3600)) != -ECANCELED)
		return "not cancelled";
	if (haul_park(haul_in(HAUL_S)) != -ECANCELED || haul_park(0) != -EAGAIN)
		return "not cancelled for good";
	return NULL;
}

static void *wakes_and_cancels(void *arg)
{
	void *wrong;

	haul_spawn_on(s.there, &s.other, is_woken, NULL, NULL);
	for (int i = 1; i <= 3; i++) {
		WAIT_UNTIL(s.step == i);
		haul_sleep(i < 3 ? SOON : 2 * LATER);
		haul_unpark(s.other);
	}
	WAIT_UNTIL(s.step == 4);
	haul_sleep(SOON);
	haul_cancel(s.other);
	haul_join(s.other, &wrong, HAUL_FOREVER);
	return wrong;
}

/* The other end of each test is on the same carrier, or on another one. */
static struct haul_runtime *start(int i)
{
	struct haul_runtime *rt = runtime_start(1 + (unsigned)i);

	memset(&s, 0, sizeof(s));
	s.there = haul_carrier(rt, (unsigned)i);
	return rt;
}

START_TEST(a_park_ends_with_permit_deadline_or_cancel)
{
	struct haul_runtime *rt = start(_i);

	ck_assert_pstr_eq(run_on(rt, 0, parks_again, NULL), NULL);
	ck_assert_pstr_eq(run_on(rt, 0, wakes_and_cancels, NULL), NULL);
	runtime_stop(rt);
}
END_TEST

static void *waits_for_go(void *arg)
{
	while (!s.go)
		haul_sleep(HAUL_MS); /* until it may end */
	return arg;
}

static const char *join_in_vain(struct haul_coro *co, uint64_t deadline, int error)
{
	void *result = &s;

	if (haul_join(co, &result, deadline) != error)
		return "joined what runs, or another error";
	return result == &s ? NULL : "wrote a result";
}

/* By a coroutine, or by a plain thread. */
static void *joins(void *arg)
{
	uint64_t began = haul_now();
	const char *wrong = NULL;
	struct haul_coro *co;
	void *result;

	s.go = false;
	haul_spawn_on(s.there, &co, waits_for_go, &co, NULL);
	wrong = join_in_vain(co, 0, -EAGAIN);
	if (!wrong)
		wrong = join_in_vain(co, haul_in(SOON), -ETIMEDOUT);
	if (!wrong && haul_now() - began < SOON)
		wrong = "early";
	for (int i = 0; i < 3 && !wrong; i++) /* each finds the last one's at the target */
		wrong = join_in_vain(co, 1, -ETIMEDOUT);
	if (wrong)
		return (void *)wrong;
	s.go = true;
	if (haul_join(co, &result, haul_in(HAUL_S * 3600)) != 0 || result != &co)
		return "the join after it";
	return NULL;
}

START_TEST(a_target_is_joined_after_a_deadline)
{
	struct haul_runtime *rt = start(_i);

	ck_assert_pstr_eq(run_on(rt, 0, joins, NULL), NULL);
	ck_assert_pstr_eq(joins(NULL), NULL);
	runtime_stop(rt);
}
END_TEST

static void *detaches(void *arg)
{
	const char *wrong;
	struct haul_coro *co;

	s.go = false;
	haul_spawn_on(s.there, &co, waits_for_go, NULL, NULL);
	wrong = join_in_vain(co, haul_in(SOON), -ETIMEDOUT);
	haul_detach(co);
	s.go = true;
	return (void *)wrong;
}

START_TEST(a_target_is_detached_after_a_deadline)
{
	struct haul_runtime *rt = start(_i);

	ck_assert_pstr_eq(run_on(rt, 0, detaches, NULL), NULL);
	ck_assert_pstr_eq(detaches(NULL), NULL);
	runtime_stop(rt);
}
END_TEST

static void *hogs(void *arg)
{
	s.step = 1;
	while (!s.go)
		sched_yield();
	return NULL;
}

static void *returns(void *arg)
{
	return arg;
}

static void *tries_what_has_ended(void *arg)
{
	struct haul_coro *co;
	void *result;
	int err;

	haul_spawn_on(s.there, &co, returns, &co, NULL);
	WAIT_UNTIL((err = haul_join(co, &result, 0)) != -EAGAIN);
	return err == 0 && result == &co ? NULL : "the try failed";
}

START_TEST(a_try_joins_what_has_ended)
{
	struct haul_runtime *rt = start(_i);

	ck_assert_pstr_eq(run_on(rt, 0, tries_what_has_ended, NULL), NULL);
	ck_assert_pstr_eq(tries_what_has_ended(NULL), NULL);
	runtime_stop(rt);
}
END_TEST

/* The only carrier is busy, so the target has no home when the deadline passes. */
START_TEST(a_homeless_target_is_joined_after_a_deadline)
{
	struct haul_runtime *rt = start(0);
	struct haul_coro *hog, *co;
	void *result, *arg = &co;

	ck_assert_int_eq(haul_spawn_on(s.there, &hog, hogs, NULL, NULL), 0);
	WAIT_UNTIL(s.step == 1);
	ck_assert_int_eq(haul_spawn_many(rt, &co, returns, &arg, 1, NULL), 0);
	ck_assert_int_eq(haul_join(co, &result, 0), -EAGAIN);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(haul_join(co, &result, haul_in(HAUL_MS)), -ETIMEDOUT);
	s.go = true;
	ck_assert_int_eq(haul_join(co, &result, HAUL_FOREVER), 0);
	ck_assert_ptr_eq(result, &co);
	ck_assert_int_eq(haul_join(hog, NULL, haul_in(HAUL_S * 3600)), 0);
	runtime_stop(rt);
}
END_TEST

static void *steps(void *arg)
{
	s.step = 1;
	return NULL;
}

static void *tries_what_runs(void *arg)
{
	const struct haul_coro_opts pinned = {.pinned = true};
	struct haul_coro *co, *next;

	EXPECT(haul_spawn(&co, waits_for_go, &co, &pinned) == 0);
	EXPECT(haul_spawn(&next, steps, NULL, &pinned) == 0);
	EXPECT(!join_in_vain(co, 0, -EAGAIN) && s.step == 0);
	s.go = true;
	EXPECT(haul_join(co, NULL, HAUL_FOREVER) == 0 && haul_join(next, NULL, HAUL_FOREVER) == 0);
	return NULL;
}

START_TEST(a_try_does_not_suspend)
{
	struct haul_runtime *rt = start(0);

	ck_assert_pstr_eq(run_on(rt, 0, tries_what_runs, NULL), NULL);
	runtime_stop(rt);
}
END_TEST

static void *comes_first(void *arg)
{
	struct haul_coro *co = arg;
	void *result = NULL;

	s.step = 1;
	while (s.step == 1)
		sched_yield();
	if (s.detaches)
		haul_detach(co);
	else if (haul_join(co, &result, HAUL_FOREVER) != 0 || result != &s)
		return "joined in vain";
	return NULL;
}

/* Plays a thread that has found the target without a home, and that got no CPU before it asked: by
 * then the target has ended. Its deadline passes, and another joins or detaches the target. */
START_TEST(a_join_asks_for_a_target_that_has_ended)
{
	struct haul_runtime *rt = start(0);
	struct haul_coro *first, *co;
	void *result, *arg = &s;

	s.detaches = _i;
	ck_assert_int_eq(haul_spawn_many(rt, &co, returns, &arg, 1, NULL), 0);
	WAIT_UNTIL(hauli_coro_is_unjoined(co));
	ck_assert_int_eq(haul_spawn_on(s.there, &first, comes_first, co, NULL), 0);
	WAIT_UNTIL(s.step == 1);
	hauli_tagged_set(&co->joiner, HAULI_JOIN_GONE | HAULI_JOIN_ASKED);
	hauli_request(co, HAULI_REQ_JOIN);
	s.step = 2;
	ck_assert_int_eq(haul_join(first, &result, HAUL_FOREVER), 0);
	ck_assert_pstr_eq(result, NULL);
	runtime_stop(rt);
}
END_TEST

static void *waits_in_vain(void *arg)
{
	const char *wrong = join_in_vain(arg, haul_in(SOON), -ETIMEDOUT);

	if (!wrong)
		wrong = join_in_vain(arg, 1, -ETIMEDOUT);
	if (!wrong)
		wrong = join_in_vain(arg, 0, -EAGAIN);
	return (void *)wrong;
}

/* It does, or nobody would let the home go on. */
START_TEST(a_deadline_holds_while_the_home_computes)
{
	struct haul_runtime *rt = start(1);
	struct haul_coro *hog, *co;
	void *result;

	ck_assert_int_eq(haul_spawn_on(s.there, &co, returns, &s, NULL), 0);
	WAIT_UNTIL(hauli_coro_is_unjoined(co));
	ck_assert_int_eq(haul_spawn_on(s.there, &hog, hogs, NULL, NULL), 0);
	WAIT_UNTIL(s.step == 1);
	ck_assert_pstr_eq(run_on(rt, 0, waits_in_vain, co), NULL);
	ck_assert_pstr_eq(waits_in_vain(co), NULL);
	s.go = true;
	WAIT_UNTIL(haul_join(co, &result, 0) == 0);
	ck_assert_ptr_eq(result, &s);
	ck_assert_int_eq(haul_join(hog, NULL, HAUL_FOREVER), 0);
	runtime_stop(rt);
}
END_TEST

static atomic_uint hit;

/* The stack below the caller's frame is full of addresses of hit. */
static __attribute__((noinline)) void leaves_addresses(void)
{
	atomic_uint *volatile stack[64];

	for (unsigned i = 0; i < 64; i++)
		stack[i] = &hit;
	asm volatile("" : : "r"(stack) : "memory");
}

static void *parks_once(void *arg)
{
	return haul_park(HAUL_FOREVER) == 0 ? arg : NULL;
}

/* The thread's deadline passes while this computes, so its request has not been read. */
static void *joins_after_another(void *arg)
{
	void *result = NULL;

	s.step = 1;
	while (!s.go)
		;
	leaves_addresses();
	return haul_join(arg, &result, HAUL_FOREVER) == 0 ? result : NULL;
}

START_TEST(a_join_at_home_follows_one_from_elsewhere_whose_request_comes_later)
{
	struct haul_runtime *rt = start(1);
	struct haul_coro *target, *waiter;
	void *result = NULL;

	hit = 0;
	ck_assert_int_eq(haul_spawn_on(s.there, &target, parks_once, &s, NULL), 0);
	ck_assert_int_eq(haul_spawn_on(s.there, &waiter, joins_after_another, target, NULL), 0);
	WAIT_UNTIL(s.step == 1);
	ck_assert_int_eq(haul_join(target, NULL, haul_in(SOON)), -ETIMEDOUT);
	s.go = true;
	haul_unpark(target);
	WAIT_UNTIL(hit || hauli_coro_is_unjoined(waiter));
	ck_assert_uint_eq(hit, 0);
	ck_assert_int_eq(haul_join(waiter, &result, HAUL_FOREVER), 0);
	ck_assert_ptr_eq(result, &s);
	runtime_stop(rt);
}
END_TEST

SUITE_MAIN("until", {a_park_ends_with_permit_deadline_or_cancel, 2},
	{a_target_is_joined_after_a_deadline, 2}, {a_target_is_detached_after_a_deadline, 2},
	{a_try_joins_what_has_ended, 2}, {a_try_does_not_suspend, 1},
	{a_homeless_target_is_joined_after_a_deadline, 1},
	{a_join_asks_for_a_target_that_has_ended, 2}, {a_deadline_holds_while_the_home_computes, 1},
	{a_join_at_home_follows_one_from_elsewhere_whose_request_comes_later, 1})
