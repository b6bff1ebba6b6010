/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A coroutine that ends switches to its joiner without the run queue, if the joiner would run next.
 * So the order of slices must be that of the run queue. Programs by chance run twice: as they are,
 * and with joins that have a deadline, whose waiters are queued in each case. Both orders, the
 * results of the joins, the counts of slices and the ends of batches must be equal.
 */
#include <haul/driver.h>

#include "support/runtime.h"

#include "programs.h"

#define PROGRAMS 3000
#define LATER 3 /* children that one coroutine joins later */

static bool timed;

static void joins(struct haul_coro *co, const struct node *of, unsigned id)
{
	void *result = NULL;

	t.wrong += haul_join(co, &result, timed ? haul_in(3600 * HAUL_S) : HAUL_FOREVER) != 0 ||
		result != of;
	note(id);
}

/* A node with its children. */
static void step(struct node *me, struct haul_coro **later, struct node **of, unsigned *n)
{
	unsigned what = draw(&me->seed, 7);
	struct node *new = what < 4 ? child(&me->seed, me->depth, false) : NULL;
	struct haul_coro *co;

	if (new && (what < 2 || *n == LATER)) {
		haul_spawn(&co, acts, new, NULL);
		if (what == 0)
			haul_yield(), note(me->id);
		joins(co, new, me->id);
	} else if (new &&what == 2) {
		haul_spawn(NULL, acts, new, NULL);
	} else if (new) {
		of[*n] = new;
		haul_spawn(&later[(*n)++], acts, new, NULL);
	} else if (what == 4) {
		haul_unpark(t.sleeper);
	} else if (what == 5 && *n > 0) {
		--*n;
		joins(later[*n], of[*n], me->id);
	} else {
		haul_yield();
		note(me->id);
	}
}

static void *acts(void *arg)
{
	struct node me = *(struct node *)arg, *of[LATER];
	struct haul_coro *later[LATER];
	unsigned n = 0, steps = draw(&me.seed, 9);

	note(me.id);
	while (steps-- > 0)
		step(&me, later, of, &n);
	while (n > 0) {
		n--;
		joins(later[n], of[n], me.id);
	}
	t.live--;
	return arg;
}

/* Directly, or by the run queue. */
static uint64_t run_program(unsigned seed, bool other, unsigned phase)
{
	struct haul_carrier *c = haul_carrier_self();
	uint64_t slices = begin_program(c, phase);
	struct node *root = child(&seed, 0, false);
	struct haul_coro *co;

	timed = other;
	haul_spawn(&co, acts, root, NULL);
	joins(co, root, NODES);
	return end_program(c, slices);
}

static void *tries_all(void *arg)
{
	static const char *const way[] = {"directly", "by the run queue"};

	try_programs(PROGRAMS, way);
	return NULL;
}

START_TEST(a_joiner_runs_when_the_run_queue_would_run_it)
{
	struct haul_runtime *rt = runtime_start_stealing(1, NULL, HAUL_STEAL_OFF);

	memset(&t, 0, sizeof(t));
	run_on(rt, 0, tries_all, NULL);
	ck_assert_uint_eq(t.wrong, 0);
	runtime_stop(rt);
}
END_TEST

static void *returns(void *arg)
{
	return arg;
}

/* The loop resumes a poller, outside of a batch, also when it has joined. */
static void *joins_in_a_poller(void *arg)
{
	struct haul_carrier *c = haul_carrier_self();
	struct haul_coro *co;
	void *result = NULL;

	for (unsigned i = 0; i < 10; i++) {
		haul_spawn(&co, returns, &t, NULL);
		t.wrong += haul_join(co, &result, HAUL_FOREVER) != 0 || result != &t;
		t.wrong += c->wait.path != HAULI_PATH_SLOW || hauli_ring_is_open(&c->runq.ring);
	}
	return NULL;
}

START_TEST(a_poller_that_joins_waits_for_its_turn)
{
	struct haul_runtime *rt = runtime_start_stealing(1, NULL, HAUL_STEAL_OFF);
	struct haul_coro *poller;

	memset(&t, 0, sizeof(t));
	ck_assert_int_eq(
		haul_poller_register(haul_carrier(rt, 0), &poller, joins_in_a_poller, NULL, NULL),
		0);
	haul_join(poller, NULL, HAUL_FOREVER);
	ck_assert_uint_eq(t.wrong, 0);
	runtime_stop(rt);
}
END_TEST

SUITE_MAIN("join_order", {a_joiner_runs_when_the_run_queue_would_run_it, 1},
	{a_poller_that_joins_waits_for_its_turn, 1})
