/* SPDX-License-Identifier: BSD-3-Clause */
/* Park and its permit, sleep, yield, cancel, join. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#include "support/runtime.h"
#include "support/suite.h"

/* Shared by the coroutines of one test, which are all on one carrier unless the test says
 * otherwise. */
struct shared {
	struct haul_coro *other;
	int count;
	int order[300];
	struct haul_carrier *carrier;
};

static void *permit_is_sticky_and_one(void *arg)
{
	struct shared *s = arg;

	haul_unpark(haul_self());
	haul_unpark(haul_self());
	haul_unpark(haul_self());
	if (haul_park(HAUL_FOREVER) != 0)
		return "the first park";
	/* The further permits did not add up: this park lasts until the cancel. */
	s->count = 1;
	return haul_park(HAUL_FOREVER) == -ECANCELED ? NULL : "the second park";
}

static void *sees_one_permit(void *arg)
{
	struct shared *s = arg;
	void *wrong;

	haul_spawn(&s->other, permit_is_sticky_and_one, s, NULL);
	WAIT_UNTIL(s->count == 1);
	haul_cancel(s->other);
	haul_join(s->other, &wrong, HAUL_FOREVER);
	return wrong;
}

START_TEST(permits_before_the_park_count_as_one)
{
	struct haul_runtime *rt = runtime_start(1);

	ck_assert_pstr_eq(run_on(rt, 0, sees_one_permit, &(struct shared){0}), NULL);
	runtime_stop(rt);
}
END_TEST

static void *parker(void *arg)
{
	struct shared *s = arg;

	while (haul_park(HAUL_FOREVER) == 0)
		s->count++;
	return s;
}

static void *wakes_a_neighbour(void *arg)
{
	struct shared *s = arg;

	haul_spawn(&s->other, parker, s, NULL);
	haul_yield();
	for (int i = 1; i <= 1000; i++) {
		haul_unpark(s->other);
		haul_unpark(s->other);
		WAIT_UNTIL(s->count == i);
	}
	haul_cancel(s->other);
	haul_join(s->other, NULL, HAUL_FOREVER);
	return s->count == 1000 ? NULL : "woken too often";
}

START_TEST(neighbour_is_woken_once_per_unpark)
{
	struct haul_runtime *rt = runtime_start(1);

	ck_assert_pstr_eq(run_on(rt, 0, wakes_a_neighbour, &(struct shared){0}), NULL);
	runtime_stop(rt);
}
END_TEST

static void *ping(void *arg)
{
	struct shared *s = arg;

	for (int i = 0; i < 1000; i++) {
		haul_unpark(s->other);
		if (haul_park(HAUL_FOREVER) != 0)
			return "cancelled";
	}
	return NULL;
}

static void *pong(void *arg)
{
	struct haul_coro *pinger = arg;

	for (int i = 0; i < 1000; i++) {
		if (haul_park(HAUL_FOREVER) != 0)
			return "cancelled";
		haul_unpark(pinger);
	}
	return NULL;
}

static void *ping_pong(void *arg)
{
	struct shared *s = arg;
	void *wrong;

	haul_spawn_on(s->carrier, &s->other, pong, haul_self(), NULL);
	if (ping(s))
		return "ping was cancelled";
	haul_join(s->other, &wrong, HAUL_FOREVER);
	return wrong;
}

/* _i 0: on one carrier; 1: across two carriers. */
START_TEST(thousand_ping_pongs)
{
	struct haul_runtime *rt = runtime_start(2);
	struct shared s = {.carrier = haul_carrier(rt, (unsigned)_i)};

	ck_assert_pstr_eq(run_on(rt, 0, ping_pong, &s), NULL);
	runtime_stop(rt);
}
END_TEST

static void *waits_once(void *arg)
{
	struct shared *s = arg;

	if (haul_park(HAUL_FOREVER) == 0)
		s->count++;
	return NULL;
}

static void *fans_out(void *arg)
{
	static struct haul_coro *waiters[256];
	struct shared *s = arg;

	for (int i = 0; i < 256; i++)
		haul_spawn(&waiters[i], waits_once, s, NULL);
	haul_yield();
	for (int i = 0; i < 256; i++)
		haul_unpark(waiters[i]);
	for (int i = 0; i < 256; i++)
		haul_join(waiters[i], NULL, HAUL_FOREVER);
	return s->count == 256 ? NULL : "not all were woken";
}

START_TEST(one_wakes_256)
{
	struct haul_runtime *rt = runtime_start(1);

	ck_assert_pstr_eq(run_on(rt, 0, fans_out, &(struct shared){0}), NULL);
	runtime_stop(rt);
}
END_TEST

static void *logs(void *arg)
{
	struct shared *s = arg;
	int me = s->count++;

	for (int turn = 0; turn < 3; turn++) {
		s->order[100 * turn + me]++;
		for (int before = 0; before < me; before++)
			if (s->order[100 * turn + before] != 1)
				return "out of order";
		haul_yield();
	}
	return NULL;
}

