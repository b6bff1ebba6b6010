/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stealing: a coroutine queued behind a hog runs elsewhere, for one slice, and returns home after
 * it. Hogs spin on a word that only the coroutines queued behind them set.
 */
#include <errno.h>
#include <stdatomic.h>

#include <haul/driver.h>

#include "support/evpoller.h"
#include "support/runtime.h"
#include "support/suite.h"

static atomic_uint done; /* hogs wait for this count */

static unsigned here(void)
{
	return haul_carrier_id(haul_carrier_self());
}

static unsigned home(void)
{
	return haul_carrier_id(haul_coro_home(haul_self()));
}

static void spin_until(unsigned n)
{
	while (done < n)
		sched_yield(); /* there are more carriers than CPUs */
}

/* Spawns fn, and does not yield until fn has run. */
struct hog {
	haul_fn *fn;
	const struct haul_coro_opts *opts;
	unsigned until;
	struct haul_coro *child;
};

static void *hog(void *arg)
{
	struct hog *h = arg;

	ck_assert_int_eq(haul_spawn(&h->child, h->fn, h, h->opts), 0);
	spin_until(h->until);
	return NULL;
}

static void run_pinned(struct haul_runtime *rt, unsigned i, haul_fn *fn, void *arg)
{
	const struct haul_coro_opts pinned = {.pinned = true};
	struct haul_coro *co;

	ck_assert_int_eq(haul_spawn_on(haul_carrier(rt, i), &co, fn, arg, &pinned), 0);
	ck_assert_int_eq(haul_join(co, NULL, HAUL_FOREVER), 0);
}

static uint64_t stolen(struct haul_runtime *rt)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < haul_carriers(rt); i++) {
		struct haul_carrier_stats st;

		haul_carrier_get_stats(haul_carrier(rt, i), &st);
		sum += st.stolen;
	}
	return sum;
}

static void *grandchild(void *arg)
{
	*(unsigned *)arg = here();
	return NULL;
}

static void *one_remote_slice(void *arg)
{
	struct haul_coro *child;
	unsigned where = 99;
	void *back = haul_self();
	struct haul_carrier_stats st;
	uint64_t parks;

	ck_assert_uint_eq(here(), 1);
	ck_assert_uint_eq(home(), 0);
	ck_assert_int_eq(haul_spawn(&child, grandchild, &where, NULL), 0);
	ck_assert_ptr_eq(haul_coro_home(child), haul_coro_home(haul_self()));
	haul_carrier_get_stats(haul_coro_home(haul_self()), &st);
	parks = st.parks;
	done = 1;
	/* Waits until its home is asleep, else it might be stolen there again. */
	while (st.parks == parks)
		haul_carrier_get_stats(haul_coro_home(haul_self()), &st);
	haul_yield();
	ck_assert_uint_eq(here(), 0);
	ck_assert_int_eq(haul_join(child, NULL, HAUL_FOREVER), 0);
	ck_assert_uint_eq(where, 0);
	return back;
}

START_TEST(stolen_for_one_slice_and_back)
{
	struct haul_runtime *rt = runtime_start_stealing(2, NULL, HAUL_STEAL_CLUSTER);
	const struct haul_coro_opts pinned = {.pinned = true};
	struct hog h = {.fn = one_remote_slice, .until = 1};
	struct haul_coro *co;
	void *result;

	done = 0;
	ck_assert_int_eq(haul_spawn_on(haul_carrier(rt, 0), &co, hog, &h, &pinned), 0);
	WAIT_UNTIL(done);
	haul_detach(co);
	ck_assert_int_eq(haul_join(h.child, &result, HAUL_FOREVER), 0);
	ck_assert_ptr_eq(result, h.child);
	ck_assert_uint_ge(stolen(rt), 1);
	runtime_stop(rt);
}
END_TEST

/* Each way to end a slice elsewhere. At home it may be stolen again. */
static void *sleeps(void *arg)
{
	ck_assert_uint_eq(here(), 1);
	done = 1; /* and this is the way */
	ck_assert_int_eq(haul_sleep(HAUL_MS), 0);
	return arg;
}

static void *parks(void *arg)
{
	ck_assert_uint_eq(here(), 1);
	done = 1;
	ck_assert_int_eq(haul_park(HAUL_FOREVER), 0);
	return arg;
}

