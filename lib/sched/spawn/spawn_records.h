/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Spawns of many detached coroutines as records (entry.h), by a poller, and the body of these
 * coroutines. spawn_records.c describes how they begin and end.
 */
#ifndef HAULI_SCHED_SPAWN_SPAWN_RECORDS_H
#define HAULI_SCHED_SPAWN_SPAWN_RECORDS_H

#include "sched/state/carrier.h"
#include "sched/state/held.h"
#include "sched/state/self.h"
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

/* Owner, in the poller. True if coroutines with this prototype that are spawned now
 * would run next, and hauli_records_run() may be called. */
static inline bool hauli_records_are_next(
	const struct haul_carrier *c, const struct hauli_prototype *prototype)
{
	const struct haul_coro *spare = c->spawn.spare;

	return hauli_runq_is_empty(&c->runq) && spare && hauli_record_fits(spare, prototype) &&
		c->phase == HAULI_PHASE_RUNS && !c->spawn.records_cancelled &&
		!c->mail.inbox.sleeps; /* a parked poller unparks before handlers run */
}

/*
 * Owner, in the poller of a carrier that does not steal, after hauli_records_are_next(). As
 * hauli_spawn_records(), and runs coroutines at once, on a stack of their own: as many as a round
 * would run, until one suspends. The others are queued. Returns when these have ended, or the round
 * has come to the poller again; the result is the number of objects whose coroutine has ended
 * without a wait.
 */
uint32_t hauli_records_run(struct haul_carrier *c, const struct hauli_prototype *prototype,
	void *const objs[], ptrdiff_t at, uint32_t n);

/* Owner, in the loop, in place of hauli_arrive(), when a coroutine that ran objects at once has
 * suspended or left: queues the others. If it yields it is queued behind them; but if it has
 * spawned others, these are ready already, and the objects count as come after the yield. */
void hauli_records_stop(struct haul_carrier *c);

/* What hauli_record_body() calls. Compile-time constants, so that there are no indirect calls. */
struct hauli_body {
	/* Runs the body of the coroutine of r. The memory of r may be gone afterwards. */
	void (*run)(const struct hauli_prototype *prototype, struct hauli_record *r);
	/* Called when the body has returned; remote: the coroutine is stolen. NULL: not called. */
	void (*ended)(const struct hauli_prototype *prototype, bool remote);
	/* A function of hauli_record_at_once(), HAULI_AT_ONCE. NULL if steals */
	struct hauli_record *(*at_once)(struct haul_carrier *c, struct haul_coro *me);
	bool steals; /* for carriers that steal */
};

/* Ends me, whose body has returned, if it cannot become another coroutine. */
__attribute__((noreturn)) void hauli_record_leave(struct haul_coro *me);

/* me has ended; next, which was popped, is an entry with another prototype, or NULL, and then me
 * may not become the spare coroutine. Returns the record whose coroutine me has become, or does not
 * return. */
struct hauli_record *hauli_record_next(struct haul_carrier *c, struct haul_coro *me,
	const struct hauli_prototype *prototype, struct hauli_entry *next);

/* True if me has no flag and no request under way. */
static inline bool hauli_record_may_go_on(const struct haul_coro *me)
{
	return hauli_u8_shared_get(&me->flags) == 0 && !hauli_requests_pending(&me->requests);
}

/*
 * Makes me, which has ended, the spare coroutine, of which there is none yet, and switches to the
 * poller, or, if that is NULL, to the loop. Returns on the carrier's thread when me has become the
 * coroutine of another record. Inlined in the loops below: a return behind a switch is predicted
 * wrongly, as are those of the context that was called last on the other side.
 */
static inline __attribute__((always_inline)) void hauli_record_become_spare(struct haul_carrier *c,
	struct haul_coro *me, const struct hauli_prototype *prototype, struct haul_coro *poller)
{
	hauli_coro_set_state(me, HAULI_CORO_ENDED);
	hauli_record_set_entry(me, prototype);
	hauli_ptr_published_set(&me->home, NULL);
	c->spawn.spare = me;
	c->current = poller;
	hauli_arrive(hauli_co_switch(&me->co, poller ? &poller->co : &c->run.loop, c));
}

