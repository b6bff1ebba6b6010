/* SPDX-License-Identifier: BSD-3-Clause */
/* Stolen coroutines: the theft, and the return. The way home is in suspend.h. */
#ifndef HAULI_SCHED_STEAL_STOLEN_H
#define HAULI_SCHED_STEAL_STOLEN_H

#include "sched/wait/suspend.h"

/* The home of coroutines spawned by the running coroutine of c; c if none runs. */
static inline struct haul_carrier *hauli_home_of_running(struct haul_carrier *c)
{
	return HAUL_STEALING && c->current ? hauli_coro_home(c->current) : c;
}

/* Thief, under the guard of the victim's ring. Marks co as stolen: the thief runs its next
 * slice. */
void hauli_stolen_take(struct haul_coro *co);

/* The same for one that runs and whose carrier leaves it behind (run/stray.c): it has its rank. */
void hauli_stolen_mark(struct haul_coro *co);

/* Home, when co has come back. Carries out the operation with which its slice ended. */
void hauli_stolen_is_back(struct haul_carrier *c, struct haul_coro *co);

#endif
