/* SPDX-License-Identifier: BSD-3-Clause */
/* What haul's own pollers tell their carrier, beside <haul/driver.h>. */
#ifndef HAULI_SCHED_POLLER_H
#define HAULI_SCHED_POLLER_H

#include "sched/carrier.h"

/* Owner, from its poller: handlers that must not suspend run on this stack. */
void hauli_poller_handles(struct haul_carrier *c);

/* Owner, from its poller, before it works for long itself, where carriers steal. Parked or not, it
 * does not keep a search meanwhile, nor is it sent one. It is not parked afterwards. */
void hauli_poller_is_busy(struct haul_carrier *c);

#endif
