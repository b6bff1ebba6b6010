/* SPDX-License-Identifier: BSD-3-Clause */
/* Coroutines for any carrier of a cluster are not left to a busy carrier. */
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

/* A poller whose carrier gets a hog at the wake-up, and finds it when it is up. */
struct victim {
	struct evpoller p;
	struct haul_carrier *carrier;
	struct hogging {
		struct haul_coro *hog;
		atomic_bool wanted; /* taken away by its spawner */
		atomic_uint runs; /* of what the hog waits for */
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

/* A sleeping carrier is woken for it and gets a hog to run, which lasts until it has run. */
START_TEST(batch_is_taken_though_who_was_woken_for_it_is_hogged)
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
		h.wanted = false; /* a carrier on its way to sleep may have taken it */
		haul_join(co, NULL);
		if (h.hog)
			haul_join(h.hog, NULL);
	}
	runtime_stop(rt);
	for (unsigned i = 0; i < CARRIERS; i++)
		evpoller_close(&victims[i].p);
}
END_TEST

SUITE_MAIN("injector", {batch_is_taken_though_who_was_woken_for_it_is_hogged, 1})
