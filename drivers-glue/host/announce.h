/* SPDX-License-Identifier: BSD-3-Clause */
/* Announcements of a host's addresses, which its coroutine sends (ask.c). */
#ifndef HAULI_HOST_ANNOUNCE_H
#define HAULI_HOST_ANNOUNCE_H

#include "host/state.h"

/* Plans the announcement of an address, in place of an earlier plan. NULL: there is none. Under the
 * lock. */
struct hauli_announcement *hauli_host_announce(
	struct haul_host *host, const struct hauli_own *own, unsigned times);

/* The address is removed: its plan makes room for those of others. Under the lock. */
void hauli_host_announce_no_more(struct haul_host *host, const struct hauli_own *own);

#endif
