/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Trees of scopes over carriers that steal: random policies, errors, deadlines, shields and values,
 * while other coroutines cancel the root, and children their scope. Each block is left after the
 * last of its children, no child is lost, and values are those of the tree.
 */
#include <errno.h>
#include <stdatomic.h>

#include "base/random.h"
#include "sched/state/coroutine.h"

#include "support/runtime.h"
#include "support/stress.h"
#include "support/suite.h"

#define CARRIERS 4
#define ROOTS 12
#define TREES 10 /* of each root, in a round */
#define DEPTH 3

static struct {
	struct haul_runtime *rt;
	atomic_uint children, ended, wrong, cancels;
} s;

static const char tree_key; /* the value: the tree */

struct tree {
	uint64_t seed;
	atomic_uint alive; /* children of all its scopes */
};

struct branch {
	struct tree *tree;
	uint64_t seed;
	unsigned depth;
	atomic_uint *siblings;
	struct haul_scope *scope;
};

static int grow(struct tree *tree, struct hauli_random *random, unsigned depth);

static int waits(struct hauli_random *random)
{
	struct haul_event never = {0};

	switch (hauli_random_below(random, 5)) {
	case 0:
		return haul_sleep(hauli_random_below(random, 50000));
	case 1:
		return haul_event_wait(&never, haul_in(hauli_random_below(random, 50000)));
	case 2:
		return haul_park(haul_in(hauli_random_below(random, 50000)));
	case 3:
		haul_yield();
		return 0;
	default:
		return 0;
	}
}

static void clean_up(struct hauli_random *random)
{
	HAUL_SHIELD(haul_in(HAUL_S * 3600));
	bool was = haul_cancelled();

	s.wrong += was || haul_sleep(hauli_random_below(random, 20000)) != 0 || haul_cancelled();
}

static int child(void *arg)
{
	struct branch *b = arg;
	struct hauli_random random;
	int err;

	hauli_random_init(&random, b->seed);
	s.wrong += haul_value(&tree_key) != b->tree;
	err = waits(&random);
	if (b->depth > 0 && hauli_random_below(&random, 2))
		err = grow(b->tree, &random, b->depth - 1);
	if (hauli_random_below(&random, 4) == 0)
		clean_up(&random);
	if (hauli_random_below(&random, 8) == 0)
		err = -EIO;
	if (hauli_random_below(&random, 64) == 0)
		haul_scope_cancel(b->scope);
	s.ended++;
	b->tree->alive--;
	(*b->siblings)--;
	return err;
}

/* One child in three on a random carrier. */
static int spawn(struct haul_scope *scope, struct branch *b, struct hauli_random *random)
{
	struct haul_carrier *there = haul_carrier(s.rt, hauli_random_below(random, CARRIERS));

	if (hauli_random_below(random, 3))
		return haul_scope_spawn(scope, child, b, NULL);
	return haul_scope_spawn_on(scope, there, child, b, NULL);
}

static int grow(struct tree *tree, struct hauli_random *random, unsigned depth)
{
	struct branch branches[8];
	atomic_uint siblings = 0;
	unsigned n = 1 + (unsigned)hauli_random_below(random, 8);
	enum haul_scope_policy policy = (enum haul_scope_policy)hauli_random_below(random, 3);
	uint64_t deadline = hauli_random_below(random, 2)
		? HAUL_FOREVER
		: haul_in(hauli_random_below(random, 100000));
	int err = 0;

	{
		HAUL_SCOPE(scope, deadline, policy);

		for (unsigned i = 0; i < n; i++) {
			branches[i] = (struct branch){
				tree, hauli_random_next(random), depth, &siblings, &scope};
			siblings++;
			tree->alive++;
			if (spawn(&scope, &branches[i], random) != 0) {
				siblings--;
				tree->alive--;
				break;
			}
			s.children++;
			if (hauli_random_below(random, 8) == 0)
				waits(random);
		}
		if (hauli_random_below(random, 16) == 0)
			haul_scope_cancel(&scope);
		if (hauli_random_below(random, 2))
			err = haul_scope_join(&scope);
	}
	s.wrong += siblings != 0;
	return err;
}

static void *grows(void *arg)
{
	struct tree *tree = arg;
	struct hauli_random random;

	hauli_random_init(&random, tree->seed);
	HAUL_WITH(&tree_key, tree);
	for (int i = 0; i < TREES; i++) {
		grow(tree, &random, DEPTH);
		s.wrong += tree->alive != 0;
	}
	return NULL;
}

static void round_of_trees(struct hauli_random *random)
{
	struct tree trees[ROOTS];
	struct haul_coro *roots[ROOTS];

	for (unsigned i = 0; i < ROOTS; i++) {
		trees[i] = (struct tree){.seed = hauli_random_next(random)};
		ck_assert_int_eq(haul_spawn_on(haul_carrier(s.rt, i % CARRIERS), &roots[i], grows,
					 &trees[i], NULL),
			0);
	}
	for (unsigned i = 0; i < ROOTS; i++) {
		if (hauli_random_below(random, 2)) {
			haul_cancel(roots[i]);
			s.cancels++;
		}
		ck_assert_int_eq(haul_join(roots[i], NULL, HAUL_FOREVER), 0);
	}
}

START_TEST(no_child_outlives_its_scope)
{
	uint64_t deadline = stress_deadline();
	struct hauli_random random;

	memset(&s, 0, sizeof(s));
	hauli_random_init(&random, stress_seed());
	s.rt = runtime_start_stealing(
		CARRIERS, NULL, _i == 0 ? runtime_steal_setting() : HAUL_STEAL_GLOBAL);
	do
		round_of_trees(&random);
	while (haul_now() < deadline);
	ck_assert_uint_eq(s.wrong, 0);
	ck_assert_uint_eq(s.children, s.ended);
	ck_assert_uint_gt(s.cancels, 0);
	runtime_stop(s.rt);
}
END_TEST

SUITE_MAIN("scope", {no_child_outlives_its_scope, HAUL_STEALING ? 2 : 1})
