/* SPDX-License-Identifier: BSD-3-Clause */
/* Which carrier gets what a thread that is no carrier spawns. */
#ifndef HAULI_SCHED_PLACING_H
#define HAULI_SCHED_PLACING_H

#include "sched/cluster.h"

struct haul_runtime;

/* Start and stop of a runtime: 0 or -ENOMEM. */
int hauli_placing_init(struct haul_runtime *rt, const struct haul_plan *plan);
void hauli_placing_fini(struct haul_runtime *rt);

/* Any thread. Where the caller, which is no carrier, spawns: in the cluster of opts->near, or in
 * the one nearest to the CPU on which it runs. */
struct hauli_cluster *hauli_placing_cluster(
	struct haul_runtime *rt, const struct haul_coro_opts *opts);

/* Any thread. The carrier for one coroutine, as haul_spawn_any() says for a thread that is none. */
struct haul_carrier *hauli_placing_carrier(
	struct haul_runtime *rt, const struct haul_coro_opts *opts);

/* Any thread. How many coroutines are ready on c, are on their way to it, or run there; a guess. */
uint32_t hauli_load(const struct haul_carrier *c);

#endif
