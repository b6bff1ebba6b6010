/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stealing: an idle carrier takes coroutines from a carrier that has more than it can run, for one
 * slice each. Carriers steal within their group: a cluster, or all carriers.
 */
#ifndef HAULI_SCHED_STEAL_H
#define HAULI_SCHED_STEAL_H

#include "sched/group.h"

extern const struct hauli_policy_ops hauli_steal_ops;

/* Where stealing is on. The owner. A batch begins, or has ended. */
void hauli_steal_batch_begins(struct haul_carrier *c, uint64_t now);
void hauli_steal_batch_ended(struct haul_carrier *c);

/* Owner, an idle cycle of a poller that does not sleep. True when something was stolen. */
bool hauli_steal_pull(struct haul_carrier *c);

/* Owner, idle, before it sleeps. True when something was stolen. */
bool hauli_steal_idle(struct haul_carrier *c);

/* Owner, about to work for long: its search goes to others. */
static inline void hauli_steal_is_busy(struct haul_carrier *c)
{
	if (hauli_searches(c))
		hauli_policy_end(&c->thief);
}

/*
 * Owner. set_idle: about to mark its inbox as asleep; from now on callers look there. may_stay:
 * right after that. False: it has begun to search instead, and has to wake up. wake_at: after that,
 * when the sleep has to end, or HAULI_NEVER. clear_idle: when it is awake.
 */
void hauli_steal_set_idle(struct haul_carrier *c);
bool hauli_steal_may_stay(struct haul_carrier *c);
void hauli_steal_clear_idle(struct haul_carrier *c);

static inline uint64_t hauli_steal_wake_at(const struct haul_carrier *c)
{
	if (hauli_searches(c))
		return c->thief.nap_until;
	return HAUL_STEALING && c->before_barrier ? c->barrier_at : HAULI_NEVER;
}

/* Owner. It was sent the token of s: it searches. */
void hauli_steal_search(struct haul_carrier *c, struct hauli_search *s);

#endif
