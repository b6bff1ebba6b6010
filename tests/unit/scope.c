/* SPDX-License-Identifier: BSD-3-Clause */
/* Scopes: results, policies, cancels and deadlines that go down. */
#include <errno.h>
#include <stdatomic.h>

#include "support/runtime.h"
#include "support/suite.h"

#define CHILDREN 4
#define ORDERS 24 /* in which four children can end */
#define SOON (2 * HAUL_MS)
#define FAR (3600 * HAUL_S)

/* 1 carrier, or 4 that steal. */
static struct haul_runtime *start(int i)
{
	return i ? runtime_start_stealing(4, NULL, HAUL_STEAL_CLUSTER) : runtime_start(1);
}

static struct {
	struct haul_event may_end[CHILDREN + 1];
	atomic_uint begun, ended, cancelled;
	int result;
	uint64_t ended_at;
} s;

/* A child of the matrix below. */
struct turn {
	unsigned place; /* in the order of ends */
	int result;
};

static int ends_in_turn(void *arg)
{
	const struct turn *t = arg;
	int err;

	s.begun++;
	err = haul_event_wait(&s.may_end[t->place], HAUL_FOREVER);
	s.cancelled += err == -ECANCELED;
	haul_event_set(&s.may_end[t->place + 1]);
	s.ended++;
	return err ? err : t->result;
}

/* The order with this number, as a list of places. */
static void set_order(unsigned number, unsigned place[CHILDREN])
{
	for (unsigned i = 0; i < CHILDREN; i++) {
		unsigned at = number % (i + 1);

		number /= i + 1;
		for (unsigned j = i; j > at; j--)
			place[j] = place[j - 1];
		place[at] = i;
	}
}

struct matrix {
	enum haul_scope_policy policy;
	bool one; /* child fails, instead of each subset: several carriers, which end them in
		   * another order than they may */
};

static bool outcome_is_right(const struct matrix *m, const int by_place[], int result)
{
	unsigned successes = 0;
	int error = 0;

	for (unsigned i = 0; i < CHILDREN; i++) {
		successes += by_place[i] == 0;
		if (!error)
			error = by_place[i];
	}
	if (s.ended != CHILDREN)
		return false;
	return result == (m->policy == HAUL_SCOPE_FIRST && successes ? 0 : error);
}

static bool run_once(const struct matrix *m, unsigned order, unsigned failing)
{
	struct turn turns[CHILDREN];
	unsigned place[CHILDREN];
	int by_place[CHILDREN];
	int result;

	memset(&s, 0, sizeof(s));
	set_order(order, place);
	for (unsigned i = 0; i < CHILDREN; i++) {
		turns[i] = (struct turn){place[i], failing >> i & 1 ? -100 - (int)i : 0};
		by_place[place[i]] = turns[i].result;
	}
	{
		HAUL_SCOPE(scope, HAUL_FOREVER, m->policy);

		for (unsigned i = 0; i < CHILDREN; i++)
			if (haul_scope_spawn(&scope, ends_in_turn, &turns[i], NULL) != 0)
				return false;
		WAIT_UNTIL(s.begun == CHILDREN);
		haul_event_set(&s.may_end[0]);
		result = haul_scope_join(&scope);
	}
	return outcome_is_right(m, by_place, result);
}

static void *runs_all(void *arg)
{
	const struct matrix *m = arg;

	for (unsigned order = 0; order < ORDERS; order++)
		for (unsigned failing = 0; failing < 1u << CHILDREN; failing++)
			if ((!m->one || (failing & (failing - 1)) == 0) &&
				!run_once(m, order, failing))
				return "a wrong result";
	return NULL;
}

START_TEST(the_first_error_comes_back)
{
	struct haul_runtime *rt = start(_i / 3);
	struct matrix m = {.policy = (enum haul_scope_policy)(_i % 3), .one = _i >= 3};

	ck_assert_pstr_eq(run_on(rt, 0, runs_all, &m), NULL);
	runtime_stop(rt);
}
END_TEST

