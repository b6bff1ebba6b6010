/* SPDX-License-Identifier: BSD-3-Clause */
/* The groups, made from the plan at the start. */
#include "sched/steal/groups.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "conc/fence.h"
#include "sched/state/runtime.h"
#include "sched/steal/steal.h"

/* minimum time between barriers of a member, for each 8 carriers, as a barrier interrupts them
 * all */
#define BARRIER_NS HAUL_MS

static unsigned group_of(const struct haul_plan *plan, enum haul_steal how, unsigned carrier)
{
	return how == HAUL_STEAL_GLOBAL ? 0 : plan->places[carrier].cluster;
}

static unsigned nb_groups(const struct haul_plan *plan, enum haul_steal how)
{
	return how == HAUL_STEAL_GLOBAL ? 1 : plan->clusters;
}

static struct hauli_policy_params params_of(
	const struct haul_plan *plan, const struct haul_runtime_opts *opts)
{
	struct hauli_policy_params r =
		hauli_policy_defaults(plan->carriers, nb_groups(plan, opts->steal));

	if (opts->steal_most)
		r.most = opts->steal_most;
	if (opts->steal_depth)
		r.depth = opts->steal_depth;
	if (opts->steal_min_work_ns)
		r.min_work = r.barrier_work = opts->steal_min_work_ns;
	r.min_work = hauli_ticks_from_ns(r.min_work);
	r.barrier_work = hauli_ticks_from_ns(r.barrier_work);
	r.least = hauli_ticks_from_ns(r.least);
	r.trip_cost = hauli_ticks_from_ns(r.trip_cost);
	r.min_gap = hauli_ticks_from_ns(r.min_gap);
	r.barrier_gap = hauli_ticks_from_ns(r.barrier_gap);
	r.hog = hauli_ticks_from_ns(r.hog);
	r.nap = hauli_ticks_from_ns(r.nap);
	return r;
}

static int group_init(struct haul_runtime *rt, const struct haul_plan *plan,
	const struct haul_runtime_opts *opts, unsigned number)
{
	struct hauli_group *g = &rt->groups[number];
	struct hauli_policy *p = &g->policy;
	unsigned ids[HAULI_HELP_MEMBERS];
	int err;

	p->params = params_of(plan, opts);
	p->members = 0;
	p->by_distance = NULL;
	g->members = calloc(rt->nb_carriers, sizeof(g->members[0]));
	if (!g->members)
		return -ENOMEM;
	for (unsigned i = 0; i < rt->nb_carriers; i++)
		if (group_of(plan, opts->steal, i) == number)
			g->members[p->members++] = &rt->carriers[i];
	if (p->members > HAULI_HELP_MEMBERS)
		return -EINVAL;
	for (unsigned i = 0; i < p->members; i++)
		ids[i] = g->members[i]->id;
	g->barrier_ticks = hauli_ticks_from_ns(BARRIER_NS * (1 + plan->carriers / 8));
	err = hauli_policy_init(
		p, plan, ids, opts->searchers ? opts->searchers : 1, &hauli_steal_ops);
	if (err)
		return err;
	/* A single carrier has nothing to steal from, but what it leaves behind is like a stolen
	 * coroutine. */
	if (p->members == 1 && opts->rescue_after_ns == 0)
		return 0;
	for (unsigned i = 0; i < p->members; i++) {
		struct haul_carrier *c = g->members[i];

		c->steal.group = g;
		c->steal.group_idx = i;
		c->steal.thief = (struct hauli_thief){.policy = p, .group_idx = i};
		c->runq.shared = true;
		hauli_ring_set_lease(&c->runq.ring, p->params.lease);
	}
	return 0;
}

int hauli_groups_init(
	struct haul_runtime *rt, const struct haul_plan *plan, const struct haul_runtime_opts *opts)
{
	unsigned n = nb_groups(plan, opts->steal);
	int err;

	if (opts->steal == HAUL_STEAL_OFF)
		return 0;
	if (!HAUL_STEALING)
		return -ENOTSUP;
	err = hauli_fence_init();
	if (err)
		return err == -EPERM || err == -ENOSYS || err == -EINVAL ? -ENOTSUP : err;
	rt->groups = aligned_alloc(HAULI_CACHE_LINE, n * sizeof(rt->groups[0]));
	if (!rt->groups)
		return -ENOMEM;
	for (rt->nb_groups = 0; rt->nb_groups < n && !err; rt->nb_groups++)
		err = group_init(rt, plan, opts, rt->nb_groups);
	if (err)
		hauli_groups_fini(rt);
	return err;
}

void hauli_groups_fini(struct haul_runtime *rt)
{
	while (rt->nb_groups > 0) {
		struct hauli_group *g = &rt->groups[--rt->nb_groups];

		hauli_policy_fini(&g->policy);
		free(g->members);
	}
	free(rt->groups);
	rt->groups = NULL;
}
