/* SPDX-License-Identifier: BSD-3-Clause */
/* Shields for clean-up, values that children inherit, and misuse of haul/scope.h. */
#include <errno.h>
#include <stdatomic.h>

#include "misuse.h"
#include "sched/state/carrier.h"
#include "support/suite.h"

#define SOON (2 * HAUL_MS)
#define FAR (3600 * HAUL_S)

static struct haul_runtime *start(int i)
{
	return i ? runtime_start_stealing(4, NULL, HAUL_STEAL_CLUSTER) : runtime_start(1);
}

static struct {
	atomic_int step;
	atomic_bool cancelled;
	uint64_t soon; /* ns */
	struct haul_event event;
	struct haul_coro *child;
} s;

/* A result: the machine is so busy that the time was over before the wait began. */
static const char too_late[] = "too late";

/* Calls fn again, with a time twice as long, while it is too late. */
static void *in_time(void *fn)
{
	void *wrong = (void *)too_late;

	for (s.soon = SOON; wrong == too_late && s.soon < HAUL_S; s.soon *= 2)
		wrong = ((haul_fn *)fn)(NULL);
	return wrong;
}

/* The caller is cancelled already. */
static const char *cleans_up(void)
{
	HAUL_SHIELD(haul_in(FAR));
	struct haul_event event = {0};

	if (haul_cancelled())
		return "cancelled inside a shield";
	if (haul_sleep(SOON) != 0)
		return "a sleep inside a shield";
	if (haul_event_wait(&event, haul_in(SOON)) != -ETIMEDOUT)
		return "a wait inside a shield";
	if (haul_park(haul_in(SOON)) != -ETIMEDOUT)
		return "a park inside a shield";
	return NULL;
}

static void *is_cancelled(void *arg)
{
	const char *wrong;

	s.step = 1;
	if (haul_sleep(FAR) != -ECANCELED)
		return "not cancelled";
	wrong = cleans_up();
	if (wrong)
		return (void *)wrong;
	if (!haul_cancelled() || haul_sleep(1) != -ECANCELED)
		return "the cancel is forgotten after the shield";
	return NULL;
}

/* The cancel comes while it waits inside; two shields, and a scope between them. */
static const char *waits_in_shields(void)
{
	HAUL_SHIELD(haul_in(FAR));
	HAUL_SCOPE(scope, HAUL_FOREVER, HAUL_SCOPE_ALL);

	{
		HAUL_SHIELD(haul_in(FAR));

		s.step = 1;
		WAIT_UNTIL(s.cancelled);
		if (haul_sleep(SOON) != 0 || haul_cancelled())
			return "cancelled in the inner shield";
	}
	if (haul_sleep(SOON) != 0 || haul_cancelled())
		return "cancelled in the outer shield";
	return NULL;
}

static void *is_cancelled_inside(void *arg)
{
	const char *wrong = waits_in_shields();

	if (wrong)
		return (void *)wrong;
	return haul_cancelled() ? NULL : "the cancel is forgotten after the shields";
}

/* The time of the shield is over while it waits, cancelled. */
static void *takes_too_long(void *arg)
{
	uint64_t deadline = haul_in(s.soon);
	HAUL_SHIELD(deadline);
	int err;

	s.step = 1;
	WAIT_UNTIL(s.cancelled);
	err = haul_sleep(FAR);
	if (haul_now() < deadline)
		return "the sleep ends before the shield";
	if (err != -ETIMEDOUT)
		return (void *)too_late;
	if (haul_sleep(FAR) != -ECANCELED || !haul_cancelled())
		return "the shield lasts longer than its time";
	return haul_park(HAUL_FOREVER) == -ECANCELED ? NULL : "a park after that";
}

static haul_fn *cancelled;

static void *cancels(void *arg)
{
	struct haul_coro *co;
	void *wrong;

	s.step = 0;
	s.cancelled = false;
	if (haul_spawn(&co, cancelled, NULL, NULL) != 0)
		return "no coroutine";
	WAIT_UNTIL(s.step == 1);
	haul_cancel(co);
	s.cancelled = true;
	haul_join(co, &wrong, HAUL_FOREVER);
	return wrong;
}