static int counts(void *arg)
{
	atomic_uint *n = arg;

	haul_yield();
	(*n)++;
	return 0;
}

/* Leaves the scope without haul_scope_join(), in each way that C has. */
static void leave_somehow(int how, atomic_uint *n)
{
	for (int i = 0; i < 2; i++) {
		HAUL_SCOPE(scope, HAUL_FOREVER, HAUL_SCOPE_ALL);

		haul_scope_spawn(&scope, counts, n, NULL);
		haul_scope_spawn(&scope, counts, n, NULL);
		if (how == 0)
			return;
		if (how == 1)
			break;
		if (how == 2)
			goto out;
	}
out:
	return;
}

static void *leaves(void *arg)
{
	for (int how = 0; how < 4; how++) {
		atomic_uint n = 0;

		leave_somehow(how, &n);
		if (n != (how == 3 ? 4 : 2))
			return "a child outlived its scope";
	}
	return NULL;
}

START_TEST(a_block_is_left_when_all_children_have_ended)
{
	struct haul_runtime *rt = start(_i);

	ck_assert_pstr_eq(run_on(rt, 0, leaves, NULL), NULL);
	runtime_stop(rt);
}
END_TEST

static int waits_long(void *arg)
{
	int err;

	s.begun++;
	err = haul_sleep_until(haul_in(FAR));
	s.cancelled += err == -ECANCELED;
	return err;
}

/* A tree: each has two children; the leaves wait. */
static int branches(void *arg)
{
	unsigned depth = (unsigned)(uintptr_t)arg;
	HAUL_SCOPE(scope, HAUL_FOREVER, HAUL_SCOPE_ALL);

	if (depth == 0)
		return waits_long(NULL);
	for (int i = 0; i < 2; i++)
		if (haul_scope_spawn(&scope, branches, (void *)(uintptr_t)(depth - 1), NULL) != 0)
			return -ENOMEM;
	return haul_scope_join(&scope);
}

#define DEPTH 4
#define LEAVES (1u << DEPTH)

static void *is_a_tree(void *arg)
{
	s.result = branches((void *)(uintptr_t)DEPTH);
	return NULL;
}

static void *cancels_a_tree(void *arg)
{
	struct haul_coro *tree;

	memset(&s, 0, sizeof(s));
	if (haul_spawn(&tree, is_a_tree, NULL, NULL) != 0)
		return "no tree";
	WAIT_UNTIL(s.begun == LEAVES);
	haul_cancel(tree);
	haul_join(tree, NULL, HAUL_FOREVER);
	if (s.result != -ECANCELED)
		return "another result";
	return s.cancelled == LEAVES ? NULL : "a leaf that was not cancelled";
}

START_TEST(a_cancel_goes_down)
{
	struct haul_runtime *rt = start(_i);

	ck_assert_pstr_eq(run_on(rt, 0, cancels_a_tree, NULL), NULL);
	runtime_stop(rt);
}
END_TEST

START_TEST(a_stop_ends_scopes)
{
	struct haul_runtime *rt = start(_i);

	memset(&s, 0, sizeof(s));
	ck_assert_int_eq(haul_spawn_on(haul_carrier(rt, 0), NULL, is_a_tree, NULL, NULL), 0);
	WAIT_UNTIL(s.begun == LEAVES);
	runtime_stop(rt);
	ck_assert_int_eq(s.result, -ECANCELED);
	ck_assert_uint_eq(s.cancelled, LEAVES);
}
END_TEST

static int fails_at_once(void *arg)
{
	s.ended_at = haul_now();
	return -EIO;
}

static int succeeds_at_once(void *arg)
{
	s.ended_at = haul_now();
	return 0;
}

#define OTHERS 3