static void *waits_for_a_child(void *arg)
{
	struct haul_coro *child;
	unsigned where = 99;

	ck_assert_uint_eq(here(), 1);
	ck_assert_int_eq(haul_spawn_on(haul_carrier_self(), &child, grandchild, &where, NULL), 0);
	done = 1;
	ck_assert_int_eq(haul_join(child, NULL, HAUL_FOREVER), 0);
	ck_assert_uint_ne(where, 99);
	return arg;
}

static void *is_cancelled(void *arg)
{
	ck_assert_uint_eq(here(), 1);
	done = 1;
	while (!haul_cancelled())
		sched_yield();
	ck_assert_int_eq(haul_park(HAUL_FOREVER), -ECANCELED);
	ck_assert_int_eq(haul_sleep(HAUL_FOREVER), -ECANCELED);
	return arg;
}

static void *ends(void *arg)
{
	ck_assert_uint_eq(here(), 1);
	done = 1;
	return arg;
}

START_TEST(each_way_home)
{
	static haul_fn *const ways[] = {sleeps, parks, waits_for_a_child, is_cancelled, ends};
	struct haul_runtime *rt = runtime_start_stealing(2, NULL, HAUL_STEAL_CLUSTER);
	struct hog h = {.fn = ways[_i], .until = 1};
	void *result;

	done = 0;
	run_pinned(rt, 0, hog, &h);
	if (ways[_i] == parks)
		haul_unpark(h.child);
	if (ways[_i] == is_cancelled)
		haul_cancel(h.child);
	ck_assert_int_eq(haul_join(h.child, &result, HAUL_FOREVER), 0);
	ck_assert_ptr_eq(result, &h);
	runtime_stop(rt);
}
END_TEST

static void *counts(void *arg)
{
	done++;
	return NULL;
}

static void *never_remote(void *arg)
{
	ck_assert_uint_eq(here(), home());
	return NULL;
}

static void *sleeper(void *arg)
{
	atomic_bool *sleeps = arg;

	*sleeps = true;
	haul_sleep(HAUL_FOREVER);
	*sleeps = false;
	return NULL;
}

/* A pinned coroutine and a sleeper are queued before a stealable one. */
static void *hog_with_pinned(void *arg)
{
	const struct haul_coro_opts pinned = {.pinned = true};
	struct haul_coro *children[3];
	atomic_bool sleeps = false;

	ck_assert_int_eq(haul_spawn(&children[0], sleeper, &sleeps, NULL), 0);
	while (!sleeps)
		haul_yield();
	ck_assert_int_eq(haul_spawn(&children[1], never_remote, NULL, &pinned), 0);
	ck_assert_int_eq(haul_spawn(&children[2], counts, NULL, NULL), 0);
	spin_until(1);
	ck_assert(sleeps);
	haul_cancel(children[0]);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(haul_join(children[i], NULL, HAUL_FOREVER), 0);
	return NULL;
}

START_TEST(pinned_coroutines_and_sleepers_stay)
{
	struct haul_runtime *rt = runtime_start_stealing(2, NULL, HAUL_STEAL_CLUSTER);
	const struct haul_coro_opts pinned = {.pinned = true};
	struct haul_coro *co;

	for (int i = 0; i < 20; i++) {
		done = 0;
		ck_assert_int_eq(
			haul_spawn_on(haul_carrier(rt, 0), &co, hog_with_pinned, NULL, &pinned), 0);
		ck_assert_int_eq(haul_join(co, NULL, HAUL_FOREVER), 0);
	}
	runtime_stop(rt);
}
END_TEST

enum idle { PARKS, SPINS, BLOCKS, WAITS };

static void *spinner(void *arg)
{
	while (haul_maybe_yield(false))
		sched_yield();
	return NULL;
}

/* A poller that waits as a coroutine. */
static void *waiter(void *arg)
{
	while (haul_maybe_yield(false))
		haul_park(HAUL_FOREVER);
	return NULL;
}

static void idle_poller(struct haul_carrier *c, enum idle how, struct evpoller *p)
{
	switch (how) {
	case PARKS:
		break;
	case SPINS:
		ck_assert_int_eq(haul_poller_register(c, NULL, spinner, NULL, NULL), 0);
		break;
	case BLOCKS:
		ck_assert_int_eq(evpoller_register(c, p, NULL), 0);
		break;
	case WAITS:
		ck_assert_int_eq(haul_poller_register(c, NULL, waiter, NULL, NULL), 0);
		break;
	}
}

