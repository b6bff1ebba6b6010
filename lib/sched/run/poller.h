/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls for haul's own pollers, in addition to <haul/driver.h>. */
#ifndef HAULI_SCHED_RUN_POLLER_H
#define HAULI_SCHED_RUN_POLLER_H

#include "sched/state/carrier.h"

/* Owner, in its poller: handlers that must not suspend run on the poller's stack. */
void hauli_poller_handles(struct haul_carrier *c);

/* Owner, in its poller. As haul_maybe_yield(), which the poller's handlers must not call. */
bool hauli_poller_go_on(struct haul_carrier *c, bool had_io);

/* Owner, in its poller, where carriers steal, before the poller works for long itself. Hands on a
 * search that the carrier holds; the carrier gets no other search until the poller parks again.
 * Unparks the poller if it is parked. */
void hauli_poller_is_busy(struct haul_carrier *c);

#endif