static const struct end {
	enum haul_scope_policy policy;
	int (*fn)(void *arg);
	bool cancels;
	int error;
} ends[] = {
	{HAUL_SCOPE_FAIL_FAST, fails_at_once, true, -EIO},
	{HAUL_SCOPE_FIRST, succeeds_at_once, true, 0},
	{HAUL_SCOPE_ALL, fails_at_once, false, -EIO},
	{HAUL_SCOPE_ALL, succeeds_at_once, false, -ETIMEDOUT},
	{HAUL_SCOPE_FAIL_FAST, succeeds_at_once, false, -ETIMEDOUT},
	{HAUL_SCOPE_FIRST, fails_at_once, false, -EIO},
};

#define ENDS (sizeof(ends) / sizeof(ends[0]))

/* A result: the machine is so busy that the child ended close to the deadline, or after it. */
static const char too_late[] = "too late";

/* One child ends, and the others are cancelled by the policy, or have a deadline. */
static const char *ends_others(const struct end *e, uint64_t soon)
{
	uint64_t deadline = e->cancels ? HAUL_FOREVER : haul_in(soon);
	HAUL_SCOPE(scope, deadline, e->policy);
	int spawned, joined;

	memset(&s, 0, sizeof(s));
	s.ended_at = HAUL_FOREVER;
	for (int i = 0; i < OTHERS; i++)
		if (haul_scope_spawn(&scope, waits_long, NULL, NULL) != 0)
			return "no child";
	WAIT_UNTIL(s.begun == OTHERS);
	spawned = haul_scope_spawn(&scope, e->fn, NULL, NULL);
	joined = haul_scope_join(&scope);
	if (!e->cancels && s.ended_at > deadline - soon / 2)
		return too_late;
	if (spawned != 0)
		return "no child to end the others";
	if (joined != e->error)
		return "another result";
	if (!e->cancels)
		return haul_now() >= deadline ? NULL : "cancelled without a reason";
	return s.cancelled == OTHERS ? NULL : "a child that was not cancelled";
}

static void *end_others(void *arg)
{
	const char *wrong = NULL;

	for (size_t i = 0; i < ENDS && !wrong; i++) {
		wrong = too_late;
		for (uint64_t soon = SOON; wrong == too_late && soon < HAUL_S; soon *= 2)
			wrong = ends_others(&ends[i], soon);
	}
	return (void *)wrong;
}

START_TEST(policies_cancel_the_others)
{
	struct haul_runtime *rt = start(_i);

	ck_assert_pstr_eq(run_on(rt, 0, end_others, NULL), NULL);
	runtime_stop(rt);
}
END_TEST

static int cancels_its_scope(void *arg)
{
	haul_scope_cancel(arg);
	return 0;
}

#define MANY 1000

static void *cancels_many(void *arg)
{
	HAUL_SCOPE(scope, HAUL_FOREVER, HAUL_SCOPE_ALL);

	memset(&s, 0, sizeof(s));
	for (int i = 0; i < MANY; i++)
		if (haul_scope_spawn(&scope, waits_long, NULL, NULL) != 0)
			return "no child";
	WAIT_UNTIL(s.begun == MANY);
	/* Each of these takes a part, because a cancel lets others run in between. */
	for (int i = 0; i < 3; i++)
		if (haul_scope_spawn(
			    &scope, i == 1 ? fails_at_once : cancels_its_scope, &scope, NULL) != 0)
			return "no child that cancels";
	haul_scope_join(&scope);
	if (haul_scope_spawn(&scope, waits_long, NULL, NULL) != -ECANCELED)
		return "a child after the cancel";
	return s.cancelled == MANY ? NULL : "a child that was not cancelled";
}

START_TEST(a_scope_of_many_is_cancelled)
{
	struct haul_runtime *rt = start(_i);

	ck_assert_pstr_eq(run_on(rt, 0, cancels_many, NULL), NULL);
	runtime_stop(rt);
}
END_TEST

static void *joined_too_late(void *arg)
{
	waits_long(arg);
	return NULL;
}