/* Two carriers have a hog with one task behind it: the two idle carriers run both tasks. */
START_TEST(two_hogs_with_a_task_each)
{
	struct haul_runtime *rt = runtime_start_stealing(4, NULL, HAUL_STEAL_GLOBAL);
	struct hog h[2] = {{.fn = counts}, {.fn = counts}};
	const struct haul_coro_opts pinned = {.pinned = true};
	struct evpoller p[2] = {0};
	struct haul_coro *hogs[2];

	for (unsigned i = 0; i < 2; i++) {
		evpoller_open(&p[i]);
		idle_poller(haul_carrier(rt, 2 + i), (enum idle)_i, &p[i]);
	}
	for (unsigned turn = 0; turn < 50; turn++) {
		done = 0;
		for (unsigned i = 0; i < 2; i++) {
			h[i].until = 2;
			ck_assert_int_eq(
				haul_spawn_on(haul_carrier(rt, i), &hogs[i], hog, &h[i], &pinned),
				0);
		}
		for (unsigned i = 0; i < 2; i++) {
			ck_assert_int_eq(haul_join(hogs[i], NULL, HAUL_FOREVER), 0);
			ck_assert_int_eq(haul_join(h[i].child, NULL, HAUL_FOREVER), 0);
		}
	}
	runtime_stop(rt);
	for (unsigned i = 0; i < 2; i++)
		evpoller_close(&p[i]);
}
END_TEST

static void *spin(void *arg)
{
	atomic_uint *started = arg;

	*started = 1;
	spin_until(300);
	return NULL;
}

/* Mail sent to a carrier while a hog keeps it from its inbox. */
START_TEST(mail_behind_a_hog_is_stolen)
{
	const struct haul_coro_opts pinned = {.pinned = true};
	struct haul_runtime *rt = runtime_start_stealing(3, NULL, HAUL_STEAL_CLUSTER);
	struct haul_coro *h, *task[300];
	atomic_uint started = 0;

	done = 0;
	ck_assert_int_eq(haul_spawn_on(haul_carrier(rt, 0), &h, spin, &started, &pinned), 0);
	WAIT_UNTIL(started);
	for (unsigned i = 0; i < 300; i++)
		ck_assert_int_eq(
			haul_spawn_on(haul_carrier(rt, 0), &task[i], counts, NULL, NULL), 0);
	ck_assert_int_eq(haul_join(h, NULL, HAUL_FOREVER), 0);
	for (unsigned i = 0; i < 300; i++)
		ck_assert_int_eq(haul_join(task[i], NULL, HAUL_FOREVER), 0);
	ck_assert_uint_ge(stolen(rt), 300);
	runtime_stop(rt);
}
END_TEST

static void *two_slices(void *arg)
{
	haul_yield();
	done++;
	return NULL;
}

/* A coroutine that yields while remote returns to a home that does not drain its inbox. */
START_TEST(coroutine_returned_to_a_hog_is_stolen_again)
{
	struct haul_runtime *rt = runtime_start_stealing(3, NULL, HAUL_STEAL_CLUSTER);
	struct hog h = {.fn = two_slices, .until = 1};

	done = 0;
	run_pinned(rt, 0, hog, &h);
	ck_assert_int_eq(haul_join(h.child, NULL, HAUL_FOREVER), 0);
	runtime_stop(rt);
}
END_TEST

#define MANY 1000

static void *hog_of_many(void *arg)
{
	struct haul_coro *children[MANY];

	for (unsigned i = 0; i < MANY; i++)
		ck_assert_int_eq(haul_spawn(&children[i], counts, NULL, NULL), 0);
	spin_until(MANY);
	for (unsigned i = 0; i < MANY; i++)
		ck_assert_int_eq(haul_join(children[i], NULL, HAUL_FOREVER), 0);
	return NULL;
}

