/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Spawns of many detached coroutines as records (entry.h), by a poller, and the body of these
 * coroutines. spawn_records.c describes how they begin and end.
 */
#ifndef HAULI_SCHED_SPAWN_SPAWN_RECORDS_H
#define HAULI_SCHED_SPAWN_SPAWN_RECORDS_H

#include "sched/state/carrier.h"
#include "sched/state/held.h"
#include "sched/wait/record.h"
#include "sched/wait/suspend.h"

/*
 * Owner. Coroutines with this prototype run fn(record), or, if there is no memory for a stack,
 * drop(record). 0, or -EINVAL: opts are invalid, or coroutines with them cannot be records: where
 * carriers steal, pinned ones are spawned one by one.
 */
int hauli_prototype_init(struct hauli_prototype *prototype, struct haul_carrier *c, haul_fn *fn,
	void (*drop)(struct hauli_record *record), const struct haul_coro_opts *opts);

/* Owner, in the poller. Spawns a coroutine for the record of each object, in order; a record is
 * `at` bytes behind the beginning of its object. False: the runtime stops, and nothing was done. */
static inline bool hauli_spawn_records(struct haul_carrier *c,
	const struct hauli_prototype *prototype, void *const objs[], ptrdiff_t at, unsigned n)
{
	if (hauli_unlikely(c->phase != HAULI_PHASE_RUNS))
		return false;
	hauli_counter_add(&c->counts.spawned, n);
	hauli_runq_push_records(&c->runq, prototype, objs, at, n);
	return true;
}

/* What hauli_record_body() calls. Compile-time constants, so that there are no indirect calls. */
struct hauli_body {
	/* Runs the body of the coroutine of r. The memory of r may be gone afterwards. */
	void (*run)(const struct hauli_prototype *prototype, struct hauli_record *r);
	/* Called when the body has returned; remote: the coroutine is stolen. NULL: not called. */
	void (*ended)(const struct hauli_prototype *prototype, bool remote);
	bool steals; /* for carriers that steal */
};

/* Ends me, whose body has returned, if it cannot become another coroutine. */
__attribute__((noreturn)) void hauli_record_leave(struct haul_coro *me);

/* me has ended; next, which was popped, is NULL or an entry with another prototype. Returns the
 * record whose coroutine me has become, or does not return. */
struct hauli_record *hauli_record_next(struct haul_carrier *c, struct haul_coro *me,
	const struct hauli_prototype *prototype, struct hauli_entry *next);

/* True if me has no flag and no request under way. */
static inline bool hauli_record_may_go_on(const struct haul_coro *me)
{
	return hauli_u8_shared_get(&me->flags) == 0 && !hauli_requests_pending(&me->requests);
}

/* The entry function of a stack: runs the coroutines of records with the same entry and stack
 * class, one after another. pass: the carrier that runs the first one. */
static inline __attribute__((always_inline)) void hauli_record_body(
	void *pass, const struct hauli_body body)
{
	struct haul_carrier *c = pass;
	struct haul_coro *me = c->current;
	struct hauli_entry *next;
	struct hauli_record *r = me->arg;
	const struct hauli_prototype *prototype = r->prototype, *same;

	hauli_co_began(&me->co);
	hauli_arrive(c);
	c = hauli_coro_home(me);
	/* A stack that has checks is checked after each coroutine, so no other continues on it. */
	same = hauli_unlikely(me->co.stack->checks) ? NULL : prototype;
	for (;;) {
		body.run(prototype, r);
		hauli_held_check(me);
		if (hauli_unlikely(!hauli_record_is_fresh(me, prototype))) {
			bool remote = hauli_coro_is_stolen(me);

			if (body.ended)
				body.ended(prototype, remote);
			if (!hauli_record_may_go_on(me))
				hauli_record_leave(me);
			hauli_record_refresh(me, prototype);
		} else if (body.ended) {
			body.ended(prototype, false);
		}
		next = hauli_runq_pop_record(&c->runq, body.steals);
		if (hauli_likely(hauli_entry_is_record(next)) &&
			hauli_likely(!c->spawn.records_cancelled)) {
			r = hauli_entry_record(next);
			if (hauli_likely(r->prototype == same)) {
				hauli_counter_add(&c->counts.ended, 1);
				me->arg = r;
				continue;
			}
		}
		r = hauli_record_next(c, me, prototype, next);
		same = prototype = r->prototype;
	}
}

#endif
