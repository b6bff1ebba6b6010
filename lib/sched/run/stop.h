/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a runtime. */
#ifndef HAULI_SCHED_RUN_STOP_H
#define HAULI_SCHED_RUN_STOP_H

#include "sched/state/carrier.h"

/* Called by the thread in haul_stop(). Refuses spawns from now on, cancels all coroutines, and
 * waits until they have ended. Returns 0, or -errno as haul_stop(). */
int hauli_stop(struct haul_runtime *rt, uint64_t timeout_ns);

/* Tells the first n carriers to finish, and waits for their threads. */
void hauli_stop_finish(struct haul_runtime *rt, unsigned n);

/* After hauli_stop_finish(). Prints how many coroutines had ended before the stop and were not
 * joined or detached until the end of the stop. Coroutines that ended because of the stop do not
 * count: the stop has ended their joiners as well. */
void hauli_stop_tell_unjoined(struct haul_runtime *rt);

void hauli_stop_drained(struct haul_carrier *c);

/* Owner, once per round. During a stop, reports once that all coroutines at home here have
 * ended. */
static inline void hauli_stop_report(struct haul_carrier *c)
{
	if (hauli_unlikely(c->phase == HAULI_PHASE_DRAINS) && hauli_live(c) == 0)
		hauli_stop_drained(c);
}

#endif
