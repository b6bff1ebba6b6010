/* SPDX-License-Identifier: BSD-3-Clause */
/* Spawns of many detached coroutines as records (entry.h), by a poller. */
#ifndef HAULI_SCHED_SPAWN_RECORDS_H
#define HAULI_SCHED_SPAWN_RECORDS_H

#include "sched/carrier.h"

/*
 * Owner. Coroutines with this start run fn(record), or, if there is no memory for a stack,
 * drop(record). 0, or -EINVAL: opts are invalid, or coroutines with them cannot be records: where
 * carriers steal, pinned ones are spawned one by one.
 */
int hauli_start_init(struct hauli_start *start, struct haul_carrier *c, haul_fn *fn,
	void (*drop)(struct hauli_record *record), const struct haul_coro_opts *opts);

/* Owner, in the poller. Spawns a coroutine for the record of each object, in order; a record is
 * `at` bytes behind the beginning of its object. False: the runtime stops, and nothing was done. */
static inline bool hauli_spawn_records(struct haul_carrier *c, const struct hauli_start *start,
	void *const objs[], ptrdiff_t at, unsigned n)
{
	if (hauli_unlikely(c->phase != HAULI_PHASE_RUNS))
		return false;
	hauli_counter_add(&c->spawned, n);
	hauli_runq_push_records(&c->runq, start, objs, at, n);
	return true;
}

#endif
