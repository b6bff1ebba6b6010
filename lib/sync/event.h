/* SPDX-License-Identifier: BSD-3-Clause */
/* haul_event_wait(), with the caller's wait, after the check of arguments; and the event as the
 * object of other cases. */
#ifndef HAULI_SYNC_EVENT_H
#define HAULI_SYNC_EVENT_H

#include "sync/case.h"

int hauli_event_wait_with(struct haul_event *e, uint64_t deadline, struct hauli_sync_wait *w);

/* `try` of a case that waits for an event; the rest of its kind is hauli_waitq_own_list,
 * hauli_crowd_leave, hauli_crowd_serve_rest. */
bool hauli_event_try_case(struct hauli_case *cs, uint64_t *value, struct hauli_sync_waiter **other);

#endif
