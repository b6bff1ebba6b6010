/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of the running coroutine: at home, stolen, or a poller. */
#ifndef HAULI_SCHED_SPAWN_END_H
#define HAULI_SCHED_SPAWN_END_H

#include "sched/state/carrier.h"

/* Owner, on me's stack, when its body has returned. */
void hauli_coro_exit(struct haul_carrier *c, struct haul_coro *me);

#endif
