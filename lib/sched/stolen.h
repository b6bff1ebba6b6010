/* SPDX-License-Identifier: BSD-3-Clause */
/* A stolen coroutine: its theft, and its return. suspend.h has how it goes home. */
#ifndef HAULI_SCHED_STOLEN_H
#define HAULI_SCHED_STOLEN_H

#include "sched/suspend.h"

/* The home of the children of what runs on c. */
static inline struct haul_carrier *hauli_home_of_running(struct haul_carrier *c)
{
	return HAUL_STEALING && c->current ? hauli_coro_home(c->current) : c;
}

/* Thief, under the victim's guard. From here on co is the thief's until its slice ends. */
void hauli_stolen_take(struct haul_coro *co);

/* Home. co has come back: does what its slice ended with. */
void hauli_stolen_is_back(struct haul_carrier *c, struct haul_coro *co);

#endif