static int inner_deadline_is_bounded(void *arg)
{
	HAUL_SCOPE(scope, haul_in(FAR), HAUL_SCOPE_ALL);

	return haul_scope_spawn(&scope, waits_long, NULL, NULL) ?: haul_scope_join(&scope);
}

/* Waits of each kind, inside a scope whose deadline passes. */
static int waits_for(void *arg)
{
	struct haul_event event = {0};
	struct haul_coro *co;
	int err = 0;

	switch ((intptr_t)arg) {
	case 0:
		return haul_sleep(FAR);
	case 1:
		return haul_sleep_until(haul_in(FAR));
	case 2:
		return haul_park(HAUL_FOREVER);
	case 3:
		return haul_event_wait(&event, HAUL_FOREVER);
	case 4:
		return inner_deadline_is_bounded(NULL);
	case 5:
		return haul_event_wait(&event, haul_in(FAR));
	default:
		if (haul_spawn(&co, joined_too_late, NULL, NULL) != 0)
			return -ENOMEM;
		err = haul_join(co, NULL, HAUL_FOREVER);
		haul_cancel(co);
		while (haul_join(co, NULL, HAUL_FOREVER) == -ETIMEDOUT)
			haul_yield();
		return err;
	}
}

#define KINDS 7

static void *is_bounded(void *arg)
{
	uint64_t deadline;

	for (intptr_t kind = 0; kind < KINDS; kind++) {
		deadline = haul_in(SOON);
		HAUL_SCOPE(scope, deadline, HAUL_SCOPE_ALL);
		if (kind % 2 == 0 && waits_for((void *)kind) != -ETIMEDOUT)
			return "no time-out";
		if (haul_scope_spawn(&scope, waits_for, (void *)kind, NULL) != 0)
			return "no child";
		if (haul_scope_join(&scope) != -ETIMEDOUT)
			return "a child without a time-out";
		if (haul_now() < deadline)
			return "early";
	}
	return haul_sleep(1) == 0 ? NULL : "the deadline lasts";
}

START_TEST(a_deadline_bounds_each_wait_inside)
{
	struct haul_runtime *rt = start(_i);

	ck_assert_pstr_eq(run_on(rt, 0, is_bounded, NULL), NULL);
	runtime_stop(rt);
}
END_TEST

static int runs_on(void *arg)
{
	while (!haul_cancelled())
		haul_yield();
	return 0;
}

static void *outlives_its_deadline(void *arg)
{
	HAUL_SCOPE(scope, haul_in(SOON), HAUL_SCOPE_ALL);

	haul_scope_spawn(&scope, runs_on, NULL, NULL);
	return haul_scope_join(&scope) == -ETIMEDOUT ? NULL : "no time-out";
}

START_TEST(children_that_do_not_wait_are_cancelled_at_the_deadline)
{
	struct haul_runtime *rt = start(_i);

	ck_assert_pstr_eq(run_on(rt, 0, outlives_its_deadline, NULL), NULL);
	runtime_stop(rt);
}
END_TEST

/* Ends when it may, whoever cancels it. */
static int is_deaf(void *arg)
{
	HAUL_SHIELD(haul_in(FAR));

	s.begun++;
	return haul_event_wait(&s.may_end[0], HAUL_FOREVER);
}

static void *waits_for_the_deaf(void *arg)
{
	HAUL_SCOPE(scope, *(uint64_t *)arg, HAUL_SCOPE_ALL);

	haul_scope_spawn(&scope, is_deaf, NULL, NULL);
	return (void *)(intptr_t)haul_scope_join(&scope);
}

#define TURNS 1000

/* Takes turns with the owner of a scope, if that does not wait. */
static const char *takes_turns(bool sleeps)
{
	struct haul_carrier_stats before, after;

	haul_carrier_get_stats(haul_carrier_self(), &before);
	for (int i = 0; i < TURNS; i++)
		if (sleeps)
			haul_sleep(1);
		else
			haul_yield();
	haul_carrier_get_stats(haul_carrier_self(), &after);
	return after.slices - before.slices < TURNS * 3 / 2 ? NULL : "it runs while it waits";
}

