/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stealing is reluctant. Coroutines behind a running one are a surplus. A surplus is worth a theft
 * only if it is more work than the theft costs, or if one batch has run for so long that its
 * carrier counts as blocked by a hog.
 *
 *	push   A thread that makes a surplus while a member sleeps takes a token, if there is one,
 *	       and sends it to the sleeper as a search. It sends to sleepers only: a member that is
 *	       awake may be about to run a hog, which would hold up the search. The searcher serves
 *	       all members that want help: it steals if that is profitable, and naps in between,
 *	       because only time shows a hog. Before it runs what it stole it hands the search on
 *	       if there is still a surplus and a sleeper; else it gives the token back and looks
 *	       once more (conc/help.c, D2).
 *	pull   An idle member that does not sleep looks at members that want help, and at two
 *	       others.
 *
 * A member that has gone to sleep looks at all others once before it waits (D1). If one of them has
 * a surplus, even one that is not worth a theft yet, the member searches, unless all tokens are
 * taken.
 *
 * The nearest come first: a thief looks at the members in need nearest to it, and a search goes to
 * the sleeper nearest to the member in need.
 *
 * Used by steal.c and by perf/sim. Stress: tests/stress/steal.c.
 */
#include "sched/state/policy.h"

#include <errno.h>
#include <stdlib.h>

#define NOBODY (-1)
#define US 1000
#define INTERRUPT 1500 /* a barrier's cost to each other carrier; ns */
#define BARRIER (5 * US / 2) /* its cost to the thief */
#define FENCE 8 /* extra cost of a pop from a fenced ring */
/* minimum time between barriers of a process, so that they take at most 5 % of each carrier's
 * time */
#define BARRIER_GAP_ALL (20 * INTERRUPT)

/*
 * The barrier of a theft interrupts all carriers of the process, not only thief and victim. So with
 * more carriers, the minimum gap between such thefts and their minimum work grow. But it fences the
 * victim's ring (conc/ring.h), so the next thefts from there need no barrier, until the victim has
 * spent on fences what a barrier costs all carriers: docs/design/0012.
 */
struct hauli_policy_params hauli_policy_defaults(unsigned carriers, unsigned groups)
{
	unsigned others = carriers > 2 ? carriers - 2 : 0;
	unsigned members = carriers / groups;
	uint64_t barrier_gap = (uint64_t)BARRIER_GAP_ALL * groups * others / carriers;

	return (struct hauli_policy_params){
		.most = HAULI_STEAL_MOST,
		.depth = 1,
		.naps = 5,
		.lease = (BARRIER + (carriers - 1) * INTERRUPT) / FENCE,
		.pull_every = 64,
		.min_work = 10 * US,
		.barrier_work = 10 * US + barrier_gap / 8,
		.least = US / 2,
		.trip_cost = 6 * US / 5,
		.min_gap = members > 8 ? 32 * US / members : 4 * US,
		.barrier_gap = barrier_gap,
		.hog = 100 * US,
		.nap = 50 * US,
	};
}

/* Copies the order by distance from the plan, without the carriers of other groups. */
static void write_by_distance(
	struct hauli_policy *p, const struct haul_plan *plan, const unsigned *carriers)
{
	int idx_of[HAUL_CARRIERS_MAX];
	uint16_t *at = p->by_distance;

	for (unsigned c = 0; c < plan->carriers; c++)
		idx_of[c] = NOBODY;
	for (unsigned i = 0; i < p->members; i++)
		idx_of[carriers[i]] = (int)i;
	for (unsigned i = 0; i < p->members; i++) {
		const unsigned *others =
			plan->by_distance + (size_t)carriers[i] * (plan->carriers - 1);

		*at++ = (uint16_t)i;
		for (unsigned k = 0; k + 1 < plan->carriers; k++)
			if (idx_of[others[k]] != NOBODY)
				*at++ = (uint16_t)idx_of[others[k]];
	}
}

int hauli_policy_init(struct hauli_policy *p, const struct haul_plan *plan,
	const unsigned *carriers, unsigned searches, const struct hauli_policy_ops *ops)
{
	p->ops = ops;
	hauli_u64_shared_set(&p->theft_at, 0);
	hauli_u64_shared_set(&p->barrier_at, 0);
	p->by_distance = calloc((size_t)p->members * p->members + 1, sizeof(p->by_distance[0]));
	if (!p->by_distance)
		return -ENOMEM;
	write_by_distance(p, plan, carriers);
	hauli_help_init(&p->help, p->members, searches);
	return 0;
}

void hauli_policy_fini(struct hauli_policy *p)
{
	free(p->by_distance);
}

