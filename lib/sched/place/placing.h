/* SPDX-License-Identifier: BSD-3-Clause */
/* The choice of a home for coroutines that are spawned by a thread that is no carrier. */
#ifndef HAULI_SCHED_PLACE_PLACING_H
#define HAULI_SCHED_PLACE_PLACING_H

#include "sched/place/cluster.h"

struct haul_runtime;

/* At the start and stop of a runtime. Returns 0 or -ENOMEM. */
int hauli_placing_init(struct haul_runtime *rt, const struct haul_plan *plan);
void hauli_placing_fini(struct haul_runtime *rt);

/* Any thread. The cluster for a spawn by the caller, which is no carrier: that of opts->near, or
 * the nearest to the CPU on which the caller runs. */
struct hauli_cluster *hauli_placing_cluster(
	struct haul_runtime *rt, const struct haul_coro_opts *opts);

/* Any thread. The home for one coroutine, as haul_spawn_any() documents for threads that are no
 * carriers. */
struct haul_carrier *hauli_placing_carrier(
	struct haul_runtime *rt, const struct haul_coro_opts *opts);

/* A spared carrier is no such home while its cluster has another one. One thread at a time. */
void hauli_placing_spare(struct haul_carrier *c, bool spared);

/* Any thread. The number of coroutines that are ready on c, under way to it, or running there; a
 * guess. */
uint32_t hauli_load(const struct haul_carrier *c);

#endif
