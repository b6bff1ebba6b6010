/* SPDX-License-Identifier: BSD-3-Clause */
/* haul_cond_wait(), with the caller's wait, after the check of arguments. */
#ifndef HAULI_SYNC_COND_H
#define HAULI_SYNC_COND_H

#include "sync/waitq.h"

int hauli_cond_wait_with(
	struct haul_cond *cond, struct haul_mutex *m, uint64_t deadline, struct hauli_sync_wait *w);

#endif
