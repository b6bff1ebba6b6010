/* SPDX-License-Identifier: BSD-3-Clause */
/* The groups of carriers that steal from each other: init and fini. */
#ifndef HAULI_SCHED_STEAL_GROUPS_H
#define HAULI_SCHED_STEAL_GROUPS_H

#include "sched/state/group.h"

struct haul_runtime;

/* At the start and stop of a runtime, while its carriers exist. Returns 0, or -errno as
 * haul_start(). */
int hauli_groups_init(struct haul_runtime *rt, const struct haul_plan *plan,
	const struct haul_runtime_opts *opts);
void hauli_groups_fini(struct haul_runtime *rt);

#endif
