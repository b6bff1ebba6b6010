/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who steals, when, and from whom. What makes it safe is elsewhere: a ring of which others take
 * (conc/ring.c), an inbox that is taken over under the ring's guard (mail.c), calls for help that
 * are not lost (conc/help.c). A stolen coroutine runs one slice and goes home (stolen.c).
 *
 * Stealing is reluctant. What is behind a running coroutine is a surplus, but worth a theft only
 * when there is work for longer than the theft costs, or when the same chain runs for so long that
 * its carrier is taken to be hogged.
 *
 *	push   Who makes a surplus while a member sleeps takes a token, if there is one, and sends
 *	       it to the sleeper as a search; to a sleeper only, for one that is awake may be
 *	       about to be hogged, and the search with it. The searcher looks after all that want
 *	       help: it steals when it is worth it, and naps in between, for a hog shows only with
 *	       time. Before it turns to what it stole it hands the search on, if there is still a
 *	       surplus and a sleeper; else it gives the token back, and looks once more
 *	       (conc/help.c, D2).
 *	pull   Who is idle and does not sleep looks at those that want help, and at two others.
 *
 * A member that has gone to sleep looks at all others once before it waits (D1). If one has a
 * surplus that is not worth a theft yet, it searches, or leaves it to the searcher that there is.
 *
 * Stress: tests/stress/steal.c.
 */
#include "sched/steal.h"

#include "base/clock.h"
#include "sched/stolen.h"

#define NAPS 5 /* with nobody to help, each twice as long as the one before */
#define PULL_EVERY 16 /* idle cycles of a poller */

static bool has_mail(const struct haul_carrier *v)
{
	return hauli_mark_get(&v->stash.stealable) ||
		hauli_inbox_has_other(&v->inbox, &v->stash.msg.node);
}

/* Whether there is anything that another could run while v runs something else. */
static bool has_surplus(const struct haul_carrier *v)
{
	bool runs = hauli_stamp_get(&v->chain_began) != 0;
	uint32_t depth = hauli_ring_depth(&v->runq.ring);

	if (hauli_ring_is_fresh(&v->runq.ring) && depth >= (runs ? 1 : 2))
		return true;
	return runs && has_mail(v);
}

/* What it would take v to run what it has; ticks. A hog counts for ever. */
static uint64_t burden(const struct haul_carrier *v)
{
	uint64_t began = hauli_stamp_get(&v->chain_began);

	if (began != 0 && (int64_t)(hauli_ticks() - began) >= (int64_t)v->group->hog_ticks)
		return UINT64_MAX;
	return hauli_ring_depth(&v->runq.ring) * hauli_stamp_get(&v->slice_average);
}

static bool is_worth_it(const struct haul_carrier *v)
{
	return has_surplus(v) && burden(v) >= v->group->worth_ticks;
}

static bool may_steal(const void *item)
{
	return !((const struct haul_coro *)item)->pinned;
}

/* So many that the theft pays, by the average slice; at most half, and at most what is asked. */
static unsigned amount(const struct hauli_group *g, const struct haul_carrier *v)
{
	uint64_t pays = g->worth_ticks / (hauli_stamp_get(&v->slice_average) + 1) + 1;
	uint32_t half = hauli_ring_depth(&v->runq.ring) / 2 + 1;
	unsigned n = g->most < half ? g->most : half;

	return n < pays ? n : (unsigned)pays;
}

static bool steal_from(struct haul_carrier *c, struct haul_carrier *v)
{
	struct haul_coro *stolen[HAULI_STEAL_MOST];
	unsigned most = amount(c->group, v), n = 0;

	if (!hauli_ring_try_rob(&v->runq.ring)) {
		hauli_counter_add(&c->steals_failed, 1);
		return false;
	}
	while (n < most && (stolen[n] = hauli_runq_rob(&v->runq, may_steal)))
		n++;
	if (n == 0 && (stolen[0] = hauli_mail_rob(v, may_steal)))
		n = 1;
	for (unsigned i = 0; i < n; i++)
		hauli_stolen_mark(stolen[i]);
	hauli_ring_end_rob(&v->runq.ring);
	for (unsigned i = 0; i < n; i++)
		hauli_stolen_arrive(c, stolen[i]);
	hauli_counter_add(&c->stolen, n);
	hauli_counter_add(&c->steals_failed, n == 0);
	return n > 0;
}

static struct haul_carrier *member(const struct hauli_group *g, int seat)
{
	return g->members[seat];
}

/* The next from that seat on that wants help and can be helped; NULL: none. */
static struct haul_carrier *next_in_need(struct hauli_group *g, unsigned seat)
{
	for (unsigned n = 0; n < g->nb_members; n++) {
		int w = hauli_help_next_wanted(&g->help, (seat + n) % g->nb_members);

		if (w < 0)
			return NULL;
		if (has_surplus(member(g, w)))
			return member(g, w);
		hauli_help_forget(&g->help, (unsigned)w);
		if (has_surplus(member(g, w)))
			return member(g, w);
	}
	return NULL;
}

/* The first sleeper from that seat on that takes the search; false: nobody sleeps. */
static bool send_search(struct hauli_group *g, struct hauli_search *s, unsigned seat)
{
	s->msg.kind = HAULI_MSG_SEARCH;
	for (unsigned n = 0; n < g->nb_members; n++) {
		int p = hauli_help_next_parked(&g->help, (seat + n) % g->nb_members);

		if (p < 0)
			return false;
		if (hauli_mail_send_asleep(member(g, p), &s->msg))
			return true;
	}
	return false;
}

