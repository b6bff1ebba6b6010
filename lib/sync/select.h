/* SPDX-License-Identifier: BSD-3-Clause */
/* haul_select(), with the caller's wait, after the check of arguments. */
#ifndef HAULI_SYNC_SELECT_H
#define HAULI_SYNC_SELECT_H

#include "sync/case.h"

/* Lies on the stack of its coroutine. */
struct hauli_select {
	struct hauli_block block;
	struct hauli_sync_first first;
};

int hauli_select_with(
	struct hauli_case *cases, unsigned n, uint64_t deadline, struct hauli_select *s);

#endif