static void *spawns_in_order(void *arg)
{
	struct haul_coro *co[100];
	void *wrong = NULL, *any = NULL;

	for (int i = 0; i < 100; i++)
		haul_spawn(&co[i], logs, arg, NULL);
	for (int i = 0; i < 100; i++) {
		haul_join(co[i], &wrong, HAUL_FOREVER);
		any = wrong ? wrong : any;
	}
	return any;
}

START_TEST(coroutines_start_and_yield_in_order)
{
	struct haul_runtime *rt = runtime_start(1);

	ck_assert_pstr_eq(run_on(rt, 0, spawns_in_order, &(struct shared){0}), NULL);
	runtime_stop(rt);
}
END_TEST

static void *sleeps(void *arg)
{
	uint64_t ns = (uintptr_t)arg;
	uint64_t before = haul_now();

	if (haul_sleep(ns) != 0)
		return "cancelled";
	return haul_now() - before >= ns ? NULL : "woke too early";
}

START_TEST(sleep_lasts_at_least_so_long)
{
	struct haul_runtime *rt = runtime_start(1);

	for (uintptr_t ns = 0; ns < 3 * HAUL_MS; ns = 2 * ns + 1)
		ck_assert_pstr_eq(run_on(rt, 0, sleeps, (void *)ns), NULL);
	runtime_stop(rt);
}
END_TEST

static void *sleeps_until_cancelled(void *arg)
{
	return haul_sleep((uintptr_t)arg) == -ECANCELED ? NULL : "the sleep ended by itself";
}

/* Deadlines that a word of ticks, or of nanoseconds, does not hold. */
static void *sleeps_too_long(void *arg)
{
	struct haul_coro *co;
	void *wrong = NULL;

	for (uintptr_t part = 1; part < 12 && !wrong; part++) {
		uintptr_t ns = HAUL_FOREVER / part - 1;

		haul_spawn(&co, sleeps_until_cancelled, (void *)ns, NULL);
		haul_sleep(100 * HAUL_US);
		haul_cancel(co);
		haul_join(co, &wrong, HAUL_FOREVER);
	}
	return wrong;
}

START_TEST(a_sleep_beyond_the_clock_does_not_wrap)
{
	struct haul_runtime *rt = runtime_start(1);

	ck_assert_pstr_eq(run_on(rt, 0, sleeps_too_long, NULL), NULL);
	runtime_stop(rt);
}
END_TEST

#define CROWD 1000 /* more sleepers than one round wakes */

static void *sleeps_until(void *arg)
{
	uint64_t until = *(uint64_t *)arg, now = haul_now();

	if (now < until && haul_sleep(until - now) != 0)
		return "cancelled";
	return haul_now() >= until ? NULL : "woke too early";
}

static void *crowd_of_sleepers(void *arg)
{
	static struct haul_coro *co[CROWD];
	uint64_t until = haul_now() + 5 * HAUL_MS;
	void *wrong = NULL, *each;

	for (int i = 0; i < CROWD; i++)
		haul_spawn(&co[i], sleeps_until, &until, NULL);
	for (int i = 0; i < CROWD; i++) {
		haul_join(co[i], &each, HAUL_FOREVER);
		wrong = wrong ? wrong : each;
	}
	return wrong;
}

START_TEST(a_crowd_of_sleepers_wakes)
{
	struct haul_runtime *rt = runtime_start(1);

	ck_assert_pstr_eq(run_on(rt, 0, crowd_of_sleepers, NULL), NULL);
	runtime_stop(rt);
}
END_TEST

static void *yields_for_ever(void *arg)
{
	while (!haul_cancelled())
		haul_yield();
	return NULL;
}

START_TEST(endless_yielder_does_not_starve_a_sleeper)
{
	struct haul_runtime *rt = runtime_start(1);
	struct haul_coro *co;

	ck_assert_int_eq(haul_spawn_any(rt, &co, yields_for_ever, NULL, NULL), 0);
	ck_assert_pstr_eq(run_on(rt, 0, sleeps, (void *)(uintptr_t)HAUL_MS), NULL);
	haul_cancel(co);
	haul_join(co, NULL, HAUL_FOREVER);
	runtime_stop(rt);
}
END_TEST

static void *cancelled_everywhere(void *arg)
{
	if (haul_park(HAUL_FOREVER) != -ECANCELED)
		return "park";
	if (haul_park(HAUL_FOREVER) != -ECANCELED)
		return "a later park";
	if (haul_sleep(HAUL_FOREVER) != -ECANCELED)
		return "a later sleep";
	return haul_cancelled() ? NULL : "haul_cancelled()";
}

static void *sleeps_for_ever(void *arg)
{
	return haul_sleep(HAUL_FOREVER) == -ECANCELED ? NULL : "sleep";
}

static void *cancels(void *arg)
{
	haul_fn *const bodies[] = {cancelled_everywhere, sleeps_for_ever};
	struct haul_coro *co;
	void *wrong = NULL;

	for (int late = 0; late < 2; late++)
		for (int i = 0; i < 2 && !wrong; i++) {
			haul_spawn_on(arg, &co, bodies[i], NULL, NULL);
			if (late)
				haul_sleep(HAUL_MS); /* it waits by now, as a rule */
			haul_cancel(co);
			haul_join(co, &wrong, HAUL_FOREVER);
		}
	return wrong;
}

