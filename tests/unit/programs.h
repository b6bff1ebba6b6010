/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs by chance: trees of coroutines that run twice, in two ways. The orders of their slices,
 * the counts of slices and the ends of batches must be equal. The test that includes this has
 * run_program(), and acts(), the function of each coroutine.
 */
#ifndef HAUL_TESTS_PROGRAMS_H
#define HAUL_TESTS_PROGRAMS_H

#include <stdio.h>
#include <string.h>

#include "coro/fiber.h"
#include "sched/state/carrier.h"
#include "sched/wait/suspend.h"
#include "support/suite.h"

#define NODES 4000
#define DEPTH 5

/* A coroutine of a program. What it does follows from its seed alone. */
struct node {
	unsigned seed, depth, id;
	bool detached;
};

static struct {
	struct haul_coro *sleeper;
	bool over;
	uint32_t left; /* of the batch in which a program has ended: slices */
	unsigned nodes, live, len, wrong;
	struct node node[NODES];
	unsigned short trace[NODES * 8];
} t;

static void *acts(void *node);

/* Runs the program of this seed, by begin_program() and end_program(), whose result it returns.
 * other: in the second way. */
static uint64_t run_program(unsigned seed, bool other, unsigned phase);

static void note(unsigned id)
{
	if (t.len < sizeof(t.trace) / sizeof(t.trace[0]))
		t.trace[t.len++] = (unsigned short)id;
}

/* A coroutine of all programs, which they unpark. */
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

/* NULL: there is no room for a child. */
static struct node *child(unsigned *seed, unsigned depth, bool detached)
{
	struct node *n = &t.node[t.nodes];

	if (depth >= DEPTH || t.nodes == NODES)
		return NULL;
	*n = (struct node){*seed + t.nodes, depth + 1, ++t.nodes, detached};
	draw(seed, 2);
	t.live++;
	return n;
}

/* phase: how many slices of the LIFO slot are left. Returns what end_program() takes. */
static uint64_t begin_program(struct haul_carrier *c, unsigned phase)
{
	t.nodes = t.live = t.len = 0;
	hauli_end_batch(c, c->current);
	c->runq.lifo_left = phase;
	c->runq.lifo_at = hauli_ring_head(&c->runq.ring) + HAULI_RING_FAR;
	c->wait.joins = 0;
	return hauli_counter_read(&c->counts.slices);
}

/* Returns the number of slices. */
static uint64_t end_program(struct haul_carrier *c, uint64_t begun)
{
	while (t.live > 0) {
		haul_yield();
		note(NODES);
	}
	t.left = c->runq.ring.limit - hauli_ring_head(&c->runq.ring);
	hauli_end_batch(c, c->current);
	return hauli_counter_read(&c->counts.slices) - begun;
}

static void try_program(unsigned seed, unsigned phase, const char *const way[2])
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
	fprintf(stderr, "# program %u, phase %u, %s:", seed, phase, way[0]);
	for (unsigned i = 0; i < len; i++)
		fprintf(stderr, " %u", seen[i]);
	fprintf(stderr, "; %s:", way[1]);
	for (unsigned i = 0; i < t.len; i++)
		fprintf(stderr, " %u", t.trace[i]);
	fputc('\n', stderr);
}

/* n: of programs, of which thread sanitizer has time for some: it makes a fiber for each coroutine
 * of a program, which takes it a hundred times as long. way: what the two ways are called. */
static void try_programs(unsigned n, const char *const way[2])
{
	if (HAULI_TSAN)
		n /= 40;
	haul_spawn(&t.sleeper, sleeps, NULL, NULL);
	haul_yield();
	for (unsigned i = 0; i < n && t.wrong == 0; i++)
		try_program(i, i % (HAULI_LIFO_RUN + 1), way);
	t.over = true;
	haul_unpark(t.sleeper);
	haul_join(t.sleeper, NULL, HAUL_FOREVER);
}

#endif
