/* SPDX-License-Identifier: BSD-3-Clause */
/* haul_maybe_yield() in a long computation: others have their turn. */
#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "sched/state/carrier.h"
#include "sched/steal/stolen.h"
#include "sched/wait/suspend.h"
#include "support/runtime.h"
#include "support/suite.h"
#include "support/timeline_check.h"

static struct haul_runtime *rt;
static atomic_bool done;
static atomic_uint others; /* that have run */
static struct haul_coro *computing;
static unsigned trace_events; /* 0: no timeline */

static void start(unsigned carriers, uint64_t poll_interval_ns, enum haul_steal steal)
{
	const struct haul_plan_opts opts = {.carriers = carriers};
	struct haul_plan *plan;
	char why[256];

	ck_assert_int_eq(haul_plan_create(&plan, &opts, why, sizeof(why)), 0);
	ck_assert_int_eq(haul_start(&rt,
				 &(struct haul_runtime_opts){.plan = plan,
					 .poll_interval_ns = poll_interval_ns,
					 .steal = steal,
					 .trace_events = trace_events},
				 NULL, 0),
		0);
	haul_plan_destroy(plan);
	done = false;
	others = 0;
}

static void *sets_done(void *arg)
{
	others++;
	done = true;
	return arg;
}

static void *computes_until_done(void *arg)
{
	while (!done)
		ASSERT_EACH(haul_maybe_yield(false));
	return arg;
}

static void *spawns_and_computes(void *arg)
{
	ASSERT_EACH(haul_spawn(NULL, sets_done, NULL, NULL) == 0);
	return computes_until_done(arg);
}

START_TEST(a_ready_coroutine_has_its_turn)
{
	start(1, 0, runtime_steal_setting());
	run_on(rt, 0, spawns_and_computes, NULL);
	ck_assert_uint_eq(others, 1);
	runtime_stop(rt);
}
END_TEST

START_TEST(so_has_one_that_another_thread_spawns)
{
	struct haul_coro *co;

	start(1, 0, runtime_steal_setting());
	ck_assert_int_eq(
		haul_spawn_on(haul_carrier(rt, 0), &co, computes_until_done, NULL, NULL), 0);
	run_on(rt, 0, sets_done, NULL);
	ck_assert_int_eq(haul_join(co, NULL, HAUL_FOREVER), 0);
	runtime_stop(rt);
}
END_TEST

static void *sleeps(void *arg)
{
	haul_sleep(HAUL_MS); /* a timer */
	return sets_done(arg);
}

static void *spawns_a_sleeper_and_computes(void *arg)
{
	ASSERT_EACH(haul_spawn(NULL, sleeps, NULL, NULL) == 0);
	haul_yield();
	return computes_until_done(arg);
}

START_TEST(so_has_a_timer)
{
	start(1, 0, runtime_steal_setting());
	run_on(rt, 0, spawns_a_sleeper_and_computes, NULL);
	runtime_stop(rt);
}
END_TEST

static void *polls(void *arg)
{
	unsigned cycles = 0;

	while (haul_maybe_yield(false))
		if (++cycles == 10)
			done = true;
	return arg;
}

static void *registers_and_computes(void *arg)
{
	struct haul_coro *poller;

	ASSERT_EACH(haul_poller_register(haul_carrier_self(), &poller, polls, NULL, NULL) == 0);
	computes_until_done(NULL);
	haul_cancel(poller);
	haul_join(poller, NULL, HAUL_FOREVER);
	return arg;
}

START_TEST(so_has_the_poller)
{
	start(1, 0, runtime_steal_setting());
	run_on(rt, 0, registers_and_computes, NULL);
	runtime_stop(rt);
}
END_TEST

static void *computes_until_cancelled(void *arg)
{
	while (haul_maybe_yield(true))
		;
	ck_assert_int_eq(haul_sleep(1), -ECANCELED);
	return arg;
}

