/* SPDX-License-Identifier: BSD-3-Clause */
/* A busy carrier does not hold up coroutines that any carrier of the cluster may run. */
#include <stdatomic.h>

#include <haul/driver.h>

#include "support/evpoller.h"
#include "support/runtime.h"
#include "support/suite.h"

#define CARRIERS 4

static void *counts(void *arg)
{
	atomic_uint *runs = arg;

	(*runs)++;
	return NULL;
}

/* A poller whose carrier receives a hog with the wake-up, and finds it once awake. */
struct victim {
	struct evpoller p;
	struct haul_carrier *carrier;
	struct hogging {
		struct haul_coro *hog;
		atomic_bool wanted; /* cleared by its spawner */
		atomic_uint runs; /* of the tasks for which the hog waits */
	} * hogging;
};

static void *hog_until_it_has_run(void *arg)
{
	struct hogging *h = arg;

	while (h->runs == 0)
		sched_yield();
	return NULL;
}

static void wake_with_a_hog(void *arg)
{
	const struct haul_coro_opts opts = {.pinned = true};
	struct victim *v = arg;
	struct hogging *h = v->hogging;

	if (atomic_exchange(&h->wanted, false))
		ck_assert_int_eq(
			haul_spawn_on(v->carrier, &h->hog, hog_until_it_has_run, h, &opts), 0);
	evpoller_wakeup(&v->p);
}

/* A sleeping carrier is woken for the bulk and receives a hog, which runs until the bulk has
 * run. */
START_TEST(bulk_is_taken_though_the_woken_carrier_gets_a_hog)
{
	struct haul_poller_opts opts = {.wakeup = wake_with_a_hog};
	struct haul_runtime *rt = runtime_start(CARRIERS);
	struct victim victims[CARRIERS];
	struct hogging h = {0};

	for (unsigned i = 0; i < CARRIERS; i++) {
		struct victim *v = &victims[i];

		*v = (struct victim){.carrier = haul_carrier(rt, i), .hogging = &h};
		evpoller_open(&v->p);
		ck_assert_int_eq(haul_poller_register(v->carrier, NULL, evpoller_run, v, &opts), 0);
	}
	for (unsigned turns = 0; turns < 50; turns += h.hog != NULL) {
		void *args[] = {&h.runs};
		struct haul_coro *co;

		for (unsigned i = 0; i < CARRIERS; i++)
			WAIT_UNTIL(victims[i].p.blocked);
		h.runs = 0;
		h.hog = NULL;
		h.wanted = true;
		ck_assert_int_eq(haul_spawn_many(rt, &co, counts, args, 1, NULL), 0);
		h.wanted = false; /* a carrier on its way to sleep may have taken the bulk */
		haul_join(co, NULL, HAUL_FOREVER);
		if (h.hog)
			haul_join(h.hog, NULL, HAUL_FOREVER);
	}
	runtime_stop(rt);
	for (unsigned i = 0; i < CARRIERS; i++)
		evpoller_close(&victims[i].p);
}
END_TEST

SUITE_MAIN("injector", {bulk_is_taken_though_the_woken_carrier_gets_a_hog, 1})
