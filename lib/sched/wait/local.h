/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of each carrier (haul/carrier.h). */
#ifndef HAULI_SCHED_WAIT_LOCAL_H
#define HAULI_SCHED_WAIT_LOCAL_H

#include "sched/state/carrier.h"

/* Owner, where c notes the slices that use them. True: the running one has not. */
static inline bool hauli_locals_are_unused(const struct haul_carrier *c)
{
	return c->locals_at != hauli_ring_popped(&c->runq.ring);
}

/* The carrier's thread, at its end. */
void hauli_locals_release(struct haul_carrier *c);

#endif
