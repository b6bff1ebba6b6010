/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks in which the running coroutine must not suspend (haul/carrier.h). It stays on its carrier
 * meanwhile, so what the block changes is the carrier's. Waits look at a flag of the coroutine; a
 * yield has no test for flags, but goes a slow way if exceptions are handled: so in a block it sees
 * some.
 */
#ifndef HAULI_SCHED_WAIT_NO_SUSPEND_H
#define HAULI_SCHED_WAIT_NO_SUSPEND_H

#include <stdbool.h>

struct hauli_exceptions;

struct hauli_no_suspend {
	struct hauli_no_suspend *outer;
	const char *where;
	struct hauli_exceptions *exceptions; /* the carrier's, for the end */
	bool cxx; /* the same */
	bool handles; /* the coroutine's flag was set before */
} __attribute__((may_alias)); /* lies in the public struct */

#endif
