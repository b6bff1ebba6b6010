/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The decisions of stealing, over members whose state is fixed: the thief's choice of victim, the
 * member to wake, the least work worth a theft, the number of coroutines stolen, and the end of a
 * search.
 */
#include <string.h>

#include "sched/state/policy.h"
#include "sched/state/slices.h"
#include "support/suite.h"
#include "topo.h"

#define MEMBERS 8
#define TWO_PACKAGES "package:2 numa:1 l3:2 core:2 pu:1" /* 0 1 | 2 3 || 4 5 | 6 7 */
#define NONE 99

static struct {
	struct hauli_policy policy;
	struct hauli_policy_view seen[MEMBERS];
	struct hauli_thief thief;
	bool asleep[MEMBERS];
	unsigned victim, took, woken, token;
	unsigned looks; /* looks left before another member requests help */
	unsigned calls; /* the member that does */
} w;

static void waits(unsigned idx, unsigned depth, uint64_t average, uint64_t began);

static void look(const struct hauli_policy *p, unsigned idx, struct hauli_policy_view *s)
{
	*s = w.seen[idx];
	if (w.looks > 0 && --w.looks == 0) {
		waits(w.calls, 4, 1000, 1);
		hauli_policy_offer(&w.policy, w.calls);
	}
}

static bool steal(struct hauli_thief *t, unsigned victim, unsigned most)
{
	w.victim = victim;
	w.took = most;
	return true;
}

static bool wake(struct hauli_policy *p, unsigned idx, unsigned token)
{
	if (!w.asleep[idx])
		return false;
	w.woken = idx;
	w.token = token;
	return true;
}

static bool is_asleep(const struct hauli_policy *p, unsigned idx)
{
	return w.asleep[idx];
}

static const struct hauli_policy_ops ops = {look, steal, wake, is_asleep};

static const struct hauli_policy_params params = {
	.most = 128,
	.depth = 1,
	.naps = 3,
	.pull_every = 16,
	.min_work = 1000,
	.barrier_work = 3000,
	.least = 10,
	.hog = 10000,
	.nap = 500,
};

static void set_up(unsigned thief)
{
	static const unsigned carriers[MEMBERS] = {0, 1, 2, 3, 4, 5, 6, 7};
	struct haul_plan *plan =
		plan_of((struct haul_plan_opts){.carriers = MEMBERS, .machine = TWO_PACKAGES});

	memset(&w, 0, sizeof(w));
	w.policy.params = params;
	w.policy.members = MEMBERS;
	ck_assert_int_eq(hauli_policy_init(&w.policy, plan, carriers, 1, &ops), 0);
	w.thief = (struct hauli_thief){.policy = &w.policy, .group_idx = thief};
	w.victim = w.woken = NONE;
	haul_plan_destroy(plan);
}

static void sleeps(unsigned idx)
{
	w.asleep[idx] = true;
	hauli_help_set_idle(&w.policy.help, idx);
}

/* Puts depth coroutines behind a batch that began at began; each takes average ns. */
static void waits(unsigned idx, unsigned depth, uint64_t average, uint64_t began)
{
	w.seen[idx] = (struct hauli_policy_view){.depth = depth,
		.stealable = true,
		.fenced = true,
		.began = began,
		.average = average};
}

START_TEST(the_nearest_victim_comes_first)
{
	static const unsigned near_to_3[] = {2, 0, 1, 4, 5, 6, 7};

	set_up(3);
	for (unsigned i = 0; i < MEMBERS; i++)
		if (i != 3)
			waits(i, 4, 1000, 1);
	for (unsigned k = 0; k < MEMBERS - 1; k++) {
		ck_assert(hauli_policy_idle(&w.thief, 2));
		ck_assert_uint_eq(w.victim, near_to_3[k]);
		waits(w.victim, 0, 1000, 1);
	}
	ck_assert(!hauli_policy_idle(&w.thief, 2));
	hauli_policy_fini(&w.policy);
}
END_TEST

START_TEST(the_nearest_in_need_comes_first)
{
	set_up(3);
	sleeps(7);
	waits(5, 4, 1000, 1);
	waits(0, 4, 1000, 1);
	ck_assert(hauli_help_request(&w.policy.help, 5));
	ck_assert(hauli_help_request(&w.policy.help, 0));
	ck_assert(hauli_policy_pull(&w.thief, 2));
	ck_assert_uint_eq(w.victim, 0);
	hauli_policy_fini(&w.policy);
}
END_TEST

START_TEST(the_nearest_sleeper_is_woken)
{
	set_up(0);
	sleeps(4);
	sleeps(1);
	waits(3, 4, 1000, 1);
	hauli_policy_offer(&w.policy, 3);
	ck_assert_uint_eq(w.woken, 1);
	ck_assert_int_eq(hauli_help_take_token(&w.policy.help), -1);
	hauli_policy_fini(&w.policy);
}
END_TEST