/* The k-th nearest member; the 0-th is the member itself. */
static unsigned near(const struct hauli_policy *p, unsigned idx, unsigned k)
{
	return p->by_distance[idx * p->members + k];
}

/* True if the member has a coroutine that another member could run while it runs a different
 * one. */
static bool is_surplus(const struct hauli_policy_view *s)
{
	bool runs = s->began != 0;

	if (s->stealable && s->depth >= (runs ? 1 : 2))
		return true;
	return runs && s->mail;
}

static bool is_hogged(const struct hauli_policy *p, const struct hauli_policy_view *s, uint64_t now)
{
	return s->began != 0 && (int64_t)(now - s->began) >= (int64_t)p->params.hog;
}

/* Time that the member saves if one slice runs elsewhere; ticks. */
static uint64_t saved(const struct hauli_policy *p, const struct hauli_policy_view *s)
{
	uint64_t trip_cost = s->ordered ? p->params.trip_cost : 0;

	return s->average > trip_cost ? s->average - trip_cost : 0;
}

/* Time that the member saves if its whole queue runs elsewhere; ticks. Infinite for a hog. */
static uint64_t burden(
	const struct hauli_policy *p, const struct hauli_policy_view *s, uint64_t now)
{
	return is_hogged(p, s, now) ? UINT64_MAX : s->depth * saved(p, s);
}

/* Several thieves may pass these checks at the same time: a theft more does no harm. */
static bool is_too_soon(const struct hauli_policy *p, uint64_t now)
{
	return now - hauli_u64_shared_get(&p->theft_at) < p->params.min_gap;
}

static bool is_too_soon_for_barrier(const struct hauli_policy *p, uint64_t now)
{
	return now - hauli_u64_shared_get(&p->barrier_at) < p->params.barrier_gap;
}

static bool is_profitable(
	const struct hauli_policy *p, const struct hauli_policy_view *s, uint64_t now)
{
	if (!is_surplus(s) || (!s->fenced && is_too_soon_for_barrier(p, now)))
		return false;
	if (is_hogged(p, s, now))
		return true;
	return s->depth >= p->params.depth && saved(p, s) >= p->params.least &&
		burden(p, s, now) >= (s->fenced ? p->params.min_work : p->params.barrier_work);
}

/* The number of coroutines to steal: half, including the running one, and at most params.most. */
static unsigned amount(const struct hauli_policy *p, const struct hauli_policy_view *s)
{
	uint32_t half = (s->depth + (s->began != 0 ? 2 : 1)) / 2;

	return p->params.most < half ? p->params.most : half;
}

static bool steal(
	struct hauli_thief *t, unsigned victim, const struct hauli_policy_view *s, uint64_t now)
{
	hauli_u64_shared_set(&t->policy->theft_at, now);
	if (!s->fenced)
		hauli_u64_shared_set(&t->policy->barrier_at, now);
	return t->policy->ops->steal(t, victim, amount(t->policy, s));
}

static bool steal_if_profitable(struct hauli_thief *t, unsigned victim, uint64_t now)
{
	const struct hauli_policy *p = t->policy;
	struct hauli_policy_view s;

	p->ops->look(p, victim, &s);
	return is_profitable(p, &s, now) && steal(t, victim, &s, now);
}

static bool has_surplus(const struct hauli_policy *p, unsigned idx)
{
	struct hauli_policy_view s;

	p->ops->look(p, idx, &s);
	return is_surplus(&s);
}

/* The nearest to member idx that wants help and has a surplus, or NOBODY. */
static int next_in_need(struct hauli_policy *p, unsigned idx)
{
	for (unsigned k = 0; k < p->members; k++) {
		unsigned w = near(p, idx, k);
		int wanted = hauli_help_next_wanted(&p->help, w);

		if (wanted == NOBODY)
			return NOBODY;
		if ((unsigned)wanted != w)
			continue;
		if (has_surplus(p, w))
			return wanted;
		hauli_help_clear_request(&p->help, w);
		if (has_surplus(p, w))
			return wanted;
	}
	return NOBODY;
}

/* Sends the search to the sleeper nearest to member idx. False: no member sleeps. */
static bool send_search(struct hauli_policy *p, unsigned token, unsigned idx)
{
	for (unsigned k = 0; k < p->members; k++) {
		unsigned s = near(p, idx, k);
		int idle = hauli_help_next_idle(&p->help, s);

		if (idle == NOBODY)
			return false;
		if ((unsigned)idle == s && p->ops->send(p, s, token))
			return true;
	}
	return false;
}

/* True if a member sleeps to which a search could be sent. A searcher in a nap does not count: its
 * idle bit is not set, and it looks again by itself. */
