/* SPDX-License-Identifier: BSD-3-Clause */
/* Coroutines that wait, as reports see them: their number, the age of a wait, the calls. */
#include <errno.h>
#include <stdatomic.h>

#include "sched/look/sites.h"
#include "sched/state/runtime.h"
#include "support/runtime.h"
#include "support/suite.h"

static atomic_int started;

static void *parks(void *arg)
{
	started++;
	return (void *)(intptr_t)haul_park(HAUL_FOREVER);
}

static void *sleeps(void *arg)
{
	started++;
	return (void *)(intptr_t)haul_sleep(HAUL_FOREVER);
}

static void *joins(void *arg)
{
	started++;
	return (void *)(intptr_t)haul_join(arg, NULL, HAUL_FOREVER);
}

static bool is_one(haul_fn *fn)
{
	return fn == parks || fn == sleeps || fn == joins;
}

static struct hauli_waits waits(struct haul_runtime *rt, unsigned carrier)
{
	struct hauli_waits all[4];

	hauli_waits_count(rt, is_one, all, haul_carriers(rt));
	return all[carrier];
}

/* The unit of the notes, and what reading two clocks one after the other may differ by. */
#define UNIT_NS (2 * HAUL_MS)

/* Waits until the only wait at carrier 0, which has begun after `before`, has some age. */
static void see_age(struct haul_runtime *rt, uint64_t before)
{
	struct hauli_waits w;

	do {
		w = waits(rt, 0);
	} while (w.n == 0 || w.longest_ns < 5 * HAUL_MS);
	ck_assert_uint_eq(w.n, 1);
	ck_assert_uint_le(w.longest_ns, haul_now() - before + UNIT_NS);
}

static haul_fn *const ways[] = {parks, sleeps, joins};

START_TEST(a_wait_has_an_age)
{
	struct haul_runtime *rt = runtime_start(2);
	uint64_t before = haul_now();
	struct haul_coro *co, *other;

	ck_assert_int_eq(haul_spawn_on(haul_carrier(rt, 1), &other, parks, NULL, NULL), 0);
	ck_assert_int_eq(haul_spawn_on(haul_carrier(rt, 0), &co, ways[_i], other, NULL), 0);
	see_age(rt, before);
	haul_unpark(other);
	haul_cancel(co);
	ck_assert_int_eq(haul_join(co, NULL, HAUL_FOREVER), 0);
	if (ways[_i] != joins)
		haul_detach(other);
	runtime_stop(rt);
}
END_TEST

/* The wait of a stolen coroutine is begun by its home, when the message comes. */
struct hog {
	haul_fn *fn;
	struct haul_coro *other, *child;
};

static void *hog(void *arg)
{
	struct hog *h = arg;
	int n = started;

	ck_assert_int_eq(haul_spawn(&h->child, h->fn, h->other, NULL), 0);
	while (started == n)
		sched_yield();
	return NULL;
}

START_TEST(a_wait_of_a_stolen_coroutine_has_an_age)
{
	struct haul_runtime *rt = runtime_start_stealing(2, NULL, HAUL_STEAL_CLUSTER);
	const struct haul_coro_opts pinned = {.pinned = true};
	struct hog h = {.fn = ways[_i]};
	uint64_t before = haul_now();
	struct haul_coro *co;

	ck_assert_int_eq(haul_spawn_on(haul_carrier(rt, 1), &h.other, parks, NULL, &pinned), 0);
	while (waits(rt, 1).n == 0)
		sched_yield();
	ck_assert_int_eq(haul_spawn_on(haul_carrier(rt, 0), &co, hog, &h, &pinned), 0);
	ck_assert_int_eq(haul_join(co, NULL, HAUL_FOREVER), 0);
	see_age(rt, before);
	haul_unpark(h.other);
	haul_cancel(h.child);
	ck_assert_int_eq(haul_join(h.child, NULL, HAUL_FOREVER), 0);
	if (ways[_i] != joins)
		haul_detach(h.other);
	runtime_stop(rt);
}
END_TEST

START_TEST(more_calls_than_there_is_room_for)
{
	struct hauli_sites all = {0}, from = {0};
	uint64_t sum = 0;

	/* Each merge brings eight call stacks that are new. */
	for (uintptr_t n = 1; n <= 3; n++) {
		for (unsigned i = 0; i < HAULI_SITES; i++)
			from.of[i] = (struct hauli_site){
				.coroutines = 2, .depth = 1, .pcs = {(void *)(100 * n + i)}};
		hauli_sites_merge(&all, &from);
	}
	hauli_sites_merge(&all, &from);
	for (unsigned i = 0; i < HAULI_SITES; i++)
		sum += all.of[i].coroutines;
	ck_assert_uint_eq(sum, 2 * HAULI_SITES);
	ck_assert_uint_eq(all.others, 3 * 2 * HAULI_SITES);
	from = all;
	hauli_sites_merge(&all, &from);
	ck_assert_uint_eq(all.of[0].coroutines, 4);
	ck_assert_uint_eq(all.others, 2 * 3 * 2 * HAULI_SITES);
}
END_TEST

SUITE_MAIN("sites", {a_wait_has_an_age, 3},
	{a_wait_of_a_stolen_coroutine_has_an_age, HAUL_STEALING ? 3 : 0},
	{more_calls_than_there_is_room_for, 1})
