/* SPDX-License-Identifier: BSD-3-Clause */
/* Thefts that are switched off and on: a task behind a hog waits for a thief, which rests first. */
#include <errno.h>
#include <stdatomic.h>

#include "support/runtime.h"
#include "support/suite.h"

static atomic_bool ran; /* the task */
static struct haul_coro *task;

static void *runs(void *arg)
{
	ran = true;
	return NULL;
}

static void *hogs(void *arg)
{
	EXPECT(haul_spawn(&task, runs, NULL, NULL) == 0);
	while (!ran)
		sched_yield();
	return NULL;
}

static void *nothing(void *arg)
{
	return NULL;
}

static struct haul_coro *spawn_pinned(struct haul_runtime *rt, unsigned carrier, haul_fn *fn)
{
	const struct haul_coro_opts pinned = {.pinned = true};
	struct haul_coro *co;

	ck_assert_int_eq(haul_spawn_on(haul_carrier(rt, carrier), &co, fn, NULL, &pinned), 0);
	return co;
}

START_TEST(a_carrier_that_rests_takes_nothing)
{
	struct haul_runtime *rt = runtime_start_stealing(2, NULL, HAUL_STEAL_GLOBAL);
	struct haul_carrier *thief = haul_carrier(rt, 1);
	struct haul_carrier_stats st;

	for (unsigned i = 1; i <= 20; i++) {
		uint64_t until;
		struct haul_coro *hog;

		ran = false;
		ck_assert_int_eq(haul_carrier_set_stealing(thief, false), 0);
		/* behind the message that tells it */
		ck_assert_int_eq(haul_join(spawn_pinned(rt, 1, nothing), NULL, HAUL_FOREVER), 0);
		hog = spawn_pinned(rt, 0, hogs);
		until = haul_in(HAUL_MS);
		while (haul_now() < until) /* it falls asleep again and again */
			ck_assert_int_eq(
				haul_join(spawn_pinned(rt, 1, nothing), NULL, HAUL_FOREVER), 0);
		ck_assert(!ran);
		ck_assert_int_eq(haul_carrier_set_stealing(thief, true), 0);
		ck_assert_int_eq(haul_join(hog, NULL, HAUL_FOREVER), 0);
		ck_assert_int_eq(haul_join(task, NULL, HAUL_FOREVER), 0);
		haul_carrier_get_stats(thief, &st);
		ck_assert_uint_ge(st.stolen, i);
	}
	runtime_stop(rt);
}
END_TEST

START_TEST(carriers_that_do_not_steal)
{
	struct haul_runtime *rt = runtime_start_stealing(2, NULL, HAUL_STEAL_OFF);

	ck_assert_int_eq(haul_carrier_set_stealing(haul_carrier(rt, 1), true), -ENOTSUP);
	runtime_stop(rt);
}
END_TEST

SUITE_MAIN("steal_rest", {a_carrier_that_rests_takes_nothing, 1}, {carriers_that_do_not_steal, 1})
