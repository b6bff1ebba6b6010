/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The carriers of one cluster, and what waits for any of them: haul_spawn_many() puts coroutines
 * into the cluster's injector, and a carrier that takes one becomes its home.
 */
#ifndef HAULI_SCHED_CLUSTER_H
#define HAULI_SCHED_CLUSTER_H

#include "conc/injector.h"
#include "sched/carrier.h"

struct hauli_cluster {
	struct hauli_injector injector;
	/* Constant. */
	unsigned nb_members;
	struct haul_carrier **members;
	struct hauli_inbox **inboxes;
};

struct haul_runtime;

/* Start and stop of a runtime, when it has its carriers. 0 or -ENOMEM. */
int hauli_clusters_init(struct haul_runtime *rt, const struct haul_plan *plan);
void hauli_clusters_fini(struct haul_runtime *rt);

/* Any thread. Puts a batch into the injector, and wakes one who sleeps. */
void hauli_cluster_put(struct hauli_cluster *cl, struct hauli_item *first);

/* Owner. Takes a fair share of what waits, which is ready here then, and wakes the next one who
 * sleeps if there is more. Nothing, when it has more ready than that or another one is at it. */
void hauli_cluster_fetch(struct haul_carrier *c);

/* Owner, when the runtime stops: all that waits. Nothing comes after it. */
void hauli_cluster_fetch_all(struct haul_carrier *c);

/* Owner, after its sleep, when coroutines wait in the injector; it has read its mail and run
 * nothing yet. The waker relies on it: it takes its share, or wakes the next sleeping carrier to do
 * so. */
void hauli_cluster_after_sleep(struct haul_carrier *c);

/* Owner. Whether something waits. */
static inline bool hauli_cluster_waits(const struct haul_carrier *c)
{
	return !hauli_injector_is_empty(&c->cluster->injector);
}

/* Owner, right after its inbox is marked as asleep. False: something waits, it has to wake up. */
static inline bool hauli_cluster_may_sleep(const struct haul_carrier *c)
{
	return hauli_injector_may_sleep(&c->cluster->injector);
}

#endif