START_TEST(a_shield_keeps_a_cancel_away_until_its_end)
{
	haul_fn *const fns[] = {is_cancelled, is_cancelled_inside, takes_too_long};
	struct haul_runtime *runtime = start(_i / 3);

	cancelled = fns[_i % 3];
	ck_assert_pstr_eq(run_on(runtime, 0, in_time, (void *)cancels), NULL);
	runtime_stop(runtime);
}
END_TEST

static atomic_bool cleaned_up;

static void *cleans_up_at_stop(void *arg)
{
	s.step = 1;
	haul_sleep(FAR);
	{
		HAUL_SHIELD(haul_in(FAR));

		cleaned_up = haul_sleep(SOON) == 0;
	}
	return NULL;
}

START_TEST(a_stop_waits_for_shields)
{
	struct haul_runtime *runtime = start(_i);

	s.step = 0;
	cleaned_up = false;
	ck_assert_int_eq(
		haul_spawn_on(haul_carrier(runtime, 0), NULL, cleans_up_at_stop, NULL, NULL), 0);
	WAIT_UNTIL(s.step == 1);
	runtime_stop(runtime);
	ck_assert(cleaned_up);
}
END_TEST

static int is_shielded_by_its_parent(void *arg)
{
	s.step++;
	return haul_sleep(FAR);
}

/* The parent's shield bounds the waits of children, and keeps no cancel from them. */
static void *has_a_child_in_a_shield(void *arg)
{
	uint64_t deadline = haul_in(s.soon);
	HAUL_SHIELD(deadline);
	HAUL_SCOPE(scope, HAUL_FOREVER, HAUL_SCOPE_ALL);
	int err;

	haul_scope_spawn(&scope, is_shielded_by_its_parent, NULL, NULL);
	haul_cancel(haul_self());
	err = haul_scope_join(&scope);
	if (haul_now() < deadline)
		return "before the end of the shield";
	if (err != -ETIMEDOUT)
		return (void *)too_late;
	haul_scope_spawn(&scope, is_shielded_by_its_parent, NULL, NULL);
	return NULL;
}

START_TEST(a_shield_bounds_children)
{
	struct haul_runtime *runtime = start(_i);

	ck_assert_pstr_eq(run_on(runtime, 0, in_time, (void *)has_a_child_in_a_shield), NULL);
	runtime_stop(runtime);
}
END_TEST

enum block { NO_BLOCK, SCOPE, SHIELD, BLOCKS };

static int waits_until_it_may_end(void)
{
	s.step = 1;
	haul_event_wait(&s.event, HAUL_FOREVER);
	return haul_cancelled() ? -ECANCELED : 0;
}

static int waits_in_a_scope(void)
{
	HAUL_SCOPE(scope, HAUL_FOREVER, HAUL_SCOPE_ALL);

	return waits_until_it_may_end();
}

/* In a block of its own, inside its parent's shield. */
static int waits_in_its_block(void *arg)
{
	s.child = haul_self();
	switch (*(enum block *)arg) {
	case SCOPE:
		return waits_in_a_scope();
	case SHIELD: {
		HAUL_SHIELD(haul_in(FAR));

		waits_until_it_may_end();
		break;
	}
	default:
		return waits_until_it_may_end();
	}
	return haul_cancelled() ? -ECANCELED : 0; /* after its shield */
}

static const char *cancels_a_child_in_a_shield(enum block block)
{
	HAUL_SHIELD(haul_in(FAR));
	HAUL_SCOPE(scope, HAUL_FOREVER, HAUL_SCOPE_ALL);
	bool seen;

	haul_scope_spawn(&scope, waits_in_its_block, &block, NULL);
	WAIT_UNTIL(s.step == 1);
	haul_scope_cancel(&scope);
	seen = hauli_coro_is_cancelled(s.child);
	haul_event_set(&s.event);
	if (haul_scope_join(&scope) != -ECANCELED)
		return "the cancel is lost";
	return seen == (block != SHIELD) ? NULL : "the wrong shield keeps the cancel";
}

static void *cancels_a_child(void *block)
{
	const char *wrong = cancels_a_child_in_a_shield(*(enum block *)block);

	if (!wrong && haul_cancelled())
		wrong = "the child's cancel is its parent's";
	return (void *)wrong;
}

