/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scopes whose children are on several carriers: deadlines, values, cancels and results. Random
 * trees in virtual time are compared with a sequential model.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/random.h"
#include "support/runtime.h"
#include "support/suite.h"

#define CARRIERS 4
#define NODES 40
#define NEVER UINT64_MAX

static struct haul_runtime *rt;
static const char key;

static void start(bool virtual_time)
{
	struct haul_plan_opts opts = {.carriers = CARRIERS};
	struct haul_plan *plan = NULL;
	char why[256] = "";

	ck_assert_msg(haul_plan_create(&plan, &opts, why, sizeof(why)) == 0, "%s", why);
	ck_assert_int_eq(
		haul_start(&rt,
			&(struct haul_runtime_opts){.plan = plan, .virtual_time = virtual_time},
			NULL, 0),
		0);
	haul_plan_destroy(plan);
}

static struct haul_carrier *carrier(unsigned i)
{
	return haul_carrier(rt, i % CARRIERS);
}

/* What a child has seen. */
struct seen {
	struct haul_carrier *on;
	const void *value;
	int err;
	struct haul_scope *scope;
};

static int sees_and_waits(void *arg)
{
	struct seen *seen = arg;

	seen->on = haul_carrier_self();
	seen->value = haul_value(&key);
	return seen->err = haul_sleep(3600 * HAUL_S);
}

static void *has_a_deadline(void *arg)
{
	struct seen seen[CARRIERS] = {{0}};
	uint64_t until = haul_in(HAUL_S);

	HAUL_WITH(&key, seen);
	HAUL_SCOPE(s, until, HAUL_SCOPE_ALL);
	for (unsigned i = 0; i < CARRIERS; i++)
		ck_assert_int_eq(
			haul_scope_spawn_on(&s, carrier(i), sees_and_waits, &seen[i], NULL), 0);
	ck_assert_int_eq(haul_scope_join(&s), -ETIMEDOUT);
	ck_assert_uint_eq(haul_now(), until);
	for (unsigned i = 0; i < CARRIERS; i++)
		ck_assert(seen[i].on == carrier(i) && seen[i].value == seen);
	return NULL;
}

START_TEST(children_there_have_the_deadline_and_the_values)
{
	start(true);
	run_on(rt, 1, has_a_deadline, NULL);
	runtime_stop(rt);
}
END_TEST

static int fails(void *arg)
{
	return -EIO;
}

static int cancels(void *arg)
{
	struct seen *seen = arg;

	haul_scope_cancel(seen->scope);
	return seen->err = haul_sleep(3600 * HAUL_S);
}

/* Its child, at its own home, cancels the outer scope. */
static int cancels_from_within(void *arg)
{
	HAUL_SCOPE(inner, HAUL_FOREVER, HAUL_SCOPE_ALL);

	haul_scope_spawn(&inner, cancels, arg, NULL);
	return haul_scope_join(&inner);
}

static void *ends_all(void *last)
{
	struct seen seen[CARRIERS] = {{0}};
	HAUL_SCOPE(s, HAUL_FOREVER, HAUL_SCOPE_FAIL_FAST);

	for (unsigned i = 0; i + 1 < CARRIERS; i++)
		ck_assert_int_eq(
			haul_scope_spawn_on(&s, carrier(i), sees_and_waits, &seen[i], NULL), 0);
	seen[CARRIERS - 1].scope = &s;
	ck_assert_int_eq(haul_scope_spawn_on(&s, carrier(CARRIERS - 1), (int (*)(void *))last,
				 &seen[CARRIERS - 1], NULL),
		0);
	ck_assert_int_eq(haul_scope_join(&s), last == (void *)fails ? -EIO : -ECANCELED);
	for (unsigned i = 0; i + 1 < CARRIERS; i++)
		ck_assert(seen[i].err == -ECANCELED || !seen[i].on);
	ck_assert_int_eq(
		haul_scope_spawn_on(&s, carrier(2), sees_and_waits, &seen[0], NULL), -ECANCELED);
	return NULL;
}

START_TEST(one_there_cancels_all)
{
	int (*const last[])(void *) = {fails, cancels, cancels_from_within};

	start(false);
	run_on(rt, 0, ends_all, (void *)last[_i]);
	runtime_stop(rt);
}
END_TEST