/* The thief hands its search to a sleeper near the requester, not near itself. */
START_TEST(a_search_goes_to_a_sleeper_near_the_requester)
{
	set_up(6);
	sleeps(7);
	sleeps(0);
	waits(1, 4, 1000, 1);
	ck_assert(hauli_help_request(&w.policy.help, 1));
	hauli_policy_begin(&w.thief, (unsigned)hauli_help_take_token(&w.policy.help), 2);
	hauli_policy_end(&w.thief);
	ck_assert_uint_eq(w.woken, 0);
	ck_assert_uint_eq(w.thief.search, 0);
	hauli_policy_fini(&w.policy);
}
END_TEST

static const struct theft_case {
	unsigned min_depth, depth;
	bool stealable, mail;
	uint64_t began, average;
	unsigned took; /* number stolen at time 20,000; 0: no theft */
} cases[] = {
	{1, 1, true, false, 19000, 999, 0}, /* the work is worth less than a theft costs */
	{1, 1, true, false, 19000, 1000, 1},
	{1, 10, true, false, 19000, 100, 6}, /* half of eleven */
	{1, 10, true, false, 0, 100, 5},
	{1, 200, true, false, 19000, 9, 0}, /* each slice is too short to be moved */
	{1, 200, true, false, 10000, 9, 101},
	/* behind a hog */ {1, 256, true, false, 19000, 10, 128}, /* at most this number */
	{1, 10, false, false, 19000, 1000, 0}, /* thieves have found nothing more to take */
	{1, 1, true, false, 0, 5000, 0}, /* no batch runs: the owner runs it next */
	{1, 2, true, false, 0, 5000, 1}, {4, 3, true, false, 19000, 5000, 0}, /* too short */
	{4, 4, true, false, 19000, 5000, 3},
	{4, 1, true, false, 10000, 10, 1}, /* behind a hog each one counts */
	{4, 0, false, true, 10000, 10, 1}, /* and mail counts too */
	{1, 0, false, true, 19000, 10, 0}, {1, 1, true, false, 10001, 10, 0}, /* not a hog yet */
};

START_TEST(work_that_pays_for_a_theft)
{
	const struct theft_case *x = &cases[_i];

	set_up(0);
	w.policy.params.depth = x->min_depth;
	w.seen[1] = (struct hauli_policy_view){.depth = x->depth,
		.stealable = x->stealable,
		.mail = x->mail,
		.fenced = true,
		.began = x->began,
		.average = x->average};
	ck_assert_int_eq(hauli_policy_idle(&w.thief, 20000), x->took > 0);
	ck_assert_uint_eq(w.took, x->took);
	hauli_policy_fini(&w.policy);
}
END_TEST

/* Trip cost: the part of each slice that is spent on the way home. */
START_TEST(ordered_slices_pay_less)
{
	set_up(0);
	w.policy.params.trip_cost = 300;
	waits(1, 4, 549, 2000);
	w.seen[1].ordered = true;
	ck_assert(!hauli_policy_idle(&w.thief, 2000)); /* 4 * 249 */
	w.seen[1].ordered = false;
	ck_assert(hauli_policy_idle(&w.thief, 2000));
	waits(1, 4, 550, 2000);
	w.seen[1].ordered = true;
	ck_assert(hauli_policy_idle(&w.thief, 2000));
	waits(1, 200, 309, 2000);
	w.seen[1].ordered = true;
	ck_assert(!hauli_policy_idle(&w.thief, 2000)); /* each slice is too short */
	hauli_policy_fini(&w.policy);
}
END_TEST

/* One slice with an interrupt in it hardly raises the typical length. (Each theft interrupts the
 * other members.) */
START_TEST(an_outlier_is_not_typical)
{
	struct hauli_slices s = {.budget = 1};

	for (unsigned i = 0; i < 100; i++)
		hauli_slices_learn(&s, 1000, 20000);
	ck_assert_uint_le(1000 - s.typical, 8);
	hauli_slices_learn(&s, 100000, 20000);
	ck_assert_uint_eq(s.average, 100000);
	ck_assert_uint_le(s.typical, 1150);
	for (unsigned i = 0; i < 100; i++)
		hauli_slices_learn(&s, 50000, 20000);
	ck_assert_uint_ge(s.typical, 49000); /* a lasting change of load does */
}
END_TEST

