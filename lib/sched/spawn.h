/* SPDX-License-Identifier: BSD-3-Clause */
/* Spawning on a carrier from another thread. */
#ifndef HAULI_SCHED_SPAWN_H
#define HAULI_SCHED_SPAWN_H

#include "sched/carrier.h"

struct hauli_spawn {
	struct haul_carrier *carrier;
	struct haul_coro **out;
	haul_fn *fn;
	void *arg;
	const struct haul_coro_opts *opts;
	bool poller; /* the caller has claimed the carrier's poller slot */
};

/* Any thread. Errors as haul_spawn_on(). */
int hauli_spawn_by_mail(const struct hauli_spawn *how);

#endif