/* The same; and if the batch has ended, me may become the spare coroutine. */
static inline __attribute__((always_inline)) struct hauli_record *hauli_record_go_on(
	struct haul_carrier *c, struct haul_coro *me, const struct hauli_prototype *prototype,
	struct hauli_entry *next)
{
	if (next || c->spawn.spare || me->co.stack->checks)
		return hauli_record_next(c, me, prototype, next);
	hauli_counter_add(&c->counts.ended, 1);
	hauli_record_become_spare(c, me, prototype, NULL);
	return me->arg;
}

/* The function of me has returned, and me is changed: makes it as new, or ends it. ended() is
 * called if it ends, or in any case if `each`. */
static __attribute__((unused, noinline)) void hauli_record_renew(struct haul_coro *me,
	const struct hauli_prototype *prototype,
	void (*ended)(const struct hauli_prototype *prototype, bool remote), bool each)
{
	bool remote = hauli_coro_is_stolen(me), goes_on = hauli_record_may_go_on(me);

	if (ended && (each || !goes_on))
		ended(prototype, remote);
	if (!goes_on)
		hauli_record_leave(me);
	hauli_record_refresh(me, prototype);
}

/*
 * Runs objects at once: up to the end of the chunk; to one that has woken another; or to one that
 * waits, and then it returns when the function of that one has returned. A coroutine that has not
 * waited is as new, unless it has called a function that makes it pause (hauli_at_once_pauses()):
 * so it looks only then.
 */
static inline __attribute__((always_inline)) void hauli_record_run_objects(struct haul_carrier *c,
	struct haul_coro *me, const struct hauli_prototype *prototype,
	void (*run_object)(const struct hauli_prototype *prototype, void *obj),
	void (*ended)(const struct hauli_prototype *prototype, bool remote))
{
	void *const *next = c->spawn.at_once.next;

	for (;;) {
		do {
			c->spawn.at_once.next = ++next;
			run_object(prototype, next[-1]);
			hauli_held_check(me);
		} while (next < c->spawn.at_once.stop);
		if (hauli_unlikely(!hauli_record_is_fresh(me, prototype)))
			hauli_record_renew(me, prototype, ended, false);
		if (hauli_likely(next == c->spawn.at_once.chunk) || c->spawn.at_once.coro != me ||
			!hauli_runq_is_empty(&c->runq))
			return;
		c->spawn.at_once.stop = c->spawn.at_once.chunk;
	}
}

/*
 * The code of body.at_once(), a function of its own so that it and the loop below have the CPU's
 * registers for themselves: me, which was the spare, begins at once. Returns the record with which
 * it goes on. run_object: as body.run(), for an object whose record is not set.
 */
static inline __attribute__((always_inline)) struct hauli_record *hauli_record_at_once(
	struct haul_carrier *c, struct haul_coro *me,
	void (*run_object)(const struct hauli_prototype *prototype, void *obj),
	void (*ended)(const struct hauli_prototype *prototype, bool remote))
{
	const struct hauli_prototype *prototype;
	struct hauli_record *r;

	do {
		prototype = c->spawn.at_once.prototype;
		hauli_record_run_objects(c, me, prototype, run_object, ended);
		if (hauli_likely(c->spawn.at_once.coro == me)) {
			hauli_record_become_spare(c, me, prototype, c->poller.coro);
			r = me->arg;
			continue;
		}
		if (ended) /* it has waited, and is as new again */
			ended(prototype, false);
		r = hauli_record_go_on(c, me, prototype, hauli_runq_pop_record(&c->runq, false));
	} while (hauli_likely(c->spawn.at_once.coro == me));
	return r;
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
	/* A stack that has checks is checked after each coroutine, so no other continues on it. */
	same = hauli_unlikely(me->co.stack->checks) ? NULL : prototype;
	for (;;) {
		body.run(prototype, r);
		hauli_held_check(me);
		c = hauli_here();
		if (hauli_unlikely(!hauli_record_is_fresh(me, prototype)))
			hauli_record_renew(me, prototype, body.ended, true);
		else if (body.ended)
			body.ended(prototype, false);
		next = hauli_runq_pop_record(&c->runq, body.steals);
		if (hauli_likely(hauli_entry_is_record(next))) {
			r = hauli_entry_record(next);
			if (hauli_likely(r->prototype == same)) {
				hauli_counter_add(&c->counts.ended, 1);
				me->arg = r;
				continue;
			}
		}
		r = hauli_record_go_on(c, me, prototype, next);
		if (!body.steals && c->spawn.at_once.coro == me)
			r = body.at_once(c, me);
		same = prototype = r->prototype;
	}
}

#endif
