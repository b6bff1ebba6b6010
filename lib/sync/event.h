/* SPDX-License-Identifier: BSD-3-Clause */
/* haul_event_wait(), with the caller's wait, after the check of arguments. */
#ifndef HAULI_SYNC_EVENT_H
#define HAULI_SYNC_EVENT_H

#include "sync/waitq.h"

int hauli_event_wait_with(struct haul_event *e, uint64_t deadline, struct hauli_sync_wait *w);

#endif
