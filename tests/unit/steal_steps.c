/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Single steps of stealing, each in a case that depends on it: the carriers that could help sleep
 * until they are called, so they run only then; and a home drains its inbox only when all mail is
 * there.
 */
#include <errno.h>
#include <stdatomic.h>

#include <haul/driver.h>
#include <haul/scope.h>

#include "base/clock.h"
#include "sched/spawn/spawn.h"
#include "sched/state/self.h"
#include "sched/steal/steal.h"
#include "support/runtime.h"
#include "support/suite.h"

static const struct haul_coro_opts pinned = {.pinned = true};

static struct {
	struct haul_runtime *rt;
	struct haul_coro *child;
	atomic_bool ran, asked;
	atomic_ulong due; /* time at which the thief has other work; ns */
	atomic_uint remote; /* stolen coroutines that have begun */
	atomic_uint first_theft; /* number of coroutines in the first theft */
	atomic_uint begun; /* children of a scope */
	uint64_t stolen; /* by carrier 1, before a cancel */
} s;

static struct haul_carrier_stats stats(unsigned i)
{
	struct haul_carrier_stats st;

	haul_carrier_get_stats(haul_carrier(s.rt, i), &st);
	return st;
}

static bool is_remote(void)
{
	return haul_carrier_self() != haul_coro_home(haul_self());
}

static void spin_until(const atomic_bool *what)
{
	while (!*what)
		sched_yield(); /* there are more carriers than CPUs */
}

/* Starts the carriers. The first sleep of a carrier has passed its barrier: only a call ends it. */
static void begin(unsigned carriers, unsigned most)
{
	struct haul_plan_opts plan_opts = {.carriers = carriers};
	struct haul_runtime_opts opts = {.steal = HAUL_STEAL_GLOBAL, .steal_most = most};
	struct haul_plan *plan;

	memset(&s, 0, sizeof(s));
	ck_assert_int_eq(haul_plan_create(&plan, &plan_opts, NULL, 0), 0);
	opts.plan = plan;
	ck_assert_int_eq(haul_start(&s.rt, &opts, NULL, 0), 0);
	haul_plan_destroy(plan);
	for (unsigned i = 0; i < carriers; i++)
		WAIT_UNTIL(stats(i).parks >= 1);
}

static struct haul_coro *spawn_on(
	unsigned i, haul_fn *fn, void *arg, const struct haul_coro_opts *opts)
{
	struct haul_coro *co;

	ck_assert_int_eq(haul_spawn_on(haul_carrier(s.rt, i), &co, fn, arg, opts), 0);
	return co;
}

static void *result_of(struct haul_coro *co)
{
	void *result;

	ck_assert_int_eq(haul_join(co, &result, HAUL_FOREVER), 0);
	return result;
}

/* After this the carrier's next sleep passes a barrier too: a carrier has at most one in a
 * millisecond. */
static void outlast_the_barrier_gap(void)
{
	uint64_t until = haul_now() + 2 * HAUL_MS;

	while (haul_now() < until)
		;
}

static void *sleeps(void *arg)
{
	outlast_the_barrier_gap();
	haul_sleep(HAUL_FOREVER);
	s.ran = true;
	return NULL;
}

static void *cancels_and_spins(void *arg)
{
	haul_cancel(arg);
	spin_until(&s.ran);
	return NULL;
}

START_TEST(coroutine_cancelled_by_a_hog_is_stolen)
{
	struct haul_coro *sleeper;

	begin(2, 0);
	sleeper = spawn_on(0, sleeps, NULL, NULL);
	WAIT_UNTIL(stats(0).parks >= 2);
	result_of(spawn_on(0, cancels_and_spins, sleeper, &pinned));
	result_of(sleeper);
	runtime_stop(s.rt);
}
END_TEST

static void *spins(void *arg)
{
	spin_until(&s.ran);
	return NULL;
}

static void *spins_when_it_is_due(void *arg)
{
	s.due = haul_now() + 20 * HAUL_MS;
	haul_sleep(20 * HAUL_MS); /* the other waits until it is due */
	return spins(NULL);
}

static void *yields_when_that_is_due(void *arg)
{
	while (haul_now() <= s.due)
		sched_yield();
	haul_yield();
	s.ran = true;
	return NULL;
}

/* A pinned coroutine makes a thief look through the whole queue: then it does not hand the search
 * on. */
static void *spins_before_two(void *arg)
{
	ck_assert_int_eq(haul_spawn(NULL, spins, NULL, &pinned), 0);
	ck_assert_int_eq(haul_spawn(NULL, yields_when_that_is_due, NULL, NULL), 0);
	return spins(NULL);
}

