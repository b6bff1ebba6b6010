/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stealing: an idle carrier takes coroutines from a carrier with a surplus, for one slice each.
 * Carriers steal within their group: a cluster, or all carriers.
 */
#ifndef HAULI_SCHED_STEAL_STEAL_H
#define HAULI_SCHED_STEAL_STEAL_H

#include "sched/state/group.h"

extern const struct hauli_policy_ops hauli_steal_ops;

/* Owner, where carriers steal: before and after each batch. */
void hauli_steal_batch_begins(struct haul_carrier *c, uint64_t now);
void hauli_steal_batch_ended(struct haul_carrier *c);

/* Owner, in an idle cycle of a poller that does not sleep. True: coroutines were stolen. */
bool hauli_steal_pull(struct haul_carrier *c);

/* Owner, idle, before it sleeps. True: coroutines were stolen. */
bool hauli_steal_idle(struct haul_carrier *c);

/* Owner, before it works for long: hands on the search that it holds, or ends it. */
static inline void hauli_steal_is_busy(struct haul_carrier *c)
{
	if (hauli_searches(c))
		hauli_policy_end(&c->steal.thief);
}

/*
 * Owner. set_idle: before c marks its inbox asleep; from now on threads that offer work find c.
 * may_stay: right after that; false: c has begun to search and must wake up. wake_at: after
 * may_stay; the time at which the sleep must end, or HAULI_NEVER. clear_idle: when c is awake.
 */
void hauli_steal_set_idle(struct haul_carrier *c);
bool hauli_steal_may_stay(struct haul_carrier *c);
void hauli_steal_clear_idle(struct haul_carrier *c);

static inline uint64_t hauli_steal_wake_at(const struct haul_carrier *c)
{
	if (hauli_searches(c))
		return c->steal.thief.nap_until;
	return HAUL_STEALING && c->steal.before_barrier ? c->steal.barrier_at : HAULI_NEVER;
}

/* Owner, on receipt of s: searches with the token of s. */
void hauli_steal_search(struct haul_carrier *c, struct hauli_search *s);

#endif
