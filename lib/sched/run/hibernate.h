/* SPDX-License-Identifier: BSD-3-Clause */
/* Hibernation of coroutines that have waited long (haul_runtime_opts.hibernate_after_ns). */
#ifndef HAULI_SCHED_RUN_HIBERNATE_H
#define HAULI_SCHED_RUN_HIBERNATE_H

#include "sched/state/runtime.h"

struct haul_carrier;

/* Before the carriers run; if after_ns is 0 or HAUL_FOREVER: nothing. 0 or -ENOMEM. */
int hauli_hibernation_init(struct haul_runtime *rt, uint64_t after_ns);
/* After they have ended. */
void hauli_hibernation_fini(struct haul_runtime *rt);

/* Spawns the hibernator of each carrier. 0 or an error of haul_spawn_on(). */
int hauli_hibernation_start(struct haul_runtime *rt);

/* Owner, about to sleep: true if its hibernator, which rests, has been made ready, because
 * coroutines have run since. */
bool hauli_hibernator_wakes(struct haul_carrier *c);

/* Any thread. c, whose coroutines hibernate, got a poller, and may never sleep from now on. */
void hauli_hibernator_rouse(struct haul_carrier *c);

#endif