/* The thief has other work when the slice ends, so a third carrier has to be called. */
START_TEST(return_to_a_hog_wakes_another_thief)
{
	struct haul_coro *of_the_thief;

	begin(3, 0);
	of_the_thief = spawn_on(1, spins_when_it_is_due, NULL, &pinned);
	WAIT_UNTIL(stats(1).parks >= 2);
	result_of(spawn_on(0, spins_before_two, NULL, &pinned));
	result_of(of_the_thief);
	runtime_stop(s.rt);
}
END_TEST

static void *child(void *arg)
{
	s.ran = true;
	return NULL;
}

static void *needs_help(void *arg)
{
	ck_assert_int_eq(haul_spawn(NULL, child, NULL, NULL), 0);
	s.asked = true;
	spin_until(&s.ran);
	return NULL;
}

/* Runs in the batch that follows the begin of the search. */
static void *has_no_time_to_search(void *arg)
{
	bool kept = hauli_self()->steal.thief.search != 0;

	s.ran |= kept; /* no carrier will run the child */
	spin_until(&s.ran);
	return kept ? "kept" : NULL;
}

/* Puts this carrier into the state after it was sent a search and has napped. */
static void begin_to_search(struct haul_carrier *c)
{
	/* A carrier that was offered the caller may be searching, in vain, with the only one. */
	while (hauli_help_take_token(&c->steal.group->policy.help) != 0)
		sched_yield();
	hauli_steal_search(c, &c->steal.group->searches[0]);
}

/* Begins a search, then gives its carrier something to run. */
static void *is_sent_a_search(void *arg)
{
	struct haul_carrier *c = hauli_self();

	begin_to_search(c);
	*(struct haul_coro **)arg = spawn_on(0, needs_help, NULL, &pinned);
	spin_until(&s.asked);
	ck_assert_int_eq(hauli_spawn_by_mail(&(struct hauli_spawn){.carrier = c,
				 .out = &s.child,
				 .fn = has_no_time_to_search,
				 .opts = &pinned}),
		0);
	return NULL;
}

START_TEST(searcher_with_work_hands_its_search_on)
{
	struct haul_coro *needs;

	begin(3, 0);
	result_of(spawn_on(1, is_sent_a_search, &needs, &pinned));
	ck_assert_pstr_eq(result_of(s.child), NULL);
	result_of(needs);
	runtime_stop(s.rt);
}
END_TEST

static void *counts_its_theft(void *arg)
{
	if (s.remote++ == 0)
		s.first_theft = (unsigned)stats(haul_carrier_id(haul_carrier_self())).stolen;
	return NULL;
}

static void *has_ten(void *arg)
{
	ck_assert_int_eq(haul_spawn_many(s.rt, NULL, counts_its_theft, NULL, 10, NULL), 0);
	while (s.remote < 10)
		sched_yield();
	return NULL;
}

START_TEST(a_theft_takes_at_most_steal_most)
{
	begin(2, 3);
	result_of(spawn_on(0, has_ten, NULL, &pinned));
	ck_assert_uint_eq(s.first_theft, 3);
	runtime_stop(s.rt);
}
END_TEST

static void *sleeps_remote(void *arg)
{
	ck_assert(is_remote());
	s.remote = 1;
	return (void *)(intptr_t)haul_sleep(HAUL_FOREVER);
}

/* Runs on the home of a remote coroutine: waits until the slice has ended, without draining the
 * inbox. */
static void wait_until_back(void)
{
	while (!s.remote || hauli_inbox_is_empty(&hauli_self()->mail.inbox))
		sched_yield();
}

static void *parks_remote(void *arg)
{
	ck_assert(is_remote());
	s.remote = 1;
	return (void *)(intptr_t)haul_park(HAUL_FOREVER);
}

static void *cancels_between(void *fn)
{
	ck_assert_int_eq(haul_spawn(&s.child, (haul_fn *)fn, NULL, NULL), 0);
	wait_until_back();
	haul_cancel(s.child);
	s.ran = true;
	return NULL;
}

/* Sends nothing else to the carrier before the coroutine has ended. */
static void run_in_silence(haul_fn *fn, void *arg)
{
	struct haul_coro *co = spawn_on(0, fn, arg, &pinned);

	WAIT_UNTIL(s.ran);
	result_of(co);
}

START_TEST(cancel_on_the_way_to_a_wait_wakes)
{
	begin(2, 0);
	run_in_silence(cancels_between, _i ? (void *)parks_remote : (void *)sleeps_remote);
	ck_assert_int_eq((int)(intptr_t)result_of(s.child), -ECANCELED);
	runtime_stop(s.rt);
}
END_TEST

