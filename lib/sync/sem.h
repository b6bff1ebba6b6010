/* SPDX-License-Identifier: BSD-3-Clause */
/* haul_sem_wait(), with the caller's wait, after the check of arguments. */
#ifndef HAULI_SYNC_SEM_H
#define HAULI_SYNC_SEM_H

#include "sync/waitq.h"

int hauli_sem_wait_with(struct haul_sem *s, uint64_t deadline, struct hauli_sync_wait *w);

#endif