static void *cancels(void *arg)
{
	haul_cancel(computing);
	return arg;
}

START_TEST(a_cancel_ends_a_computation)
{
	start(1, 0, runtime_steal_setting());
	ck_assert_int_eq(haul_spawn_on(haul_carrier(rt, 0), &computing, computes_until_cancelled,
				 NULL, NULL),
		0);
	run_on(rt, 0, cancels, NULL);
	ck_assert_int_eq(haul_join(computing, NULL, HAUL_FOREVER), 0);
	/* So does a stop. */
	ck_assert_int_eq(
		haul_spawn_on(haul_carrier(rt, 0), NULL, computes_until_cancelled, NULL, NULL), 0);
	runtime_stop(rt);
}
END_TEST

static void *spawns_and_offers(void *arg)
{
	ASSERT_EACH(haul_spawn(NULL, sets_done, NULL, NULL) == 0);
	for (int i = 0; i < 1000; i++)
		ASSERT_EACH(haul_maybe_yield(false));
	return others == 0 ? arg : NULL;
}

START_TEST(a_short_computation_keeps_its_carrier)
{
	start(1, 3600 * HAUL_S, HAUL_STEAL_OFF);
	ck_assert_ptr_eq(run_on(rt, 0, spawns_and_offers, rt), rt);
	runtime_stop(rt);
	ck_assert_uint_eq(others, 1);
}
END_TEST

#define CROWD 50

static void *computes_for_a_while(void *arg)
{
	const uint64_t end = haul_now() + HAUL_MS;

	while (haul_now() < end)
		ASSERT_EACH(haul_maybe_yield(false));
	others++;
	return arg;
}

static void *spawns_a_crowd(void *arg)
{
	struct haul_coro *cos[CROWD];

	for (int i = 0; i < CROWD; i++)
		ASSERT_EACH(haul_spawn(&cos[i], computes_for_a_while, NULL, NULL) == 0);
	for (int i = 0; i < CROWD; i++)
		ASSERT_EACH(haul_join(cos[i], NULL, HAUL_FOREVER) == 0);
	return arg;
}

START_TEST(stolen_ones_offer_too)
{
	start(4, 0, HAUL_STEALING ? HAUL_STEAL_GLOBAL : HAUL_STEAL_OFF);
	run_on(rt, 0, spawns_a_crowd, NULL);
	runtime_stop(rt);
	ck_assert_uint_eq(others, CROWD);
}
END_TEST

static void *comes_home(void *arg)
{
	struct haul_carrier *c = haul_carrier_self();

	hauli_stolen_mark(c->current);
	hauli_ring_close(&c->runq.ring);
	hauli_stolen_go_home(c, c->current, HAULI_BACK_OVER);
	return haul_self();
}

/* As one that yields on a thief before its time is over. */
START_TEST(a_timeline_tells_that_a_long_one_is_home)
{
	struct timeline_file *f;
	unsigned ready = 0;
	void *co;

	if (!HAUL_STEALING)
		return;
	trace_events = 1 << 12;
	start(2, 0, HAUL_STEAL_GLOBAL);
	trace_events = 0;
	ck_assert_int_eq(haul_carrier_set_stealing(haul_carrier(rt, 1), false), 0);
	co = run_on(rt, 0, comes_home, NULL);
	f = timeline_take();
	for (uint64_t i = 0; i < f->rings[0].n; i++) {
		const struct timeline_event *e = &f->rings[0].events[i];

		ready += e->kind == HAUL_TRACE_READY && e->value == (uintptr_t)co;
	}
	ck_assert_uint_eq(ready, 1);
	timeline_close(f);
	runtime_stop(rt);
}
END_TEST

#define INTERVAL (200 * HAUL_MS) /* longer than a busy machine takes a CPU away */

static void *holds_its_carrier(void *arg)
{
	for (uint64_t end = haul_now() + INTERVAL; haul_now() < end;)
		;
	return arg;
}

