/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls of haul/sync.h, with the caller's wait. */
#ifndef HAULI_SYNC_MUTEX_H
#define HAULI_SYNC_MUTEX_H

#include "sync/waitq.h"

void hauli_mutex_lock(struct haul_mutex *m, struct hauli_sync_wait *w);
int hauli_mutex_lock_by(struct haul_mutex *m, uint64_t deadline, struct hauli_sync_wait *w);

/* Called by co. */
bool hauli_mutex_is_held_by(struct haul_mutex *m, const struct haul_coro *co);

#endif
