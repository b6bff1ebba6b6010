/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kinds of pollers: one row each. A new kind is a value of enum haul_poll_how and a row here;
 * haul-doctor reports its cost (apps/haul-doctor/pollers.c).
 */
#ifndef HAULI_IO_POLLER_KINDS_H
#define HAULI_IO_POLLER_KINDS_H

#include "io/state.h"

struct hauli_poller_kind {
	struct haul_poll_kind shown;
	/* Adds the policy of queue r to p's: hauli_idle_recompute(). */
	void (*merge)(struct hauli_poller *p, const struct hauli_rxq *r);
	bool (*works)(void); /* true on machines that have it; NULL: all have */
	const char *no_work; /* error on machines without it */
	const char *too_long; /* error for ns above ns_max; NULL: any ns is good */
};

/* The row of a valid kind. */
const struct hauli_poller_kind *hauli_poller_kind(enum haul_poll_how how);

/* Checks that pollers with these options can serve the port; fills in the time if the user gave
 * none. 0 or -EINVAL with a line. */
int hauli_poller_kind_check(const struct haul_io_opts *opts, const struct haul_port *port,
	struct haul_poll_policy *policy, char *errbuf, size_t errlen);

#endif
