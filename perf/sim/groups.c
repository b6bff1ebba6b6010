/* SPDX-License-Identifier: BSD-3-Clause */
/* The policy's view of simulated carriers and its actions; the counterpart of
 * lib/sched/steal/steal.c. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "sim.h"

static struct sim_group *group_of(const struct hauli_policy *p)
{
	return (struct sim_group *)((uintptr_t)p - offsetof(struct sim_group, policy));
}

static struct sim_carrier *member(const struct hauli_policy *p, unsigned idx)
{
	const struct sim_group *g = group_of(p);

	return &g->w->carriers[g->carriers[idx]];
}

static void pay(struct sim_world *w, uint64_t ns)
{
	w->payer->cost += ns;
	if (w->payer != &w->outside)
		w->counts.overhead += ns;
}

static void look(const struct hauli_policy *p, unsigned idx, struct hauli_policy_view *s)
{
	const struct sim_carrier *v = member(p, idx);
	bool far = v->cluster != v->w->payer->cluster;

	pay(v->w, far ? v->w->o->far_look_cost : v->w->o->look_cost);
	v->w->counts.looks++;
	v->w->counts.far_looks += far;
	*s = (struct hauli_policy_view){
		.depth = (v->ring.length < 256 ? v->ring.length : 256) + v->cut.length,
		.stealable = v->pushed != v->seen,
		.mail = v->mail.length > 0 || v->notes > v->notes_seen,
		.began = v->batch_began,
		.average = v->slice_average,
		.fenced = sim_is_fenced(v, v->w->now + v->w->payer->cost),
	};
}

/* The barrier interrupts the victim, or every running carrier of all groups. */
static void interrupt(
	struct sim_world *w, const struct sim_carrier *thief, const struct sim_carrier *victim)
{
	for (unsigned i = 0; i < w->o->carriers; i++) {
		struct sim_carrier *c = &w->carriers[i];

		if (c == thief || (c != victim && w->o->whom == SIM_VICTIM))
			continue;
		if (c->state == SIM_SLEEPS || c->state == SIM_WAKES)
			continue;
		c->debt += w->o->interrupt;
		w->counts.overhead += w->o->interrupt;
		w->counts.interrupts++;
	}
}

/* Linux runs one membarrier(2) at a time. */
static void pass_barrier(struct sim_world *w, const struct sim_carrier *thief)
{
	uint64_t now = w->now + thief->cost, from = now;

	if (!w->o->parallel && w->barriers_until > now)
		from = w->barriers_until;
	w->barriers_until = from + w->o->barrier;
	pay(w, w->barriers_until - now);
}

void sim_barrier(struct sim_world *w, struct sim_carrier *c, const struct sim_carrier *victim)
{
	w->counts.barriers++;
	pass_barrier(w, c);
	interrupt(w, c, victim);
}

bool sim_is_fenced(const struct sim_carrier *c, uint64_t now)
{
	switch ((enum sim_whom)c->w->o->whom) {
	case SIM_RING:
		return c->lease > 0;
	case SIM_GROUP:
		return now < c->group->fenced_until;
	case SIM_ASK:
		return c->state != SIM_RUNS || c->next_at < now + c->w->o->patience;
	default:
		return false;
	}
}

/* The thief stops the victim's pops. */
static void take_ring(struct sim_world *w, struct sim_carrier *c, struct sim_carrier *v)
{
	uint64_t now = w->now + c->cost;

	if (!sim_is_fenced(v, now))
		sim_barrier(w, c, v);
	else
		pay(w, w->o->theft);
	v->lease = w->o->lease;
	v->group->fenced_until = now + w->o->lease;
	if (w->o->whom != SIM_ASK)
		return;
	if (!sim_is_fenced(v, now)) {
		pay(w, w->o->patience);
	} else if (v->state == SIM_RUNS && v->next_at > now) {
		pay(w, v->next_at - now);
		v->debt += w->o->answer;
		w->counts.overhead += w->o->answer;
	}
}

static struct sim_task *take_one(struct sim_carrier *v, unsigned taken)
{
	struct sim_task *t = sim_queue_steal(&v->ring);

