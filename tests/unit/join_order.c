/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A coroutine that ends switches to its joiner without the run queue, if the joiner would run next.
 * So the order of slices must be that of the run queue. Programs by chance run twice: as they are,
 * and with all coroutines flagged as KEPT, which are queued in each case. Both orders, the results
 * of the joins, the counts of slices and the ends of batches must be equal.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sched/state/carrier.h"
#include "sched/wait/suspend.h"
#include "support/runtime.h"
#include "support/suite.h"

#define PROGRAMS 3000
#define NODES 4000
#define DEPTH 5
#define LATER 3 /* children that one coroutine joins later */

/* A coroutine of a program. What it does follows from its seed alone. */
struct node {
	unsigned seed, depth, id;
};

static struct {
	struct haul_coro *sleeper;
	bool kept, over;
	uint32_t left; /* of the batch in which a program has ended: slices */
	unsigned nodes, live, len, wrong;
	struct node node[NODES];
	unsigned short trace[NODES * 8];
} t;

static void note(unsigned id)
{
	if (t.len < sizeof(t.trace) / sizeof(t.trace[0]))
		t.trace[t.len++] = (unsigned short)id;
}

static void set_kept(void)
{
	hauli_u8_shared_init(&haul_carrier_self()->current->flags, t.kept ? HAULI_FLAG_KEPT : 0);
}

static void *sleeps(void *arg)
{
	while (!t.over) {
		haul_park(HAUL_FOREVER);
		note(0);
	}
	return NULL;
}

static unsigned draw(unsigned *seed, unsigned n)
{
	*seed = *seed * 1103515245u + 12345u;
	return (*seed >> 16) % n;
}

static void *acts(void *arg);

/* NULL: there is no room for a child. */
static struct node *child(unsigned *seed, unsigned depth)
{
	struct node *n = &t.node[t.nodes];

	if (depth == DEPTH || t.nodes == NODES)
		return NULL;
	*n = (struct node){*seed + t.nodes, depth + 1, ++t.nodes};
	draw(seed, 2);
	t.live++;
	return n;
}

static void joins(struct haul_coro *co, const struct node *of, unsigned id)
{
	void *result = NULL;

	t.wrong += haul_join(co, &result, HAUL_FOREVER) != 0 || result != of;
	note(id);
}

/* A node with its children. */
static void step(struct node *me, struct haul_coro **later, struct node **of, unsigned *n)
{
	unsigned what = draw(&me->seed, 7);
	struct node *new = what < 4 ? child(&me->seed, me->depth) : NULL;
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

	set_kept();
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

/* Returns the number of slices. */
static uint64_t run_program(unsigned seed, bool kept, unsigned phase)
{
	struct haul_carrier *c = haul_carrier_self();
	uint64_t slices;
	struct haul_coro *co;
	struct node *root;

	t.kept = kept;
	t.nodes = t.live = t.len = 0;
	set_kept();
	hauli_end_batch(c, c->current);
	slices = hauli_counter_read(&c->counts.slices);
	c->runq.lifo_left = phase;
	c->runq.lifo_at = hauli_ring_head(&c->runq.ring) + HAULI_RING_FAR;
	c->wait.joins = 0;
	root = child(&seed, 0);
	haul_spawn(&co, acts, root, NULL);
	joins(co, root, NODES);
	while (t.live > 0) {
		haul_yield();
		note(NODES);
	}
	t.left = c->runq.ring.limit - hauli_ring_head(&c->runq.ring);
	hauli_end_batch(c, c->current);
	return hauli_counter_read(&c->counts.slices) - slices;
}

static void try_program(unsigned seed, unsigned phase)
{
	static unsigned short seen[sizeof(t.trace) / sizeof(t.trace[0])];
	uint64_t slices = run_program(seed, false, phase);
	unsigned len = t.len;
	uint32_t left = t.left;

	memcpy(seen, t.trace, len * sizeof(seen[0]));
	if (run_program(seed, true, phase) == slices && t.len == len && t.left == left &&
		memcmp(seen, t.trace, len * sizeof(seen[0])) == 0)
		return;
	t.wrong++;
	fprintf(stderr, "# program %u, phase %u, directly:", seed, phase);
	for (unsigned i = 0; i < len; i++)
		fprintf(stderr, " %u", seen[i]);
	fprintf(stderr, "; by the run queue:");
	for (unsigned i = 0; i < t.len; i++)
		fprintf(stderr, " %u", t.trace[i]);
	fputc('\n', stderr);
}

static void *tries_all(void *arg)
{
	haul_spawn(&t.sleeper, sleeps, NULL, NULL);
	haul_yield();
	for (unsigned i = 0; i < PROGRAMS && t.wrong == 0; i++)
		try_program(i, i % (HAULI_LIFO_RUN + 1));
	t.over = true;
	haul_unpark(t.sleeper);
	haul_join(t.sleeper, NULL, HAUL_FOREVER);
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

SUITE_MAIN("join_order", {a_joiner_runs_when_the_run_queue_would_run_it, 1})