/* cancels: else the deadline passes. */
static void *watches_an_owner(void *cancels)
{
	uint64_t deadline = cancels ? HAUL_FOREVER : haul_in(SOON);
	struct haul_coro *owner;
	const char *wrong;
	void *result;

	memset(&s, 0, sizeof(s));
	if (haul_spawn(&owner, waits_for_the_deaf, &deadline, NULL) != 0)
		return "no coroutine";
	WAIT_UNTIL(s.begun == 1);
	if (cancels)
		haul_cancel(owner);
	else
		haul_sleep_until(deadline + 1);
	wrong = takes_turns(!cancels);
	haul_event_set(&s.may_end[0]);
	haul_join(owner, &result, HAUL_FOREVER);
	if (!wrong && (intptr_t)result != (cancels ? -ECANCELED : -ETIMEDOUT))
		wrong = "a wrong error";
	return (void *)wrong;
}

START_TEST(an_owner_waits_for_children_that_do_not_end)
{
	struct haul_runtime *rt = start(0);

	ck_assert_pstr_eq(run_on(rt, 0, watches_an_owner, _i ? &s : NULL), NULL);
	runtime_stop(rt);
}
END_TEST

static void *marks(void *arg)
{
	*(unsigned *)arg = ++s.ended;
	return NULL;
}

static int marks_first(void *arg)
{
	marks(arg);
	return 0;
}

static void *joins_at_once(void *arg)
{
	unsigned directly = 0;

	for (int i = 0; i < 8; i++) {
		HAUL_SCOPE(scope, HAUL_FOREVER, HAUL_SCOPE_ALL);
		unsigned other, child;
		struct haul_coro *co;

		s.ended = 0;
		haul_spawn(&co, marks, &other, NULL);
		haul_scope_spawn(&scope, marks_first, &child, NULL);
		haul_scope_join(&scope);
		haul_join(co, NULL, HAUL_FOREVER);
		directly += child < other;
	}
	return directly >= 4 ? NULL : "others ran before the child";
}

START_TEST(a_join_right_after_the_spawn_runs_the_child)
{
	struct haul_runtime *rt = runtime_start(1);

	ck_assert_pstr_eq(run_on(rt, 0, joins_at_once, NULL), NULL);
	runtime_stop(rt);
}
END_TEST

static void *asks_for_the_impossible(void *arg)
{
	struct haul_coro_opts opts = {.stack_size = SIZE_MAX};
	HAUL_SCOPE(scope, HAUL_FOREVER, HAUL_SCOPE_ALL);

	if (haul_scope_join(&scope) != 0)
		return "an error of no child";
	if (haul_scope_spawn(&scope, fails_at_once, NULL, &opts) != -EINVAL)
		return "a stack of all memory";
	return haul_scope_join(&scope) == 0 ? NULL : "an error of no child";
}

START_TEST(errors_of_a_spawn_leave_the_scope_as_it_was)
{
	struct haul_runtime *rt = runtime_start(1);

	ck_assert_pstr_eq(run_on(rt, 0, asks_for_the_impossible, NULL), NULL);
	runtime_stop(rt);
}
END_TEST

SUITE_MAIN("scope", {the_first_error_comes_back, 6},
	{a_block_is_left_when_all_children_have_ended, 2}, {a_cancel_goes_down, 2},
	{a_stop_ends_scopes, 2}, {policies_cancel_the_others, 2}, {a_scope_of_many_is_cancelled, 2},
	{a_deadline_bounds_each_wait_inside, 2},
	{children_that_do_not_wait_are_cancelled_at_the_deadline, 2},
	{an_owner_waits_for_children_that_do_not_end, 2},
	{a_join_right_after_the_spawn_runs_the_child, 1},
	{errors_of_a_spawn_leave_the_scope_as_it_was, 1})