static bool somebody_sleeps(const struct hauli_policy *p)
{
	for (unsigned i = 0; i < p->members; i++)
		if (hauli_help_next_idle(&p->help, i) == (int)i && p->ops->is_asleep(p, i))
			return true;
	return false;
}

/*
 * Sends the search to a sleeper if there is one and a member is in need; else ends the search. A
 * member with its idle bit set that is not asleep yet looks for work once it is.
 */
static void hand_on(struct hauli_policy *p, int token, unsigned idx)
{
	for (;;) {
		int w = next_in_need(p, idx);

		if (w != NOBODY && send_search(p, (unsigned)token, (unsigned)w))
			return;
		hauli_help_give_token(&p->help, token);
		if (next_in_need(p, idx) == NOBODY || !somebody_sleeps(p))
			return;
		token = hauli_help_take_token(&p->help);
		if (token < 0)
			return;
	}
}

void hauli_policy_offer(struct hauli_policy *p, unsigned idx)
{
	int token;

	if (!hauli_help_request(&p->help, idx))
		return;
	token = hauli_help_take_token(&p->help);
	if (token >= 0)
		hand_on(p, token, idx);
}

void hauli_policy_begin(struct hauli_thief *t, unsigned token, uint64_t now)
{
	if (t->search)
		hauli_policy_end(t);
	t->search = token + 1;
	t->naps = 0;
	t->nap_until = now;
}

void hauli_policy_end(struct hauli_thief *t)
{
	int token = (int)t->search - 1;

	t->search = 0;
	hand_on(t->policy, token, t->group_idx);
}

/* Steals from the nearest member that wants help. */
static bool steal_from_requester(struct hauli_thief *t, uint64_t now)
{
	int w = next_in_need(t->policy, t->group_idx);

	return w != NOBODY && (unsigned)w != t->group_idx &&
		steal_if_profitable(t, (unsigned)w, now);
}

/* Steals from a member that wants help, or else from the nearest one where a theft is
 * profitable. */
static bool steal_any(struct hauli_thief *t, uint64_t now)
{
	if (is_too_soon(t->policy, now))
		return false;
	if (steal_from_requester(t, now))
		return true;
	for (unsigned k = 1; k < t->policy->members; k++)
		if (steal_if_profitable(t, near(t->policy, t->group_idx, k), now))
			return true;
	return false;
}

/* One look of an idle searcher: steals, naps again, or ends the search. */
static bool search(struct hauli_thief *t, uint64_t now)
{
	if (steal_any(t, now)) {
		hauli_policy_end(t);
		return true;
	}
	if (next_in_need(t->policy, t->group_idx) != NOBODY)
		t->naps = 0;
	else if (++t->naps > t->policy->params.naps) {
		hauli_policy_end(t);
		return false;
	}
	t->nap_until = now + (t->policy->params.nap << t->naps);
	return false;
}

/* Looks at the next two members, round robin, and steals from the one with the larger burden if
 * that is profitable. */
static bool probe(struct hauli_thief *t, uint64_t now)
{
	const struct hauli_policy *p = t->policy;
	struct hauli_policy_view s, best_snapshot = {0};
	int best = NOBODY;

	for (unsigned i = 0; i < 2 && i + 1 < p->members; i++) {
		unsigned v = near(p, t->group_idx, 1 + t->probes++ % (p->members - 1));

		p->ops->look(p, v, &s);
		if (!is_surplus(&s))
			continue;
		if (best != NOBODY && burden(p, &s, now) <= burden(p, &best_snapshot, now))
			continue;
		best = (int)v;
		best_snapshot = s;
	}
	return best != NOBODY && is_profitable(p, &best_snapshot, now) &&
		steal(t, (unsigned)best, &best_snapshot, now);
}

bool hauli_policy_pull(struct hauli_thief *t, uint64_t now)
{
	return !is_too_soon(t->policy, now) && (steal_from_requester(t, now) || probe(t, now));
}

bool hauli_policy_idle(struct hauli_thief *t, uint64_t now)
{
	if (!t->search)
		return steal_any(t, now);
	if ((int64_t)(now - t->nap_until) < 0)
		return false;
	return search(t, now);
}

bool hauli_policy_may_stay(struct hauli_thief *t, uint64_t now)
{
	struct hauli_policy *p = t->policy;

	if (t->search)
		return true;
	for (unsigned k = 1; k < p->members; k++) {
		unsigned v = near(p, t->group_idx, k);
		int token;

		if (!has_surplus(p, v) || !hauli_help_request(&p->help, v))
			continue;
		token = hauli_help_take_token(&p->help);
		if (token < 0)
			continue;
		hauli_policy_begin(t, (unsigned)token, now);
		return false;
	}
	return true;
}