static void *offers_once(void *arg)
{
	ASSERT_EACH(haul_maybe_yield(false));
	others++;
	return arg;
}

static void *spawns_behind_a_long_one(void *arg)
{
	struct haul_coro *co[3];

	ASSERT_EACH(haul_spawn(&co[0], holds_its_carrier, NULL, NULL) == 0);
	ASSERT_EACH(haul_spawn(&co[1], offers_once, NULL, NULL) == 0);
	ASSERT_EACH(haul_spawn(&co[2], offers_once, NULL, NULL) == 0);
	for (unsigned i = 0; i < 3; i++)
		ASSERT_EACH(haul_join(co[i], NULL, HAUL_FOREVER) == 0);
	return hauli_u64_owned_get(&haul_carrier_self()->runq.longs.tail) == 0 ? arg : NULL;
}

/* The time that the batch has lasted is not its own. */
START_TEST(one_behind_a_long_one_is_not_long)
{
	start(1, INTERVAL, runtime_steal_setting());
	ck_assert_ptr_eq(run_on(rt, 0, spawns_behind_a_long_one, rt), rt);
	runtime_stop(rt);
	ck_assert_uint_eq(others, 2);
}
END_TEST

#define HOGS 8
#define SLICES 20u /* of each hog, before the others' waits count */

static struct {
	unsigned slices[HOGS], since; /* of hogs, since another coroutine ran */
	unsigned waits, longer; /* of that: for a slice, for more */
	unsigned last; /* that began a slice */
} hogs;

static void hog_runs(unsigned i)
{
	if (hogs.last == i)
		return;
	hogs.last = i;
	hogs.slices[i]++;
	hogs.since++;
}

static void *hogs_until_done(void *arg)
{
	unsigned i = (unsigned)(uintptr_t)arg;

	while (!done) {
		hog_runs(i);
		ASSERT_EACH(haul_maybe_yield(false));
	}
	return NULL;
}

static bool all_have_run(unsigned n)
{
	for (unsigned i = 0; i < HOGS; i++)
		if (hogs.slices[i] < n)
			return false;
	return true;
}

static void *yields_beside_hogs(void *arg)
{
	struct haul_coro *co[HOGS];

	for (uintptr_t i = 0; i < HOGS; i++)
		ASSERT_EACH(haul_spawn(&co[i], hogs_until_done, (void *)i, NULL) == 0);
	while (!all_have_run(2 * SLICES)) {
		hogs.last = HOGS;
		hogs.since = 0;
		haul_yield();
		if (all_have_run(SLICES)) {
			hogs.waits += hogs.since > 0;
			hogs.longer += hogs.since > 1;
		}
	}
	done = true;
	for (unsigned i = 0; i < HOGS; i++)
		ASSERT_EACH(haul_join(co[i], NULL, HAUL_FOREVER) == 0);
	return arg;
}

/* Also in turn: each of them goes on. If the machine takes the CPU away as a slice begins, its
 * coroutine is taken for one that others have made late. */
START_TEST(others_wait_for_one_that_computes)
{
	memset(&hogs, 0, sizeof(hogs));
	start(1, 0, runtime_steal_setting());
	run_on(rt, 0, yields_beside_hogs, NULL);
	runtime_stop(rt);
	ck_assert_uint_gt(hogs.waits, HOGS * SLICES / 2);
	ck_assert_uint_le(hogs.longer, hogs.waits / 10);
}
END_TEST

SUITE_MAIN("offer", {a_ready_coroutine_has_its_turn, 1}, {so_has_one_that_another_thread_spawns, 1},
	{so_has_a_timer, 1}, {so_has_the_poller, 1}, {a_cancel_ends_a_computation, 1},
	{a_short_computation_keeps_its_carrier, 1}, {stolen_ones_offer_too, 1},
	{a_timeline_tells_that_a_long_one_is_home, 1}, {one_behind_a_long_one_is_not_long, 1},
	{others_wait_for_one_that_computes, 1})
