/* SPDX-License-Identifier: BSD-3-Clause */
/* Records (entry.h) that get a struct haul_coro and a stack, and their cancellation. */
#ifndef HAULI_SCHED_RECORD_H
#define HAULI_SCHED_RECORD_H

#include "sched/carrier.h"

/* Owner, of c's run queue. Turns a record that was popped into a coroutine. If there is no memory,
 * drops it and pops the next entry. Returns the coroutine to run; NULL: the batch has ended. */
struct haul_coro *hauli_record_begin(struct haul_carrier *c, struct haul_coro *entry);

/* Owner. co has ended, is detached and has no flags: makes it the coroutine of a record of the same
 * stack class. last: its start so far. */
static inline void hauli_record_reuse(
	struct haul_coro *co, struct hauli_record *r, const struct hauli_start *last)
{
	const struct hauli_start *start = r->start;

	if (hauli_unlikely(start != last)) {
		co->fn = start->fn;
		co->co.name = start->opts.name ? start->opts.name : "-";
	}
	hauli_permit_take(&co->permit);
	co->pinned = start->opts.pinned;
	co->order_key = start->opts.order_key;
	co->arg = r;
}

/* Thief c. True if hauli_record_take() can turn this record into a coroutine. */
bool hauli_record_may_take(struct haul_carrier *c, const struct haul_coro *entry);

/* Thief c, under the guard of the ring of v, the record's home, after may_take. */
struct haul_coro *hauli_record_take(
	struct haul_carrier *c, struct haul_carrier *v, struct haul_coro *entry);

/* Owner. From now on the coroutines of c's queued and future records begin cancelled, until
 * admit(). After cancel(), each record is still queued, or its coroutine is in a slot with home
 * c. */
void hauli_records_cancel(struct haul_carrier *c);
void hauli_records_admit(struct haul_carrier *c);

#endif
