/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kinds of pollers: one row each. A new kind is a value of enum haul_poll_how and a row here;
 * haul-doctor says what it costs (apps/haul-doctor/pollers.c).
 */
#ifndef HAULI_IO_POLLER_KINDS_H
#define HAULI_IO_POLLER_KINDS_H

#include "io/state.h"

struct hauli_poller_kind {
	struct haul_poll_kind shown;
	/* Adds the policy of queue r to what p does: hauli_idle_recompute(). */
	void (*merge)(struct hauli_poller *p, const struct hauli_rxq *r);
	bool (*works)(void); /* NULL: on each machine */
	const char *no_work; /* where it does not */
	const char *too_long; /* said of ns above ns_max; NULL: any ns is good */
};

/* The row of a kind that is known to exist. */
const struct hauli_poller_kind *hauli_poller_kind(enum haul_poll_how how);

/* Whether pollers with these options can treat the port so; fills in the time if the user gave
 * none. 0 or -EINVAL with a line. */
int hauli_poller_kind_check(const struct haul_io_opts *opts, const struct haul_port *port,
	struct haul_poll_policy *policy, char *errbuf, size_t errlen);

#endif
