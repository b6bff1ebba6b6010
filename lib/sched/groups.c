/* SPDX-License-Identifier: BSD-3-Clause */
/* Who may steal from whom: made of the plan at the start. */
#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "sched/runtime.h"
#include "sched/steal.h"

#define HOG_NS (100 * HAUL_US) /* a chain that runs for so long has a hog in it */
#define WORTH_NS (10 * HAUL_US) /* less work than that is done before a thief has it */
#define NAP_NS (50 * HAUL_US)

static unsigned group_of(const struct haul_plan *plan, enum haul_steal how, unsigned carrier)
{
	return how == HAUL_STEAL_GLOBAL ? 0 : plan->places[carrier].cluster;
}

static int group_init(struct haul_runtime *rt, const struct haul_plan *plan,
	const struct haul_runtime_opts *opts, unsigned number)
{
	struct hauli_group *g = &rt->groups[number];
	struct hauli_policy *p = &g->policy;
	uint64_t worth = opts->steal_worth_ns ? opts->steal_worth_ns : WORTH_NS;
	unsigned ids[HAULI_HELP_MEMBERS];
	int err;

	p->rules = (struct hauli_rules){
		.most = opts->steal_most ? opts->steal_most : HAULI_STEAL_MOST,
		.depth = opts->steal_depth ? opts->steal_depth : 1,
		.naps = 5,
		.pull_every = 16,
		.worth = hauli_ticks_from_ns(worth),
		.take = hauli_ticks_from_ns(worth),
		.hog = hauli_ticks_from_ns(HOG_NS),
		.nap = hauli_ticks_from_ns(NAP_NS),
	};
	p->members = 0;
	p->order = NULL;
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
	err = hauli_policy_init(
		p, plan, ids, opts->searchers ? opts->searchers : 1, &hauli_steal_acts);
	if (err)
		return err;
	/* One alone has nobody to steal from. */
	for (unsigned i = 0; p->members > 1 && i < p->members; i++) {
		struct haul_carrier *c = g->members[i];

		c->group = g;
		c->seat = i;
		c->thief = (struct hauli_thief){.policy = p, .seat = i};
		c->spawns_plainly = false;
		c->runq.shared = true;
	}
	return 0;
}

int hauli_steal_init(
	struct haul_runtime *rt, const struct haul_plan *plan, const struct haul_runtime_opts *opts)
{
	unsigned n = opts->steal == HAUL_STEAL_GLOBAL ? 1 : plan->clusters;
	int err;

	if (opts->steal == HAUL_STEAL_OFF)
		return 0;
	if (opts->steal_most > HAULI_STEAL_MOST || opts->searchers > HAULI_SEARCHES ||
		opts->steal_depth > HAULI_RING_SIZE)
		return -EINVAL;
	err = hauli_fence_init();
	if (err)
		return err == -EPERM || err == -ENOSYS || err == -EINVAL ? -ENOTSUP : err;
	rt->groups = aligned_alloc(HAULI_CACHE_LINE, n * sizeof(rt->groups[0]));
	if (!rt->groups)
		return -ENOMEM;
	for (rt->nb_groups = 0; rt->nb_groups < n && !err; rt->nb_groups++)
		err = group_init(rt, plan, opts, rt->nb_groups);
	if (err)
		hauli_steal_fini(rt);
	return err;
}

void hauli_steal_fini(struct haul_runtime *rt)
{
	while (rt->nb_groups > 0) {
		struct hauli_group *g = &rt->groups[--rt->nb_groups];

		hauli_policy_fini(&g->policy);
		free(g->members);
	}
	free(rt->groups);
	rt->groups = NULL;
}
