/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A slice that its carrier leaves behind: the thread goes on with the coroutine, as a thief would,
 * and another thread takes the carrier. stray.c
 */
#ifndef HAULI_SCHED_RUN_STRAY_H
#define HAULI_SCHED_RUN_STRAY_H

#include "sched/look/asked.h"
#include "sched/state/carrier.h"

#define HAULI_STRAY_DEPTH 128

/* What a thread asks that of a carrier. One at a time for each carrier. */
struct hauli_stray_ask {
	struct hauli_asked asked;
	uint32_t popped; /* the slice, by the pops of the run queue */
	struct haul_coro *co; /* the answer: the coroutine left behind; NULL: none */
	/* Of the thread that serves the carrier, and set by it: what runs the coroutine in place of
	 * the carrier, and what the handler waits for. */
	struct haul_carrier *stand_in;
	struct hauli_completion *taken;
	unsigned nb_pcs; /* the handler's: the call stack */
	void *pcs[HAULI_STRAY_DEPTH];
};

/* Installs the handler of the signal. 0 or -ENOMEM. */
int hauli_stray_init(void);

/*
 * Asks the thread of carrier c to leave the slice ask->popped behind. True: it does, and waits in
 * the handler of the signal until hauli_stray_taken(); the caller is c's owner from here on. False:
 * that slice is over, or must not be left behind now.
 */
bool hauli_stray_ask(struct haul_carrier *c, struct hauli_stray_ask *ask);

/* Marks the coroutine as stolen, and ends the batch of c, whose owner the caller is. The thread
 * goes on with the coroutine. */
void hauli_stray_taken(struct haul_carrier *c, struct hauli_stray_ask *ask);

/* Called in the context that a stand-in has switched to: its coroutine goes home, or has ended. */
void hauli_stray_ended(struct haul_carrier *stand_in);

#endif
