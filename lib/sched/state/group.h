/* SPDX-License-Identifier: BSD-3-Clause */
/* A group: the carriers that steal from each other, of a cluster or all. */
#ifndef HAULI_SCHED_STATE_GROUP_H
#define HAULI_SCHED_STATE_GROUP_H

#include "sched/state/carrier.h"
#include "sched/state/msg.h"
#include "sched/state/policy.h"

/* The message that makes a sleeping carrier search. One for each token; the token's holder sends
 * it. */
struct hauli_search {
	struct hauli_msg msg;
};

struct hauli_group {
	struct hauli_policy policy;
	struct haul_carrier **members; /* by group_idx */
	struct hauli_search searches[HAULI_SEARCHES];
	uint64_t barrier_ticks; /* minimum time between two barriers of a member */
};

/* Any thread, where c steals. Call after a push to c's ring, backlog or mail: offers the coroutine
 * to thieves, as c may run others for long. */
static inline void hauli_steal_offer(struct haul_carrier *c)
{
	if (hauli_unlikely(hauli_help_any_idle(&c->steal.group->policy.help)))
		hauli_policy_offer(&c->steal.group->policy, c->steal.group_idx);
}

/* Owner. The same for any c: does nothing if c does not steal, or runs no coroutine but its
 * poller. */
static inline void hauli_steal_offer_here(struct haul_carrier *c)
{
	if (hauli_steals(c) && c->current && !hauli_coro_is_poller(c->current))
		hauli_steal_offer(c);
}

#endif