START_TEST(more_than_the_ring_holds_is_stolen)
{
	struct haul_runtime *rt = runtime_start_stealing(2, NULL, HAUL_STEAL_CLUSTER);
	const struct haul_coro_opts opts = {.stack_size = 64 * 1024, .pinned = true};
	struct haul_coro *co;

	done = 0;
	ck_assert_int_eq(haul_spawn_on(haul_carrier(rt, 0), &co, hog_of_many, NULL, &opts), 0);
	ck_assert_int_eq(haul_join(co, NULL, HAUL_FOREVER), 0);
	ck_assert_uint_ge(stolen(rt), MANY);
	runtime_stop(rt);
}
END_TEST

static void *wakes_and_spins(void *arg)
{
	haul_unpark(arg);
	spin_until(1);
	return NULL;
}

static void *parks_and_counts(void *arg)
{
	haul_park(HAUL_FOREVER);
	done = 1;
	return NULL;
}

START_TEST(coroutine_woken_by_a_hog_is_stolen)
{
	struct haul_runtime *rt = runtime_start_stealing(2, NULL, HAUL_STEAL_CLUSTER);
	struct haul_coro *sleeper;

	done = 0;
	/* Not before: one that parks elsewhere goes home by mail, which a hog does not read. */
	ck_assert_int_eq(haul_carrier_set_stealing(haul_carrier(rt, 1), false), 0);
	run_pinned(rt, 1, never_remote, NULL);
	ck_assert_int_eq(
		haul_spawn_on(haul_carrier(rt, 0), &sleeper, parks_and_counts, NULL, NULL), 0);
	run_pinned(rt, 0, never_remote, NULL); /* behind the sleeper, which has parked */
	ck_assert_int_eq(haul_carrier_set_stealing(haul_carrier(rt, 1), true), 0);
	run_pinned(rt, 0, wakes_and_spins, sleeper);
	ck_assert_int_eq(haul_join(sleeper, NULL, HAUL_FOREVER), 0);
	runtime_stop(rt);
}
END_TEST

static void *counts_when_it_begins(void *arg)
{
	atomic_uint *begun = arg;

	*begun = 1;
	spin_until(1);
	return NULL;
}

/* Waits until the first of two stolen coroutines has begun, which waits for the second one, then
 * gives up its carrier. */
static void *loses_two(void *arg)
{
	const struct haul_coro_opts opts = {.order_key = *(uint8_t *)arg};
	struct haul_coro *first, *second;
	atomic_uint begun = 0;

	ck_assert_int_eq(haul_spawn(&first, counts_when_it_begins, &begun, NULL), 0);
	ck_assert_int_eq(haul_spawn(&second, counts, NULL, &opts), 0);
	while (!begun)
		sched_yield();
	ck_assert_int_eq(haul_join(second, NULL, HAUL_FOREVER), 0);
	ck_assert_int_eq(haul_join(first, NULL, HAUL_FOREVER), 0);
	return NULL;
}

/* Without and with an order key. */
START_TEST(stolen_coroutine_behind_a_hog_is_taken_back)
{
	struct haul_runtime *rt = runtime_start_stealing(2, NULL, HAUL_STEAL_CLUSTER);
	uint8_t order = _i ? 5 : 0;

	for (int i = 0; i < 20; i++) {
		done = 0;
		run_pinned(rt, 0, loses_two, &order);
	}
	runtime_stop(rt);
}
END_TEST

#define TWO_CLUSTERS "package:2 l3:1 core:2 pu:1"

static void *counts_where(void *arg)
{
	((atomic_uint *)arg)[here()]++;
	done++;
	return NULL;
}

static void *spawns_and_spins(void *arg)
{
	struct haul_coro *co[50];

	for (int i = 0; i < 50; i++)
		ck_assert_int_eq(haul_spawn(&co[i], counts_where, arg, NULL), 0);
	spin_until(50);
	for (int i = 0; i < 50; i++)
		ck_assert_int_eq(haul_join(co[i], NULL, HAUL_FOREVER), 0);
	return NULL;
}

/* One carrier has work for all: only its own cluster helps, or all carriers if the scope is
 * global. */
