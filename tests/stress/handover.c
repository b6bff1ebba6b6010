/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handing over to a carrier whose poller blocks, from carriers and a plain thread: nothing is lost,
 * each giver's items arrive in order, and the taker, which waits without a time-out, is woken.
 */
#include <stdatomic.h>

#include "sched/mail/handover.h"

#include "support/evpoller.h"
#include "support/runtime.h"
#include "support/stress.h"
#include "support/suite.h"

#define GIVERS 3
#define THINGS 20000
#define WINDOW 500

struct thing {
	struct hauli_node node;
	unsigned giver, number;
};

static struct {
	struct hauli_handover h;
	struct thing things[GIVERS][THINGS];
	unsigned next[GIVERS];
	atomic_uint taken[GIVERS];
	atomic_bool wrong;
	struct evpoller poller;
	uint64_t seed;
	bool listens;
} s;

static bool take_all(void)
{
	struct hauli_node *node;
	bool any = false;

	while ((node = hauli_handover_take(&s.h))) {
		const struct thing *t = (struct thing *)node;

		if (t->number != s.next[t->giver]++)
			s.wrong = true;
		s.taken[t->giver]++;
		any = true;
	}
	return any;
}

/* Blocks as in haul/driver.h. */
static void *take(void *arg)
{
	bool io = false;

	while (haul_maybe_yield(io)) {
		io = take_all();
		if (io || !s.listens || !haul_poller_try_park())
			continue;
		hauli_handover_listen(&s.h);
		io = take_all();
		if (!io && haul_poller_can_park())
			evpoller_wait(&s.poller);
		haul_poller_unpark();
	}
	return NULL;
}

static void *give(void *arg)
{
	unsigned giver = (unsigned)(uintptr_t)arg;
	struct hauli_random random;
	unsigned n = 0;

	hauli_random_init(&random, s.seed + giver);
	while (n < THINGS) {
		unsigned most = 1 + hauli_random_below(&random, 40);
		struct hauli_bulk batch = {NULL, NULL};

		for (; most > 0 && n < THINGS; most--, n++) {
			s.things[giver][n] = (struct thing){.giver = giver, .number = n};
			hauli_bulk_add(&batch, &s.things[giver][n].node);
		}
		hauli_handover_put(&s.h, &batch);
		/* Waits now and then until the taker has handled everything. */
		WAIT_UNTIL(n - s.taken[giver] <= hauli_random_below(&random, WINDOW));
	}
	return NULL;
}

/* The taker spins, or blocks. Givers are also coroutines of the taker's own carrier. */
START_TEST(nothing_is_lost)
{
	const struct haul_poller_opts opts = {.name = "taker", .wakeup = evpoller_wakeup};
	uint64_t deadline = stress_deadline();
	struct haul_runtime *rt = runtime_start(GIVERS);
	struct haul_coro *poller, *givers[GIVERS];

	s.seed = stress_seed();
	s.listens = _i % 2;
	do {
		memset(s.next, 0, sizeof(s.next));
		memset(s.taken, 0, sizeof(s.taken));
		evpoller_open(&s.poller);
		hauli_handover_init(&s.h, haul_carrier(rt, 0));
		ck_assert_int_eq(
			haul_poller_register(haul_carrier(rt, 0), &poller, take, &s.poller, &opts),
			0);
		for (unsigned i = 0; i < GIVERS; i++)
			ck_assert_int_eq(haul_spawn_on(haul_carrier(rt, (i + 1) % GIVERS),
						 &givers[i], give, (void *)(uintptr_t)i, NULL),
				0);
		for (unsigned i = 0; i < GIVERS; i++)
			ck_assert_int_eq(haul_join(givers[i], NULL, HAUL_FOREVER), 0);
		for (unsigned i = 0; i < GIVERS; i++)
			WAIT_UNTIL(s.taken[i] == THINGS);
		haul_cancel(poller);
		ck_assert_int_eq(haul_join(poller, NULL, HAUL_FOREVER), 0);
		ck_assert(!s.wrong);
		hauli_handover_fini(&s.h); /* before it is initialized again */
		evpoller_close(&s.poller);
		s.seed++;
	} while (haul_now() < deadline);
	runtime_stop(rt);
}
END_TEST

SUITE_MAIN("handover", {nothing_is_lost, 2})