	if (!t)
		t = sim_queue_steal(&v->cut);
	if (!t)
		v->seen = v->pushed;
	if (t || taken > 0)
		return t;
	v->notes_seen = v->notes;
	return sim_queue_pop(&v->mail);
}

static bool steal(struct hauli_thief *thief, unsigned victim, unsigned most)
{
	struct sim_carrier *v = member(thief->policy, victim);
	struct sim_carrier *c =
		(struct sim_carrier *)((char *)thief - offsetof(struct sim_carrier, thief));
	struct sim_world *w = c->w;
	struct sim_task *t;
	unsigned n;

	if (v->guarded > w->now + c->cost) {
		w->counts.failed++;
		return false;
	}
	take_ring(w, c, v);
	v->guarded = w->now + c->cost;
	v->closed = true;
	for (n = 0; n < most && (t = take_one(v, n)); n++) {
		t->remote = t->home != c->id;
		t->is_cut = false;
		sim_queue_push(&c->stolen_tasks, t);
	}
	w->counts.failed += n == 0;
	w->counts.thefts += n > 0;
	w->counts.stolen += n;
	w->counts.crossed += v->cluster == c->cluster ? 0 : n;
	return n > 0;
}

static bool send_search(struct hauli_policy *p, unsigned idx, unsigned token)
{
	struct sim_carrier *c = member(p, idx);

	if (c->state != SIM_SLEEPS)
		return false;
	c->search = (int)token;
	return sim_carrier_wake(c);
}

static bool is_asleep(const struct hauli_policy *p, unsigned idx)
{
	return member(p, idx)->state == SIM_SLEEPS;
}

static const struct hauli_policy_ops ops = {look, steal, send_search, is_asleep};

static int group_init(
	struct sim_group *g, struct sim_world *w, const struct haul_plan *plan, unsigned number)
{
	const struct sim_opts *o = w->o;
	struct hauli_policy *p = &g->policy;

	*g = (struct sim_group){.w = w};
	p->params = (struct hauli_policy_params){
		.most = (unsigned)o->most,
		.depth = (unsigned)o->depth,
		.naps = (unsigned)o->naps,
		.pull_every = (unsigned)o->pull_every,
		.min_work = o->min_work,
		.barrier_work = o->barrier_work,
		.least = o->least,
		.min_gap = o->min_gap,
		.barrier_gap = o->barrier_gap,
		.hog = o->hog,
		.nap = o->nap,
	};
	for (unsigned i = 0; i < plan->carriers; i++)
		if (o->steal == HAUL_STEAL_GLOBAL || plan->places[i].cluster == number)
			g->carriers[p->members++] = i;
	for (unsigned i = 0; p->members > 1 && i < p->members; i++) {
		struct sim_carrier *c = &w->carriers[g->carriers[i]];

		c->group = g;
		c->thief = (struct hauli_thief){.policy = p, .group_idx = i};
	}
	return hauli_policy_init(p, plan, g->carriers, (unsigned)o->searchers, &ops);
}

int sim_groups_init(struct sim_world *w, const struct haul_plan *plan)
{
	unsigned n = w->o->steal == HAUL_STEAL_GLOBAL ? 1 : plan->clusters;
	int err = 0;

	if (w->o->steal == HAUL_STEAL_OFF)
		return 0;
	w->groups = aligned_alloc(_Alignof(struct sim_group), n * sizeof(w->groups[0]));
	if (!w->groups)
		return -ENOMEM;
	for (w->nb_groups = 0; w->nb_groups < n && !err; w->nb_groups++)
		err = group_init(&w->groups[w->nb_groups], w, plan, w->nb_groups);
	return err;
}

void sim_groups_fini(struct sim_world *w)
{
	while (w->nb_groups > 0)
		hauli_policy_fini(&w->groups[--w->nb_groups].policy);
	free(w->groups);
}

void sim_offer(struct sim_carrier *c)
{
	hauli_policy_offer(&c->group->policy, c->thief.group_idx);
}
