/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Offloaded calls under everything that ends their wait in the queue: deadlines, cancels, scopes,
 * the stop; with stealing, and while the limits of the pool change. Each call is made once if
 * haul_offload() returns 0, and not at all otherwise; what is on the caller's stack is used by the
 * call only. Rounds of a runtime each: threads of the pool end at its stop, and begin anew.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "support/hang.h"
#include "support/runtime.h"
#include "support/stress.h"
#include "support/suite.h"

#define CARRIERS 3
#define CALLERS 24
#define ROUND_NS (100 * HAUL_MS)

static struct {
	struct haul_runtime *rt;
	atomic_ulong made, returned[4]; /* 0, -ETIMEDOUT, -ECANCELED, others */
	atomic_bool ends;
} s;

struct work {
	uint64_t token; /* of the caller, for the call */
	uint64_t answer;
	unsigned times;
	unsigned us; /* how long it takes */
};

static void works(void *arg)
{
	struct work *w = arg;

	if (w->us > 0) /* a call that blocks */
		nanosleep(&(struct timespec){.tv_nsec = (long)w->us * 1000}, NULL);
	w->times++;
	w->answer = ~w->token;
	s.made++;
}

static uint64_t draw_deadline(struct hauli_random *r)
{
	unsigned kind = hauli_random_below(r, 6);

	if (kind < 2)
		return HAUL_FOREVER;
	return kind == 2 ? 0 : haul_in(hauli_random_below(r, 100) * HAUL_US);
}

static const char *offloads(struct hauli_random *r, uint64_t deadline)
{
	struct work w = {.token = hauli_random_next(r)};
	int err;

	w.us = hauli_random_below(r, 4) ? 0 : hauli_random_below(r, 100);
	err = haul_offload(works, &w, deadline);
	EXPECT(err == 0 ? w.times == 1 && w.answer == ~w.token : w.times == 0);
	EXPECT(err == 0 || err == -EAGAIN || err == -ENOBUFS || err == -ETIMEDOUT ||
		err == -ECANCELED);
	s.returned[err == 0 ? 0 : err == -ETIMEDOUT ? 1 : err == -ECANCELED ? 2 : 3]++;
	return NULL;
}

static const char *offloads_around(struct hauli_random *r)
{
	const char *wrong;

	if (hauli_random_below(r, 3) == 0) {
		HAUL_SCOPE(scope, haul_in(hauli_random_below(r, 60) * HAUL_US), HAUL_SCOPE_ALL);
		return offloads(r, draw_deadline(r));
	}
	if (hauli_random_below(r, 3) == 0) {
		HAUL_SHIELD(haul_in(HAUL_S));
		return offloads(r, draw_deadline(r));
	}
	wrong = offloads(r, draw_deadline(r));
	if (hauli_random_below(r, 2))
		haul_sleep(10 * HAUL_US);
	return wrong;
}

static void *calls(void *seed)
{
	struct hauli_random r;
	const char *wrong = NULL;

	hauli_random_init(&r, (uintptr_t)seed);
	for (unsigned n = 1 + hauli_random_below(&r, 40); n > 0 && !wrong && !haul_cancelled(); n--)
		wrong = offloads_around(&r);
	return (void *)(uintptr_t)wrong;
}

/* Spawns callers, one after the other, and cancels some of them. */
static void *spawns_callers(void *seed)
{
	struct hauli_random r;
	struct haul_coro *co;
	void *wrong = NULL;

	hauli_random_init(&r, (uintptr_t)seed);
	while (!s.ends && !wrong) {
		if (haul_spawn(&co, calls, (void *)(uintptr_t)(hauli_random_next(&r) >> 8), NULL))
			break;
		for (unsigned n = hauli_random_below(&r, 4); n > 0; n--)
			haul_yield();
		if (hauli_random_below(&r, 3) == 0)
			haul_cancel(co);
		haul_join(co, &wrong, HAUL_FOREVER);
	}
	return wrong;
}

static void draw_limits(struct hauli_random *r)
{
	const struct haul_offload_opts opts = {
		.threads = 1 + hauli_random_below(r, 8),
		.queue = 1 + hauli_random_below(r, 20),
		.idle_ns = 1 + hauli_random_below(r, 200) * HAUL_US,
	};

	ck_assert_int_eq(haul_offload_set(&opts), 0);
}

/* stops: the stop comes while calls are made; else after all have ended. */
static void run_round(struct hauli_random *r, bool stops)
{
	struct haul_coro *co[CALLERS];
	uint64_t until = haul_in(ROUND_NS);
	struct haul_offload_stats st;
	void *wrong;

	s.ends = false;
	draw_limits(r);
	s.rt = runtime_start_stealing(
		CARRIERS, NULL, hauli_random_below(r, 2) ? HAUL_STEAL_GLOBAL : HAUL_STEAL_OFF);
	for (unsigned i = 0; i < CALLERS; i++)
		ck_assert_int_eq(haul_spawn_on(haul_carrier(s.rt, i % 2), stops ? NULL : &co[i],
					 spawns_callers,
					 (void *)(uintptr_t)(hauli_random_next(r) >> 8), NULL),
			0);
	while (haul_now() < until) {
		draw_limits(r);
		haul_offload_get_stats(&st);
		/* a pause between changes of the limits */
		nanosleep(&(struct timespec){.tv_nsec = 500000}, NULL);
	}
	s.ends = !stops;
	for (unsigned i = 0; !stops && i < CALLERS; i++) {
		ck_assert_int_eq(haul_join(co[i], &wrong, HAUL_FOREVER), 0);
		ck_assert_pstr_eq(wrong, NULL);
	}
	runtime_stop(s.rt);
	haul_offload_get_stats(&st);
	ck_assert_msg(st.threads == 0 && st.queued == 0 && st.running == 0,
		"%u threads, %u queued, %u running", st.threads, st.queued, st.running);
	ck_assert_uint_eq(s.made, s.returned[0]);
}

START_TEST(each_call_is_made_once_or_not_at_all)
{
	struct hauli_random r;
	uint64_t deadline;

	hauli_random_init(&r, stress_seed());
	deadline = stress_deadline();
	do {
		hang_watch();
		run_round(&r, hauli_random_below(&r, 2));
	} while (haul_now() < deadline);
	hang_ends();
	fprintf(stderr, "%lu calls made; %lu timed out, %lu cancelled, %lu refused\n", s.made,
		s.returned[1], s.returned[2], s.returned[3]);
	ck_assert_uint_gt(s.made, 100);
}
END_TEST

SUITE_MAIN("offload", {each_call_is_made_once_or_not_at_all, 1})