START_TEST(thefts_are_kept_apart)
{
	set_up(0);
	w.policy.params.min_gap = 500;
	waits(1, 4, 1000, 2000);
	ck_assert(hauli_policy_idle(&w.thief, 2000));
	ck_assert(!hauli_policy_idle(&w.thief, 2499));
	ck_assert(!hauli_policy_pull(&w.thief, 2499));
	ck_assert(hauli_policy_idle(&w.thief, 2500));
	hauli_policy_fini(&w.policy);
}
END_TEST

/* A theft from a ring that is not fenced makes all carriers pass a barrier: it needs more work, and
 * more time since the last one. */
START_TEST(thefts_with_a_barrier_are_rarer)
{
	set_up(0);
	w.policy.params.barrier_gap = 500;
	waits(1, 4, 749, 2000);
	w.seen[1].fenced = false;
	ck_assert(!hauli_policy_idle(&w.thief, 2000));
	waits(1, 4, 750, 2000);
	w.seen[1].fenced = false;
	ck_assert(hauli_policy_idle(&w.thief, 2000));
	ck_assert(!hauli_policy_idle(&w.thief, 2499));
	ck_assert(!hauli_policy_pull(&w.thief, 2499));
	waits(2, 4, 250, 2000);
	ck_assert(hauli_policy_idle(&w.thief, 2499)); /* from one that is fenced meanwhile */
	ck_assert_uint_eq(w.victim, 2);
	waits(2, 0, 0, 0);
	ck_assert(hauli_policy_idle(&w.thief, 2500));
	ck_assert_uint_eq(w.victim, 1);
	hauli_policy_fini(&w.policy);
}
END_TEST

/* Not even a hog justifies a barrier before its time. */
START_TEST(a_barrier_for_a_hog_has_to_wait)
{
	set_up(0);
	w.policy.params.barrier_gap = 500;
	waits(1, 1, 10, 2000);
	w.seen[1].fenced = false;
	ck_assert(hauli_policy_idle(&w.thief, 2000 + params.hog));
	ck_assert(!hauli_policy_idle(&w.thief, 2499 + params.hog));
	w.seen[1].fenced = true;
	ck_assert(hauli_policy_idle(&w.thief, 2499 + params.hog));
	hauli_policy_fini(&w.policy);
}
END_TEST

/* With two members a barrier interrupts no other member; groups share a bound on all
 * interrupts. What a barrier costs all carriers pays for as many pops of a fenced ring. */
START_TEST(with_many_carriers_barriers_are_rarer)
{
	struct hauli_policy_params two = hauli_policy_defaults(2, 1);
	struct hauli_policy_params many = hauli_policy_defaults(64, 1);
	struct hauli_policy_params clusters = hauli_policy_defaults(64, 8);

	ck_assert_uint_eq(two.barrier_gap, 0);
	ck_assert_uint_gt(many.barrier_gap, 0);
	ck_assert_uint_gt(many.barrier_work, two.barrier_work);
	ck_assert_uint_eq(many.min_work, two.min_work);
	ck_assert_uint_eq(two.min_work, two.barrier_work);
	ck_assert_uint_gt(clusters.barrier_gap, 7 * many.barrier_gap);
	ck_assert_uint_eq(hauli_policy_defaults(1, 1).barrier_gap, 0);
	ck_assert_uint_gt(many.lease, 20 * two.lease);
	ck_assert_uint_gt(hauli_policy_defaults(1, 1).lease, 0);
}
END_TEST

/* A searcher without a victim naps for longer each time, then gives the token back. */
START_TEST(a_search_ends)
{
	uint64_t now = 0;

	set_up(0);
	hauli_policy_begin(&w.thief, (unsigned)hauli_help_take_token(&w.policy.help), now);
	for (unsigned nap = 1; nap <= params.naps; nap++) {
		ck_assert(!hauli_policy_idle(&w.thief, now));
		ck_assert_uint_ne(w.thief.search, 0);
		ck_assert_uint_eq(w.thief.nap_until, now + (params.nap << nap));
		ck_assert(!hauli_policy_idle(&w.thief, w.thief.nap_until - 1));
		now = w.thief.nap_until;
	}
	ck_assert(!hauli_policy_idle(&w.thief, now));
	ck_assert_uint_eq(w.thief.search, 0);
	ck_assert_int_ge(hauli_help_take_token(&w.policy.help), 0);
	hauli_policy_fini(&w.policy);
}
END_TEST

/* One of two searchers ends; the other naps, and no other member sleeps. */
START_TEST(a_napping_searcher_is_sent_no_search)
{
	struct hauli_help *help = &w.policy.help;

	set_up(0);
	hauli_help_init(help, MEMBERS, 2);
	sleeps(7);
	waits(2, 1, 10, 1);
	ck_assert(hauli_help_request(help, 2));
	ck_assert_int_ge(hauli_help_take_token(help), 0); /* member 7's token */
	hauli_help_clear_idle(help, 7);
	hauli_policy_begin(&w.thief, (unsigned)hauli_help_take_token(help), 1);
	hauli_policy_end(&w.thief);
	ck_assert_uint_eq(w.woken, NONE);
	ck_assert_int_ge(hauli_help_take_token(help), 0);
	hauli_policy_fini(&w.policy);
}
END_TEST