START_TEST(a_parents_shield_keeps_no_cancel_of_a_child)
{
	struct haul_runtime *runtime = start(0);
	enum block block = (enum block)_i;

	memset(&s, 0, sizeof(s));
	ck_assert_pstr_eq(run_on(runtime, 0, cancels_a_child, &block), NULL);
	runtime_stop(runtime);
}
END_TEST

static const char colour, size; /* keys */
static char red[] = "red", blue[] = "blue", large[] = "large";

static void *has_no_value(void *arg)
{
	return haul_value(&colour) ? "inherited by a plain spawn" : NULL;
}

static int is_red_and_large(void *arg)
{
	return haul_value(&colour) == red && haul_value(&size) == large ? 0 : -EINVAL;
}

static int is_blue_in_a_grandchild(void *arg)
{
	HAUL_WITH(&colour, blue);
	HAUL_SCOPE(scope, HAUL_FOREVER, HAUL_SCOPE_ALL);

	if (is_red_and_large(NULL) == 0 || haul_value(&colour) != blue)
		return -EINVAL;
	haul_yield();
	{
		HAUL_WITH(&colour, red);
		int err = haul_scope_spawn(&scope, is_red_and_large, NULL, NULL);

		if (err)
			return err;
		/* The scope is outside this block: its children see what was bound around it. */
	}
	return haul_scope_join(&scope) == -EINVAL ? 0 : -EINVAL;
}

static const char *spawns_with_values(void)
{
	struct haul_coro *co;
	void *wrong;

	HAUL_WITH(&colour, red);
	HAUL_WITH(&size, large);
	HAUL_SCOPE(scope, HAUL_FOREVER, HAUL_SCOPE_ALL);

	for (int i = 0; i < 20; i++)
		if (haul_scope_spawn(&scope, i % 2 ? is_red_and_large : is_blue_in_a_grandchild,
			    NULL, NULL) != 0)
			return "no child";
	if (haul_spawn(&co, has_no_value, NULL, NULL) != 0)
		return "no coroutine";
	haul_join(co, &wrong, HAUL_FOREVER);
	return wrong ?: haul_scope_join(&scope) ? "a child with another value" : NULL;
}

static void *binds_values(void *arg)
{
	const char *wrong;

	if (haul_value(&colour))
		return "a value before it is bound";
	wrong = spawns_with_values();
	if (!wrong && haul_value(&colour))
		wrong = "a value after its block";
	return (void *)wrong;
}

START_TEST(values_go_down_to_children)
{
	struct haul_runtime *runtime = start(_i);

	ck_assert_ptr_null(haul_value(&colour)); /* a plain thread */
	ck_assert_pstr_eq(run_on(runtime, 0, binds_values, NULL), NULL);
	runtime_stop(runtime);
}
END_TEST

static int returns_0(void *arg)
{
	return 0;
}

static void scope_on_a_thread(void)
{
	HAUL_SCOPE(scope, HAUL_FOREVER, HAUL_SCOPE_ALL);
}

static void scope_in_a_handler(void)
{
	struct haul_coro *poller;

	haul_poller_register(
		haul_carrier(rt, 0), &poller, poll_with_handler, (void *)scope_on_a_thread, NULL);
	haul_join(poller, NULL, HAUL_FOREVER);
}

static void open_with_a_policy(void)
{
	HAUL_SCOPE(scope, HAUL_FOREVER, (enum haul_scope_policy)3);
}

static void no_such_policy(void)
{
	on_carrier(0, open_with_a_policy);
}

static struct haul_scope *others;

static int spawns_into_its_parents(void *arg)
{
	return haul_scope_spawn(others, returns_0, NULL, NULL);
}

static int joins_its_parents(void *arg)
{
	return haul_scope_join(others);
}

static void spawn_with(int (*fn)(void *arg))
{
	HAUL_SCOPE(scope, HAUL_FOREVER, HAUL_SCOPE_ALL);

	others = &scope;
	haul_scope_spawn(&scope, fn, NULL, NULL);
}

static void child_that_spawns(void)
{
	spawn_with(spawns_into_its_parents);
}