START_TEST(no_theft_crosses_clusters_but_globally)
{
	struct haul_runtime *rt = runtime_start_stealing(
		4, TWO_CLUSTERS, _i ? HAUL_STEAL_GLOBAL : HAUL_STEAL_CLUSTER);
	atomic_uint where[4] = {0};
	unsigned turns = 0;

	ck_assert_uint_eq(haul_carrier_place(haul_carrier(rt, 1))->cluster, 0);
	ck_assert_uint_eq(haul_carrier_place(haul_carrier(rt, 2))->cluster, 1);
	do {
		done = 0;
		run_pinned(rt, 0, spawns_and_spins, where);
	} while (++turns < 20 || (_i && where[2] + where[3] == 0));
	ck_assert_uint_gt(where[1] + where[2] + where[3], 0);
	if (!_i)
		ck_assert_uint_eq(where[2] + where[3], 0);
	runtime_stop(rt);
}
END_TEST

START_TEST(without_l3_it_still_works)
{
	struct haul_runtime *rt =
		runtime_start_stealing(2, "package:1 core:2 pu:1", HAUL_STEAL_CLUSTER);
	struct hog h = {.fn = counts, .until = 1};

	done = 0;
	run_pinned(rt, 0, hog, &h);
	ck_assert_int_eq(haul_join(h.child, NULL, HAUL_FOREVER), 0);
	runtime_stop(rt);
}
END_TEST

static void *yields_much(void *arg)
{
	for (int i = 0; i < 2000; i++) {
		ck_assert_uint_eq(here(), home());
		haul_yield();
	}
	return NULL;
}

START_TEST(no_stealing_nothing_moves)
{
	struct haul_runtime *rt = runtime_start_stealing(3, NULL, HAUL_STEAL_OFF);
	struct haul_coro *co[60];

	for (unsigned i = 0; i < 60; i++)
		ck_assert_int_eq(
			haul_spawn_on(haul_carrier(rt, 0), &co[i], yields_much, NULL, NULL), 0);
	for (unsigned i = 0; i < 60; i++)
		ck_assert_int_eq(haul_join(co[i], NULL, HAUL_FOREVER), 0);
	ck_assert_uint_eq(stolen(rt), 0);
	runtime_stop(rt);
}
END_TEST

START_TEST(wrong_options)
{
	const struct haul_runtime_opts wrong[] = {
		{.steal = HAUL_STEAL_CLUSTER, .steal_most = 129},
		{.steal = HAUL_STEAL_CLUSTER, .searchers = 33},
		{.steal = HAUL_STEAL_CLUSTER, .steal_depth = 257},
	};
	struct haul_runtime *rt;

	for (unsigned i = 0; i < 3; i++)
		ck_assert_int_eq(haul_start(&rt, &wrong[i], NULL, 0), -EINVAL);
}
END_TEST

static void *pins_and_unpins(void *arg)
{
	haul_pin();
	haul_unpin();
	*(unsigned *)arg = here();
	haul_yield(); /* until the hog is gone */
	*(unsigned *)arg += here();
	return counts(arg);
}

static void *hog_behind_pinned(void *arg)
{
	struct hog h = {.fn = counts, .until = 1};
	struct haul_coro *co;
	unsigned where = 99;

	haul_spawn(&co, pins_and_unpins, &where, &(struct haul_coro_opts){.pinned = true});
	WAIT_UNTIL(where == 0);
	hog(&h);
	haul_join(h.child, NULL, HAUL_FOREVER);
	haul_join(co, NULL, HAUL_FOREVER);
	ck_assert_uint_eq(where, 0);
	return NULL;
}

START_TEST(an_unpin_does_not_undo_the_spawn)
{
	struct haul_runtime *rt = runtime_start_stealing(2, NULL, HAUL_STEAL_CLUSTER);

	done = 0;
	run_pinned(rt, 0, hog_behind_pinned, NULL);
	runtime_stop(rt);
}
END_TEST

SUITE_MAIN("steal", {stolen_for_one_slice_and_back, 1}, {each_way_home, 5},
	{pinned_coroutines_and_sleepers_stay, 1}, {two_hogs_with_a_task_each, 4},
	{mail_behind_a_hog_is_stolen, 1}, {coroutine_returned_to_a_hog_is_stolen_again, 1},
	{more_than_the_ring_holds_is_stolen, 1}, {coroutine_woken_by_a_hog_is_stolen, 1},
	{stolen_coroutine_behind_a_hog_is_taken_back, 2},
	{no_theft_crosses_clusters_but_globally, 2}, {without_l3_it_still_works, 1},
	{no_stealing_nothing_moves, 1}, {an_unpin_does_not_undo_the_spawn, 1}, {wrong_options, 1})