/* A searcher with a possible victim continues, until the victim has a hog. */
START_TEST(a_search_waits_for_a_hog)
{
	set_up(0);
	sleeps(7);
	waits(2, 1, 10, 1);
	ck_assert(hauli_help_request(&w.policy.help, 2));
	w.asleep[7] = false;
	hauli_policy_begin(&w.thief, (unsigned)hauli_help_take_token(&w.policy.help), 1);
	for (uint64_t now = 1; now < 1 + params.hog; now = w.thief.nap_until) {
		ck_assert(!hauli_policy_idle(&w.thief, now));
		ck_assert_uint_eq(w.thief.nap_until, now + params.nap);
	}
	ck_assert(hauli_policy_idle(&w.thief, 1 + params.hog));
	ck_assert_uint_eq(w.victim, 2);
	ck_assert_uint_eq(w.thief.search, 0);
	hauli_policy_fini(&w.policy);
}
END_TEST

/* A member that goes idle during a surplus searches itself, unless another member does. */
START_TEST(a_member_that_goes_idle_rechecks)
{
	set_up(0);
	sleeps(0);
	ck_assert(hauli_policy_may_stay(&w.thief, 1));
	waits(5, 1, 10, 1);
	ck_assert(!hauli_policy_may_stay(&w.thief, 2));
	ck_assert_uint_ne(w.thief.search, 0);
	w.thief.search = 0; /* another member has the token */
	ck_assert(hauli_policy_may_stay(&w.thief, 3));
	ck_assert_int_eq(hauli_help_next_wanted(&w.policy.help, 0), 5);
	hauli_policy_fini(&w.policy);
}
END_TEST

/*
 * Member 5 has requested help and has nothing left. While the searcher finds that out, a member
 * requests help and gets no token: after the first look member 5 itself, whose request is about to
 * be cleared; after the second look another member, which was checked before.
 */
START_TEST(a_request_amid_the_end_of_a_search_is_found)
{
	set_up(0);
	sleeps(7);
	ck_assert(hauli_help_request(&w.policy.help, 5));
	hauli_policy_begin(&w.thief, (unsigned)hauli_help_take_token(&w.policy.help), 2);
	w.looks = 1 + (unsigned)_i;
	w.calls = _i ? 2 : 5;
	hauli_policy_end(&w.thief);
	ck_assert_uint_eq(w.looks, 0);
	ck_assert_uint_eq(w.woken, 7);
	ck_assert_int_eq(hauli_help_take_token(&w.policy.help), -1);
	hauli_policy_fini(&w.policy);
}
END_TEST

/* Short cycles are counted; a cycle as long as a nap counts as a look by itself. */
START_TEST(spinning_member_looks_by_cycles_and_by_time)
{
	uint64_t now = 1000000;

	set_up(0);
	w.thief.pulled_at = now;
	for (unsigned looks = 0; looks < 3; looks++) {
		for (unsigned i = 1; i < params.pull_every; i++)
			ck_assert(!hauli_policy_pulls(&w.thief, ++now));
		ck_assert(hauli_policy_pulls(&w.thief, ++now));
	}
	for (unsigned i = 0; i < 3; i++)
		ck_assert(hauli_policy_pulls(&w.thief, now += params.nap));
	ck_assert(!hauli_policy_pulls(&w.thief, now + params.nap - 1));
	hauli_policy_fini(&w.policy);
}
END_TEST

SUITE_MAIN("policy", {spinning_member_looks_by_cycles_and_by_time, 1},
	{the_nearest_victim_comes_first, 1}, {the_nearest_in_need_comes_first, 1},
	{the_nearest_sleeper_is_woken, 1}, {a_search_goes_to_a_sleeper_near_the_requester, 1},
	{work_that_pays_for_a_theft, sizeof(cases) / sizeof(cases[0])},
	{ordered_slices_pay_less, 1}, {an_outlier_is_not_typical, 1}, {thefts_are_kept_apart, 1},
	{thefts_with_a_barrier_are_rarer, 1}, {a_barrier_for_a_hog_has_to_wait, 1},
	{with_many_carriers_barriers_are_rarer, 1}, {a_search_ends, 1},
	{a_napping_searcher_is_sent_no_search, 1}, {a_search_waits_for_a_hog, 1},
	{a_member_that_goes_idle_rechecks, 1}, {a_request_amid_the_end_of_a_search_is_found, 2})