static void *parks_twice(void *arg)
{
	outlast_the_barrier_gap();
	ck_assert_int_eq(haul_park(HAUL_FOREVER), 0);
	ck_assert(is_remote());
	s.remote = 1;
	return (void *)(intptr_t)haul_park(HAUL_FOREVER);
}

static void *wakes_once(void *arg)
{
	haul_unpark(arg);
	wait_until_back();
	s.ran = true;
	return NULL;
}

static void *does_nothing(void *arg)
{
	return NULL;
}

START_TEST(a_permit_that_a_thief_took_is_gone)
{
	struct haul_coro *parks;

	begin(2, 0);
	parks = spawn_on(0, parks_twice, NULL, NULL);
	WAIT_UNTIL(stats(0).parks >= 2);
	run_in_silence(wakes_once, parks);
	/* When this has run, the returned coroutine has run too, if it had a permit. */
	result_of(spawn_on(0, does_nothing, NULL, &pinned));
	haul_cancel(parks);
	ck_assert_int_eq((int)(intptr_t)result_of(parks), -ECANCELED);
	runtime_stop(s.rt);
}
END_TEST

static void *tries_to_park_twice(void *arg)
{
	bool found, again;

	spin_until(&s.asked); /* it has a permit */
	ck_assert(is_remote());
	found = haul_park(0) == 0;
	again = haul_park(0) == 0;
	s.ran = true;
	return !found ? "no permit" : again ? "a permit twice" : NULL;
}

static void *gives_a_permit(void *arg)
{
	ck_assert_int_eq(haul_spawn(&s.child, tries_to_park_twice, NULL, NULL), 0);
	haul_unpark(s.child);
	s.asked = true;
	spin_until(&s.ran);
	return NULL;
}

START_TEST(a_permit_that_a_thief_tried_for_is_gone)
{
	begin(2, 0);
	result_of(spawn_on(0, gives_a_permit, NULL, &pinned));
	ck_assert_pstr_eq(result_of(s.child), NULL);
	runtime_stop(s.rt);
}
END_TEST

static void *pins_itself(void *arg)
{
	ck_assert(is_remote());
	s.remote = 1;
	haul_pin();
	return is_remote() ? "not at home" : NULL;
}

static void *spawns_one(void *fn)
{
	ck_assert_int_eq(haul_spawn(&s.child, (haul_fn *)fn, NULL, NULL), 0);
	while (!s.remote)
		sched_yield();
	return NULL;
}

START_TEST(a_pin_brings_a_stolen_one_home)
{
	begin(2, 0);
	result_of(spawn_on(0, spawns_one, (void *)pins_itself, &pinned));
	ck_assert_pstr_eq(result_of(s.child), NULL);
	runtime_stop(s.rt);
}
END_TEST

static void *ends_remote(void *arg)
{
	ck_assert(is_remote());
	s.child = haul_self();
	s.remote = 1;
	return NULL;
}

/* The home frees it in the step that counts its end. */
static void *spawns_a_detached_one(void *arg)
{
	uint64_t ended = stats(0).ended;

	ck_assert_int_eq(haul_spawn(NULL, ends_remote, NULL, NULL), 0);
	wait_until_back();
	while (stats(0).ended == ended)
		haul_yield();
	return hauli_coro_home(s.child) ? "not freed" : NULL;
}

START_TEST(a_detached_one_that_ends_remote_is_freed)
{
	begin(2, 0);
	ck_assert_pstr_eq(result_of(spawn_on(0, spawns_a_detached_one, NULL, &pinned)), NULL);
	runtime_stop(s.rt);
}
END_TEST

#define CANCELLED_AT_ONCE 64 /* children of a scope, before its owner yields */

/* When the first of them is cancelled, it keeps the home until a thief has taken the owner. */
static int hogs_until_the_owner_is_stolen(void *arg)
{
	s.begun++;
	haul_sleep(HAUL_FOREVER);
	while (stats(1).stolen == s.stolen) {
		hauli_steal_offer(hauli_self());
		sched_yield();
	}
	return 0;
}

static void *cancels_a_crowd(void *arg)
{
	HAUL_SCOPE(scope, HAUL_FOREVER, HAUL_SCOPE_ALL);

	haul_pin();
	for (unsigned i = 0; i <= CANCELLED_AT_ONCE; i++)
		ck_assert_int_eq(
			haul_scope_spawn(&scope, hogs_until_the_owner_is_stolen, NULL, &pinned), 0);
	WAIT_UNTIL(s.begun == CANCELLED_AT_ONCE + 1);
	s.stolen = stats(1).stolen;
	haul_unpin();
	haul_scope_cancel(&scope);
	return is_remote() ? "not at home" : NULL;
}