static void *spawns_wrongly(void *arg)
{
	HAUL_SCOPE(s, HAUL_FOREVER, HAUL_SCOPE_ALL);

	ck_assert_int_eq(haul_scope_spawn_on(&s, carrier(1), fails, NULL,
				 &(struct haul_coro_opts){.stack_size = HAUL_STACK_MAX + 1}),
		-EINVAL);
	ck_assert_int_eq(haul_scope_join(&s), 0);
	return NULL;
}

START_TEST(a_spawn_that_fails_leaves_the_scope_as_it_was)
{
	start(false);
	run_on(rt, 0, spawns_wrongly, NULL);
	runtime_stop(rt);
}
END_TEST

static atomic_uint waiting;

static int waits_there(void *arg)
{
	HAUL_SCOPE(s, HAUL_FOREVER, HAUL_SCOPE_ALL);

	waiting++;
	if ((uintptr_t)arg > 0)
		haul_scope_spawn_on(&s, carrier((unsigned)(uintptr_t)arg), waits_there,
			(void *)((uintptr_t)arg - 1), NULL);
	return haul_park(HAUL_FOREVER);
}

static void *waits_everywhere(void *arg)
{
	HAUL_SCOPE(s, HAUL_FOREVER, HAUL_SCOPE_ALL);

	for (unsigned i = 0; i < CARRIERS; i++)
		haul_scope_spawn_on(&s, carrier(i), waits_there, (void *)(uintptr_t)3, NULL);
	return NULL;
}

START_TEST(a_stop_ends_scopes_over_carriers)
{
	start(false);
	ck_assert_int_eq(haul_spawn_any(rt, NULL, waits_everywhere, NULL, NULL), 0);
	WAIT_UNTIL(waiting == 4 * CARRIERS);
	waiting = 0;
	runtime_stop(rt);
}
END_TEST

/*
 * A random tree. A leaf sleeps, and returns its result; another node spawns its children and joins
 * them. All sleeps and deadlines have different lengths, so that one thing happens at a time, and
 * what follows from it happens in the same instant.
 */
struct node {
	unsigned parent; /* below the node's own number */
	unsigned there; /* the carrier */
	bool leaf;
	enum haul_scope_policy policy;
	uint64_t deadline; /* from the begin, or NEVER: the least of those around */
	uint64_t sleeps; /* ns; a leaf */
	int result; /* of a leaf */
	/* What happens: */
	int err;
	uint64_t at; /* NEVER: not yet */
	/* The model's: */
	unsigned running;
	bool cancelled, succeeded;
};

static struct {
	uint64_t seed, began;
	unsigned n;
	struct node nodes[NODES], expected[NODES];
} t;

/* A deadline, and the cancel that follows from it, reach children in any order. */
#define EARLY (-1)

static int simplified(int err)
{
	return err == -ETIMEDOUT || err == -ECANCELED ? EARLY : err;
}

static void plant(uint64_t seed)
{
	struct hauli_random random;

	hauli_random_init(&random, seed);
	t.seed = seed;
	t.n = 2 + hauli_random_below(&random, NODES - 1);
	for (unsigned i = 0; i < t.n; i++) {
		struct node *node = &t.nodes[i], *parent;
		uint64_t ms = hauli_random_below(&random, 1000) * HAUL_MS;

		*node = (struct node){.parent = i ? hauli_random_below(&random, i) : 0,
			.there = hauli_random_below(&random, CARRIERS),
			.leaf = true,
			.policy = (enum haul_scope_policy)hauli_random_below(&random, 3),
			.deadline = hauli_random_below(&random, 3) ? NEVER : ms + 2 * i + 1,
			.sleeps = hauli_random_below(&random, 1000) * HAUL_MS + 2 * i + 2,
			.result = hauli_random_below(&random, 3) ? 0 : -(int)(200 + i),
			.at = NEVER};
		parent = &t.nodes[node->parent];
		parent->leaf = false;
		if (parent->deadline < node->deadline)
			node->deadline = parent->deadline;
		parent->running += i > 0;
	}
	for (unsigned i = 0; i < t.n; i++)
		if (t.nodes[i].leaf)
			t.nodes[i].deadline = t.nodes[t.nodes[i].parent].deadline;
	memcpy(t.expected, t.nodes, sizeof(t.nodes));
}

static void end(unsigned i, int err, uint64_t now);