static void spawn_by_a_child(void)
{
	on_carrier(0, child_that_spawns);
}

static void child_that_joins(void)
{
	spawn_with(joins_its_parents);
}

static void join_by_a_child(void)
{
	on_carrier(0, child_that_joins);
}

static void open_and_leave(struct haul_scope *scope)
{
	haul_scope_open(scope, HAUL_FOREVER, HAUL_SCOPE_ALL);
	haul_scope_close(scope);
}

static void spawn_late(void)
{
	struct haul_scope scope;

	open_and_leave(&scope);
	haul_scope_spawn(&scope, returns_0, NULL, NULL);
}

static void spawn_after_the_end(void)
{
	on_carrier(0, spawn_late);
}

static void cancel_late(void)
{
	struct haul_scope scope;

	open_and_leave(&scope);
	haul_scope_cancel(&scope);
}

static void cancel_from_outside(void)
{
	on_carrier(0, cancel_late);
}

static void close_the_outer_first(void)
{
	struct haul_scope outer, inner;

	haul_scope_open(&outer, HAUL_FOREVER, HAUL_SCOPE_ALL);
	haul_scope_open(&inner, HAUL_FOREVER, HAUL_SCOPE_ALL);
	haul_scope_close(&outer);
}

static void wrong_order(void)
{
	on_carrier(0, close_the_outer_first);
}

static int leaves_a_shield_open(void *arg)
{
	static struct haul_shield shield;

	haul_shield_begin(&shield, haul_in(FAR));
	return 0;
}

static void child_in_a_shield(void)
{
	spawn_with(leaves_a_shield_open);
}

static void child_that_ends_in_a_block(void)
{
	on_carrier(0, child_in_a_shield);
}

static void begin_a_shield(void)
{
	HAUL_SHIELD(HAUL_FOREVER);
}

static void shield_without_an_end(void)
{
	on_carrier(0, begin_a_shield);
}

static void shield_on_a_thread(void)
{
	HAUL_SHIELD(haul_in(SOON));
}

static void bind_null(void)
{
	HAUL_WITH(NULL, red);
}

static void bind_nothing(void)
{
	on_carrier(0, bind_null);
}

static void bind_on_a_thread(void)
{
	HAUL_WITH(&colour, red);
}

static void value_of_null(void)
{
	haul_value(NULL);
}

#define NOT_A_COROUTINE "called outside a coroutine"
#define NOT_OWN "not one that the caller has declared"

static const struct misuse misuses[] = {
	{scope_on_a_thread, "haul_scope_open", NOT_A_COROUTINE},
	{scope_in_a_handler, "haul_scope_open", "in a burst handler"},
	{no_such_policy, "haul_scope_open", "no such policy"},
	{spawn_by_a_child, "haul_scope_spawn", NOT_OWN},
	{join_by_a_child, "haul_scope_join", NOT_OWN},
	{spawn_after_the_end, "haul_scope_spawn", NOT_OWN},
	{cancel_from_outside, "haul_scope_cancel", "the caller is not inside the scope"},
	{wrong_order, "haul_scope_close", "the block ends before one inside it"},
	{child_that_ends_in_a_block, "haul_scope_spawn", "ended inside a block of its own"},
	{shield_without_an_end, "haul_shield_begin", "a shield needs a deadline"},
	{shield_on_a_thread, "haul_shield_begin", NOT_A_COROUTINE},
	{bind_nothing, "haul_with_begin", "the key is NULL"},
	{bind_on_a_thread, "haul_with_begin", NOT_A_COROUTINE},
	{value_of_null, "haul_value", "the key is NULL"},
};

#define MISUSES (int)(sizeof(misuses) / sizeof(misuses[0]))

START_TEST(a_mistake_is_reported)
{
	misuse_is_reported(&misuses[_i]);
}
END_TEST

SUITE_MAIN("shield", {a_shield_keeps_a_cancel_away_until_its_end, 6}, {a_stop_waits_for_shields, 2},
	{a_shield_bounds_children, 2}, {a_parents_shield_keeps_no_cancel_of_a_child, BLOCKS},
	{values_go_down_to_children, 2}, {a_mistake_is_reported, MISUSES})
