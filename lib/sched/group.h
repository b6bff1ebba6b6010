/* SPDX-License-Identifier: BSD-3-Clause */
/* The carriers that steal from each other: a cluster, or all of them. */
#ifndef HAULI_SCHED_GROUP_H
#define HAULI_SCHED_GROUP_H

#include "sched/carrier.h"
#include "sched/msg.h"
#include "sched/policy.h"

/* The message that makes a sleeper search: one for each token, at the token's holder. */
struct hauli_search {
	struct hauli_msg msg;
};

struct hauli_group {
	struct hauli_policy policy;
	struct haul_carrier **members; /* by group_idx */
	struct hauli_search searches[HAULI_SEARCHES];
	uint64_t barrier_ticks; /* from one barrier of a member to its next */
};

/* Any thread, where stealing is on. A coroutine was put where thieves find it while c runs. */
static inline void hauli_steal_offer(struct haul_carrier *c)
{
	if (hauli_unlikely(hauli_help_any_idle(&c->group->policy.help)))
		hauli_policy_offer(&c->group->policy, c->group_idx);
}

/* Owner. The same where stealing may be off and c may run nothing. */
static inline void hauli_steal_offer_here(struct haul_carrier *c)
{
	if (hauli_steals(c) && c->current && !c->current->poller)
		hauli_steal_offer(c);
}

#endif