/* By its owner's deadline or cancel, or by the policy (err is 0). */
static void cancel_children(unsigned i, int err, uint64_t now)
{
	struct node *node = &t.expected[i];

	node->err = node->err ? node->err : err;
	if (node->cancelled)
		return;
	node->cancelled = true;
	for (unsigned k = i + 1; k < t.n; k++) {
		struct node *child = &t.expected[k];

		if (child->parent != i || child->at != NEVER)
			continue;
		if (child->leaf)
			end(k, EARLY, now);
		else
			cancel_children(k, EARLY, now);
	}
}

static void end(unsigned i, int err, uint64_t now)
{
	struct node *node = &t.expected[i], *parent = &t.expected[node->parent];

	node->err = err;
	node->at = now;
	if (i == 0)
		return;
	parent->err = parent->err ? parent->err : err;
	parent->succeeded |= err == 0;
	parent->running--;
	if (parent->policy == (err ? HAUL_SCOPE_FAIL_FAST : HAUL_SCOPE_FIRST))
		cancel_children(node->parent, 0, now);
	if (parent->running == 0 && parent->at == NEVER)
		end(node->parent,
			parent->policy == HAUL_SCOPE_FIRST && parent->succeeded ? 0 : parent->err,
			now);
}

static uint64_t next_of(const struct node *node)
{
	uint64_t sleeps = node->leaf ? node->sleeps : NEVER;

	if (node->at != NEVER || (!node->leaf && node->cancelled))
		return NEVER;
	return sleeps < node->deadline ? sleeps : node->deadline;
}

static void expect(void)
{
	for (;;) {
		unsigned next = 0;

		for (unsigned i = 1; i < t.n; i++)
			if (next_of(&t.expected[i]) < next_of(&t.expected[next]))
				next = i;
		if (next_of(&t.expected[next]) == NEVER)
			return;
		if (!t.expected[next].leaf)
			cancel_children(next, EARLY, t.expected[next].deadline);
		else if (t.expected[next].sleeps < t.expected[next].deadline)
			end(next, t.expected[next].result, t.expected[next].sleeps);
		else
			end(next, EARLY, t.expected[next].deadline);
	}
}

static int lives(void *arg);

static int joins_children(unsigned i)
{
	struct node *node = &t.nodes[i];
	HAUL_SCOPE(
		s, node->deadline == NEVER ? HAUL_FOREVER : t.began + node->deadline, node->policy);

	for (unsigned k = i + 1; k < t.n; k++)
		if (t.nodes[k].parent == i)
			ck_assert_int_eq(haul_scope_spawn_on(&s, carrier(t.nodes[k].there), lives,
						 &t.nodes[k], NULL),
				0);
	return haul_scope_join(&s);
}

static int lives(void *arg)
{
	struct node *node = arg;
	int err;

	if (node->leaf) {
		err = haul_sleep_until(t.began + node->sleeps);
		node->err = err ? err : node->result;
	} else {
		node->err = joins_children((unsigned)(node - t.nodes));
	}
	node->at = haul_now() - t.began;
	return node->err;
}

static void *lives_as_root(void *arg)
{
	t.began = haul_now();
	lives(&t.nodes[0]);
	return NULL;
}

#define TREES 60

START_TEST(random_trees_end_as_in_a_model)
{
	start(true);
	for (uint64_t seed = (uint64_t)_i * TREES; seed < ((uint64_t)_i + 1) * TREES; seed++) {
		plant(seed);
		expect();
		run_on(rt, t.nodes[0].there, lives_as_root, NULL);
		for (unsigned i = 0; i < t.n; i++) {
			const struct node *got = &t.nodes[i], *want = &t.expected[i];

			if (simplified(got->err) != want->err || got->at != want->at)
				ck_abort_msg("seed %" PRIu64
					     ", node %u of %u: ended with %d at %" PRIu64
					     "; expected: %d at %" PRIu64,
					seed, i, t.n, got->err, got->at, want->err, want->at);
		}
	}
	runtime_stop(rt);
}
END_TEST

SUITE_MAIN("scope_on", {children_there_have_the_deadline_and_the_values, 1},
	{one_there_cancels_all, 3}, {a_spawn_that_fails_leaves_the_scope_as_it_was, 1},
	{a_stop_ends_scopes_over_carriers, 1}, {random_trees_end_as_in_a_model, 5})
