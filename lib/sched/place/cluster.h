/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The carriers of one cluster, and its injector: haul_spawn_many() puts coroutines there, and a
 * carrier that takes one becomes its home.
 */
#ifndef HAULI_SCHED_PLACE_CLUSTER_H
#define HAULI_SCHED_PLACE_CLUSTER_H

#include "conc/injector.h"
#include "conc/word.h"
#include "sched/state/carrier.h"

struct hauli_cluster {
	struct hauli_injector injector;
	/* Constant. */
	unsigned nb_members;
	struct haul_carrier **members;
	struct hauli_inbox **inboxes;
	/* haul_stop() has begun: what is taken from the injector is cancelled. Its caller */
	struct hauli_u8_owned stops;
};

struct haul_runtime;

/* At the start and stop of a runtime, while its carriers exist. Returns 0 or -ENOMEM. */
int hauli_clusters_init(struct haul_runtime *rt, const struct haul_plan *plan);
void hauli_clusters_fini(struct haul_runtime *rt);

/* The caller of haul_stop(), before it closes the gate: coroutines that are taken from an injector
 * from now on begin cancelled. */
void hauli_clusters_stop(struct haul_runtime *rt);

/* Any thread. Puts a bulk into the injector, and wakes a sleeping carrier if there is one. */
void hauli_cluster_put(struct hauli_cluster *cl, struct hauli_item *first);

/* Owner. Takes a fair share of the injector, makes it ready here, and wakes the next sleeping
 * carrier if anything is left. Does nothing if another carrier has the injector open, or, in most
 * rounds, if c has ready coroutines. */
void hauli_cluster_fetch(struct haul_carrier *c);

/* Owner, when the runtime stops. Takes up to `most` coroutines from the injector. True: it was
 * empty, and remains empty. */
bool hauli_cluster_empty(struct haul_carrier *c, uint32_t most);

/* Owner, after its sleep, if the injector is not empty; c has handled its mail and run nothing yet.
 * The waker relies on this call: c takes its share, or wakes the next sleeping carrier. */
void hauli_cluster_after_sleep(struct haul_carrier *c);

/* Owner. True if coroutines wait in the injector. */
static inline bool hauli_cluster_waits(const struct haul_carrier *c)
{
	return !hauli_injector_is_empty(&c->cluster->injector);
}

/* Owner, right after it has marked its inbox asleep. False: coroutines wait in the injector, so c
 * must not sleep. */
static inline bool hauli_cluster_may_sleep(const struct haul_carrier *c)
{
	return hauli_injector_may_sleep(&c->cluster->injector);
}

#endif