START_TEST(an_owner_stolen_amid_a_cancel_goes_on_at_home)
{
	begin(2, 0);
	ck_assert_pstr_eq(result_of(spawn_on(0, cancels_a_crowd, NULL, NULL)), NULL);
	runtime_stop(s.rt);
}
END_TEST

static int sleeps_as_a_child(void *arg)
{
	s.child = haul_self();
	s.begun = 1;
	return haul_sleep(HAUL_FOREVER);
}

static void *joins_its_scope(void *arg)
{
	HAUL_SCOPE(scope, HAUL_FOREVER, HAUL_SCOPE_ALL);

	ck_assert_int_eq(haul_scope_spawn(&scope, sleeps_as_a_child, NULL, &pinned), 0);
	outlast_the_barrier_gap();
	return (void *)(intptr_t)haul_scope_join(&scope);
}

/* The first mail is that the owner has to go home; or, wrongly, its cancel of the child. */
static void *cancels_the_owner(void *owner)
{
	bool cancelled;

	haul_cancel(owner);
	while (hauli_inbox_is_empty(&hauli_self()->mail.inbox))
		sched_yield();
	cancelled = hauli_requests_pending(&s.child->requests);
	s.ran = true;
	return cancelled ? "cancelled by the thief" : NULL;
}

START_TEST(an_owner_stolen_after_its_wait_goes_on_at_home)
{
	struct haul_coro *owner, *canceller;

	begin(2, 0);
	owner = spawn_on(0, joins_its_scope, NULL, NULL);
	WAIT_UNTIL(s.begun && stats(0).parks >= 2 &&
		hauli_inbox_is_asleep(&haul_carrier(s.rt, 0)->mail.inbox));
	canceller = spawn_on(0, cancels_the_owner, owner, &pinned);
	WAIT_UNTIL(s.ran); /* without other mail */
	ck_assert_pstr_eq(result_of(canceller), NULL);
	ck_assert_int_eq((int)(intptr_t)result_of(owner), -ECANCELED);
	runtime_stop(s.rt);
}
END_TEST

static void *has_no_input(void *arg)
{
	struct haul_carrier *c = hauli_self();
	uint64_t rounds;

	begin_to_search(c);
	rounds = hauli_counter_read(&c->counts.rounds);
	haul_maybe_yield(false);
	return hauli_counter_read(&c->counts.rounds) > rounds ? NULL : "no time to search";
}

/* Its input lasts for long: another carrier has to run the child. */
static void *has_input(void *arg)
{
	struct haul_carrier *c = hauli_self();
	uint64_t rounds;

	begin_to_search(c);
	c->steal.thief.nap_until += hauli_ticks_from_ns(HAUL_S);
	*(struct haul_coro **)arg = spawn_on(0, needs_help, NULL, &pinned);
	spin_until(&s.asked);
	do { /* once the carrier has no mail */
		rounds = hauli_counter_read(&c->counts.rounds);
		haul_maybe_yield(true);
	} while (hauli_counter_read(&c->counts.rounds) > rounds);
	if (c->steal.thief.search) {
		s.ran = true; /* no carrier will run the child */
		return "kept";
	}
	spin_until(&s.ran);
	return NULL;
}

static void run_poller(unsigned i, haul_fn *fn, void *arg)
{
	struct haul_coro *poller;

	ck_assert_int_eq(haul_poller_register(haul_carrier(s.rt, i), &poller, fn, arg, NULL), 0);
	ck_assert_pstr_eq(result_of(poller), NULL);
}

START_TEST(a_poller_without_input_gives_way_to_a_search)
{
	begin(2, 0);
	run_poller(0, has_no_input, NULL);
	runtime_stop(s.rt);
}
END_TEST

START_TEST(a_poller_with_input_hands_its_search_on)
{
	struct haul_coro *needs;

	begin(3, 0);
	run_poller(1, has_input, &needs);
	result_of(needs);
	runtime_stop(s.rt);
}
END_TEST

SUITE_MAIN("steal_steps", {coroutine_cancelled_by_a_hog_is_stolen, 1},
	{return_to_a_hog_wakes_another_thief, 1}, {searcher_with_work_hands_its_search_on, 1},
	{a_theft_takes_at_most_steal_most, 1}, {cancel_on_the_way_to_a_wait_wakes, 2},
	{a_permit_that_a_thief_took_is_gone, 1}, {a_permit_that_a_thief_tried_for_is_gone, 1},
	{a_pin_brings_a_stolen_one_home, 1}, {a_detached_one_that_ends_remote_is_freed, 1},
	{an_owner_stolen_amid_a_cancel_goes_on_at_home, 1},
	{an_owner_stolen_after_its_wait_goes_on_at_home, 1},
	{a_poller_without_input_gives_way_to_a_search, 1},
	{a_poller_with_input_hands_its_search_on, 1})
