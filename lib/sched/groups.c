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

	g->most = opts->steal_most ? opts->steal_most : HAULI_STEAL_MOST;
	g->worth_ticks = hauli_ticks_from_ns(WORTH_NS);
	g->hog_ticks = hauli_ticks_from_ns(HOG_NS);
	g->nap_ticks = hauli_ticks_from_ns(NAP_NS);
	g->nb_members = 0;
	g->members = calloc(rt->nb_carriers, sizeof(g->members[0]));
	if (!g->members)
		return -ENOMEM;
	for (unsigned i = 0; i < rt->nb_carriers; i++)
		if (group_of(plan, opts->steal, i) == number)
			g->members[g->nb_members++] = &rt->carriers[i];
	if (g->nb_members > HAULI_HELP_MEMBERS)
		return -EINVAL;
	hauli_help_init(&g->help, g->nb_members, opts->searchers ? opts->searchers : 1);
	/* One alone has nobody to steal from. */
	for (unsigned i = 0; g->nb_members > 1 && i < g->nb_members; i++) {
		struct haul_carrier *c = g->members[i];

		c->group = g;
		c->seat = i;
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
	if (opts->steal_most > HAULI_STEAL_MOST || opts->searchers > HAULI_SEARCHES)
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
	while (rt->nb_groups > 0)
		free(rt->groups[--rt->nb_groups].members);
	free(rt->groups);
	rt->groups = NULL;
}