/* _i 0: the target is on the canceller's carrier; 1: on the other one. */
START_TEST(cancel_ends_waits_now_and_later)
{
	struct haul_runtime *rt = runtime_start(2);

	ck_assert_pstr_eq(run_on(rt, 0, cancels, haul_carrier(rt, (unsigned)_i)), NULL);
	runtime_stop(rt);
}
END_TEST

static void *returns_arg(void *arg)
{
	return arg;
}

static void *joins_both_ways(void *arg)
{
	struct haul_coro *co;
	void *result = NULL;

	if (haul_join(haul_self(), NULL, HAUL_FOREVER) != -EDEADLK)
		return "joined itself";
	for (int late = 0; late < 2; late++) {
		haul_spawn_on(arg, &co, returns_arg, &co, NULL);
		if (late)
			haul_sleep(HAUL_MS); /* it has ended by now, as a rule */
		haul_join(co, &result, HAUL_FOREVER);
		if (result != &co)
			return "lost the result";
	}
	return NULL;
}

START_TEST(join_gives_the_result_early_and_late)
{
	struct haul_runtime *rt = runtime_start(2);

	ck_assert_pstr_eq(run_on(rt, 0, joins_both_ways, haul_carrier(rt, (unsigned)_i)), NULL);
	runtime_stop(rt);
}
END_TEST

static void *detaches(void *arg)
{
	struct haul_coro *co;

	for (int i = 0; i < 2000; i++) {
		haul_spawn_on(arg, &co, returns_arg, NULL, NULL);
		if (i % 2)
			haul_yield();
		haul_detach(co);
	}
	return NULL;
}

/* Each slot is returned: else haul_stop() would list coroutines, or the arena would grow. */
START_TEST(detached_is_freed_at_its_end)
{
	struct haul_runtime *rt = runtime_start(2);
	struct haul_carrier_stats st;

	run_on(rt, 0, detaches, haul_carrier(rt, (unsigned)_i));
	do
		haul_carrier_get_stats(haul_carrier(rt, (unsigned)_i), &st);
	while (st.ended < 2000);
	runtime_stop(rt);
}
END_TEST

static struct haul_coro *_Atomic target;

static void *cancels_the_target(void *arg)
{
	struct haul_coro *co;

	while (!(co = target))
		sched_yield();
	haul_cancel(co);
	target = NULL;
	return NULL;
}

static void *naps(void *arg)
{
	return haul_sleep(HAUL_US) == 0 ? NULL : "cancelled in the place of another one";
}

/* Its home handles the cancel only after the target is joined and its slot is requested again. */
static void *outruns_a_cancel(void *arg)
{
	struct haul_coro *co;
	void *wrong;

	haul_spawn(&co, returns_arg, NULL, NULL);
	haul_yield();
	target = co;
	while (target)
		sched_yield();
	haul_join(co, NULL, HAUL_FOREVER);
	haul_spawn(&co, naps, NULL, NULL);
	haul_join(co, &wrong, HAUL_FOREVER);
	return wrong;
}

START_TEST(a_late_cancel_does_not_hit_the_next_one)
{
	struct haul_runtime *rt = runtime_start(1);

	for (int i = 0; i < 10; i++) {
		pthread_t canceller;

		target = NULL;
		ck_assert_int_eq(pthread_create(&canceller, NULL, cancels_the_target, NULL), 0);
		ck_assert_pstr_eq(run_on(rt, 0, outruns_a_cancel, NULL), NULL);
		pthread_join(canceller, NULL);
	}
	runtime_stop(rt);
}
END_TEST

START_TEST(stack_size_beyond_all_classes_is_refused)
{
	struct haul_runtime *rt = runtime_start(1);
	struct haul_coro_opts opts = {.stack_size = SIZE_MAX / 2};

	ck_assert_int_eq(haul_spawn_any(rt, NULL, returns_arg, NULL, &opts), -EINVAL);
	runtime_stop(rt);
}
END_TEST

SUITE_MAIN("wait", {permits_before_the_park_count_as_one, 1},
	{neighbour_is_woken_once_per_unpark, 1}, {thousand_ping_pongs, 2}, {one_wakes_256, 1},
	{coroutines_start_and_yield_in_order, 1}, {sleep_lasts_at_least_so_long, 1},
	{a_sleep_beyond_the_clock_does_not_wrap, 1}, {a_crowd_of_sleepers_wakes, 1},
	{endless_yielder_does_not_starve_a_sleeper, 1}, {cancel_ends_waits_now_and_later, 2},
	{join_gives_the_result_early_and_late, 2}, {detached_is_freed_at_its_end, 2},
	{a_late_cancel_does_not_hit_the_next_one, 1}, {stack_size_beyond_all_classes_is_refused, 1})