static bool somebody_sleeps(const struct hauli_group *g)
{
	for (unsigned i = 0; i < g->nb_members; i++)
		if (hauli_inbox_is_asleep(&member(g, (int)i)->inbox))
			return true;
	return false;
}

/*
 * Sends the search to a sleeper, if somebody is in need and somebody sleeps; or ends it. Who is not
 * asleep yet, though marked as parked, looks for itself once it is.
 */
static void hand_on(struct hauli_group *g, int token, unsigned seat)
{
	for (;;) {
		if (next_in_need(g, seat) && send_search(g, &g->searches[token], seat))
			return;
		hauli_help_give_token(&g->help, token);
		if (!next_in_need(g, seat) || !somebody_sleeps(g))
			return;
		token = hauli_help_take_token(&g->help);
		if (token < 0)
			return;
	}
}

void hauli_steal_offer(struct haul_carrier *c)
{
	struct hauli_group *g = c->group;
	int token;

	if (!hauli_help_call(&g->help, c->seat))
		return;
	token = hauli_help_take_token(&g->help);
	if (token >= 0)
		hand_on(g, token, c->seat);
}

static void begin_search(struct haul_carrier *c, struct hauli_search *s)
{
	c->search = s;
	c->naps = 0;
	c->nap_until = hauli_ticks();
}

static void end_search(struct haul_carrier *c)
{
	int token = (int)(c->search - c->group->searches);

	c->search = NULL;
	hand_on(c->group, token, c->seat);
}

void hauli_steal_search(struct haul_carrier *c, struct hauli_search *s)
{
	hauli_counter_add(&c->searches, 1);
	if (c->search)
		end_search(c);
	begin_search(c, s);
}

/* The i-th of the others, from the one behind c on. */
static struct haul_carrier *other(const struct haul_carrier *c, unsigned i)
{
	const struct hauli_group *g = c->group;

	return member(g, (int)((c->seat + 1 + i) % g->nb_members));
}

/* From one that has called for help. */
static bool steal_from_caller(struct haul_carrier *c)
{
	struct haul_carrier *v = next_in_need(c->group, c->seat);

	return v && v != c && is_worth_it(v) && steal_from(c, v);
}

/* All that want help, then all others: whoever is worth it. */
static bool steal_any(struct haul_carrier *c)
{
	if (steal_from_caller(c))
		return true;
	for (unsigned i = 0; i + 1 < c->group->nb_members; i++)
		if (is_worth_it(other(c, i)) && steal_from(c, other(c, i)))
			return true;
	return false;
}

/* Idle, and holds a search. */
static bool search(struct haul_carrier *c)
{
	struct hauli_group *g = c->group;

	if (steal_any(c)) {
		end_search(c);
		return true;
	}
	if (next_in_need(g, c->seat))
		c->naps = 0;
	else if (++c->naps > NAPS) {
		end_search(c);
		return false;
	}
	c->nap_until = hauli_ticks() + (g->nap_ticks << c->naps);
	return false;
}

/* The better of two that are next in turn. */
static bool probe(struct haul_carrier *c)
{
	struct hauli_group *g = c->group;
	struct haul_carrier *best = NULL;

	for (unsigned i = 0; i < 2 && i + 1 < g->nb_members; i++) {
		struct haul_carrier *v = other(c, c->probes++ % (g->nb_members - 1));

		if (has_surplus(v) && (!best || burden(v) > burden(best)))
			best = v;
	}
	return best && burden(best) >= g->worth_ticks && steal_from(c, best);
}

bool hauli_steal_pull(struct haul_carrier *c)
{
	if (c->idle_cycles++ % PULL_EVERY != 0)
		return false;
	return steal_from_caller(c) || probe(c);
}

bool hauli_steal_idle(struct haul_carrier *c)
{
	if (!c->search)
		return steal_any(c);
	if ((int64_t)(hauli_ticks() - c->nap_until) < 0)
		return false;
	return search(c);
}

void hauli_steal_lie_down(struct haul_carrier *c)
{
	if (!c->search)
		hauli_help_lie_down(&c->group->help, c->seat);
}

bool hauli_steal_may_stay(struct haul_carrier *c)
{
	struct hauli_group *g = c->group;

	if (c->search)
		return true;
	hauli_fence_full(); /* as help.E1: asleep before it looks */
	for (unsigned i = 0; i + 1 < g->nb_members; i++) {
		struct haul_carrier *v = other(c, i);
		int token;

		if (!has_surplus(v) || !hauli_help_call(&g->help, v->seat))
			continue;
		token = hauli_help_take_token(&g->help);
		if (token < 0)
			continue;
		begin_search(c, &g->searches[token]);
		return false;
	}
	return true;
}

void hauli_steal_got_up(struct haul_carrier *c)
{
	hauli_help_get_up(&c->group->help, c->seat);
}

void hauli_steal_chain_begins(struct haul_carrier *c, uint64_t now)
{
	hauli_stamp_set(&c->chain_began, now);
	hauli_stamp_set(&c->slice_average, c->slice_ticks);
	if (c->search)
		end_search(c); /* no longer idle */
	if (hauli_ring_depth(&c->runq.ring) > 1 || !hauli_inbox_is_empty(&c->inbox))
		hauli_steal_offer(c);
}

void hauli_steal_chain_ended(struct haul_carrier *c)
{
	hauli_stamp_set(&c->chain_began, 0);
}
