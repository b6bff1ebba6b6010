/* SPDX-License-Identifier: BSD-3-Clause */
/* A coroutine away from its home: how it comes to another carrier, and how it goes back. */
#ifndef HAULI_SCHED_STOLEN_H
#define HAULI_SCHED_STOLEN_H

#include "sched/carrier.h"

/* What a stolen coroutine asks its home for when its slice ends. */
enum hauli_back {
	HAULI_BACK_YIELD,
	HAULI_BACK_HERE, /* it goes on as it would have elsewhere, with its place in its order */
	HAULI_BACK_PARK,
	HAULI_BACK_SLEEP, /* until timer.at */
	HAULI_BACK_JOIN, /* arg is the struct hauli_join */
	HAULI_BACK_END,
};

/* Where children of what runs on c are to be at home. */
static inline struct haul_carrier *hauli_home_of_running(struct haul_carrier *c)
{
	return HAUL_STEALING && c->current ? hauli_coro_home(c->current) : c;
}

/* Thief, under the victim's guard. From here on it is the thief's. */
void hauli_stolen_mark(struct haul_coro *co);

/* The stolen coroutine itself, on c. Ends its slice; at home when it returns. */
void hauli_stolen_go_home(struct haul_carrier *c, struct haul_coro *me, enum hauli_back how);

/* Whoever runs on c after co, which was stolen: its context is saved. */
void hauli_stolen_send_home(struct haul_carrier *c, struct haul_coro *co);

/* Home, on HAULI_MSG_BACK. */
void hauli_stolen_is_back(struct haul_carrier *c, struct haul_coro *co);

#endif
