/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of a coroutine on its stack: how it begins, and how it ends: at home, stolen, or a
 * poller. */
#ifndef HAULI_SCHED_SPAWN_LIFE_H
#define HAULI_SCHED_SPAWN_LIFE_H

#include "sched/state/carrier.h"

/* By stack class: how coroutines that are spawned one by one begin. */
extern const struct hauli_prototype hauli_life_prototypes[HAULI_STACK_CLASSES];

/* Owner, on me's stack, when its body has returned. */
void hauli_coro_exit(struct haul_carrier *c, struct haul_coro *me);

/* The same, and switches to the next context. If me is stolen, its home finishes it. next: an entry
 * that was popped, or NULL. */
__attribute__((noreturn)) void hauli_coro_leave(
	struct haul_carrier *c, struct haul_coro *me, struct hauli_entry *next);

#endif
