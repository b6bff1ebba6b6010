/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks in which the running coroutine must not suspend (haul/carrier.h). It stays on its carrier
 * meanwhile, so the carrier keeps the state of the block. Waits test a flag of the coroutine. A
 * yield tests no flag, but takes a slow path if an exception is being handled: so in a block it
 * finds one.
 */
#ifndef HAULI_SCHED_STATE_NO_SUSPEND_H
#define HAULI_SCHED_STATE_NO_SUSPEND_H

#include <stdbool.h>

struct hauli_exceptions;

struct hauli_no_suspend {
	struct hauli_no_suspend *outer;
	const char *where;
	struct hauli_exceptions *exceptions; /* the carrier's before the block, for its end */
	bool careful; /* the same */
	bool handles; /* HAULI_FLAG_HANDLES was set before */
} __attribute__((may_alias)); /* lies in the public struct */

#endif
