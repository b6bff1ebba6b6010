/* SPDX-License-Identifier: BSD-3-Clause */
/* How records (entry.h) get a stack, and a struct haul_coro if they need one; how they are
 * cancelled. */
#ifndef HAULI_SCHED_WAIT_RECORD_H
#define HAULI_SCHED_WAIT_RECORD_H

#include "base/race.h"
#include "sched/state/carrier.h"

/*
 * Owner, of c's run queue. Turns a record that was popped into a coroutine that can run. If there
 * is no memory, drops it, or, if it is part of its coroutine, queues it again; and pops the next
 * entry. Returns the coroutine to run; NULL: the batch has ended.
 */
struct haul_coro *hauli_record_begin(struct haul_carrier *c, struct hauli_entry *entry);

/* Owner. The coroutine of the record r begins on the warm stack of c, which is of its prototype.
 * Returns the context to switch to. */
static inline struct hauli_co *hauli_record_takes_warm(
	struct haul_carrier *c, struct hauli_record *r)
{
	struct haul_coro *co = hauli_coro_of_record(r);

	c->spawn.warm_of = NULL;
	co->co.stack = c->spawn.warm.stack;
	c->current = co;
	return &c->spawn.warm;
}

/* co, or, if that is NULL, the loop runs next: sets c->current, and returns the context. */
static inline struct hauli_co *hauli_context_of(struct haul_carrier *c, struct haul_coro *co)
{
	c->current = co;
	return co ? &co->co : &c->run.loop;
}

/* Owner. The coroutine of a record that was popped, and does not begin on the warm stack by the
 * function above, runs next. Sets c->current, and returns the context to switch to, or, if there is
 * no memory, that of another entry, or the loop's. */
struct hauli_co *hauli_record_is_next(struct haul_carrier *c, struct hauli_entry *entry);

/* Owner, when an entry was popped, or NULL: the batch has ended. Sets c->current, and returns the
 * context to switch to: that of the entry's coroutine, or the loop's. This leaves the warm stack
 * alone. */
static inline struct hauli_co *hauli_entry_to_run(struct haul_carrier *c, struct hauli_entry *entry)
{
	return hauli_context_of(c,
		hauli_unlikely(hauli_entry_is_record(entry)) ? hauli_record_begin(c, entry)
							     : hauli_entry_begun(entry));
}

/* The same, on the warm stack if the entry is a record that fits. */
static inline __attribute__((always_inline)) struct hauli_co *hauli_next_is(
	struct haul_carrier *c, struct hauli_entry *entry)
{
	if (hauli_unlikely(hauli_entry_is_record(entry))) {
		struct hauli_record *r = hauli_entry_record(entry);

		if (hauli_likely(r->prototype == c->spawn.warm_of))
			return hauli_record_takes_warm(c, r);
		return hauli_record_is_next(c, entry);
	}
	return hauli_context_of(c, hauli_entry_begun(entry));
}

/* Owner. A coroutine for a call that was popped, with its home, but without a stack; NULL: no
 * memory. */
struct haul_coro *hauli_call_begins(struct haul_carrier *c, struct hauli_record *r);

/* The word of a coroutine that begins, with its prototype's options (hauli_coro_word()). */
static inline uint64_t hauli_record_fresh(const struct haul_coro_opts *opts)
{
	union hauli_fresh fresh = {.word = 0};

	fresh.detached = true;
	fresh.pinned = opts->pinned;
	fresh.traits = opts->hibernates;
	fresh.order_key = opts->order_key;
	return fresh.word;
}

/* Owner, of a running coroutine. True: it is at home, not cancelled, unchanged since it began with
 * this prototype, and nobody has sent it a request. The home of a stolen one may write its flags at
 * the same time, but STOLEN stays set, so the result is false. */
static inline bool hauli_record_is_fresh(
	const struct haul_coro *co, const struct hauli_prototype *prototype)
{
	return hauli_likely(hauli_coro_word(co) == prototype->fresh) &&
		hauli_likely(!hauli_requests_pending(&co->requests));
}

/* Owner. The same word of a spare coroutine, which nobody else writes. */
static inline void hauli_record_set_fresh(
	struct haul_coro *co, const struct hauli_prototype *prototype)
{
	hauli_coro_set_word(co, prototype->fresh);
}

/* Owner. co runs or has ended, is detached, and has no flags: resets it as if it were to begin with
 * this prototype. */
static inline void hauli_record_refresh(
	struct haul_coro *co, const struct hauli_prototype *prototype)
{
	hauli_coro_set_state(co, HAULI_CORO_READY);
	hauli_permit_take(&co->permit);
	co->pinned = prototype->opts.pinned;
	co->traits = prototype->opts.hibernates;
	co->back = 0;
	co->order_key = prototype->opts.order_key;
}

/* Owner. The same, and makes co the coroutine of r, whose prototype may be another one with the
 * same entry and stack class. */
static inline void hauli_record_reuse(struct haul_coro *co, struct hauli_record *r)
{
	const struct hauli_prototype *prototype = r->prototype;

	co->fn = prototype->fn;
	co->co.name = prototype->opts.name ? prototype->opts.name : "-";
	hauli_record_refresh(co, prototype);
	co->arg = r;
}

/* A spare coroutine keeps the entry that it began with, for hauli_record_fits(): true if it may
 * become the coroutine of a record with this prototype. */
static inline void hauli_record_set_entry(
	struct haul_coro *spare, const struct hauli_prototype *prototype)
{
	spare->arg = (void *)prototype->entry;
}

static inline bool hauli_record_fits(
	const struct haul_coro *spare, const struct hauli_prototype *prototype)
{
	return spare->arg == (void *)prototype->entry &&
		spare->co.stack->cls == prototype->stack_class;
}

/* Thief c. True if hauli_record_take() can turn this record into a coroutine. */
bool hauli_record_may_take(struct haul_carrier *c, const struct hauli_entry *entry);

/* Thief c, under the guard of the ring of v, the record's home, after may_take. */
struct haul_coro *hauli_record_take(
	struct haul_carrier *c, struct haul_carrier *v, struct hauli_entry *entry);

/* Owner, in the loop or the poller. From now on the coroutines of c's queued and future records
 * begin cancelled, until admit(). After cancel(), each record is still queued, or its coroutine is
 * in a slot with home c. */
void hauli_records_cancel(struct haul_carrier *c);
void hauli_records_admit(struct haul_carrier *c);

/* For a carrier that does not steal: its spawns may make calls. fini() does nothing without an
 * init(). 0 or -ENOMEM. */
int hauli_calls_init(struct haul_carrier *c, const struct hauli_prototype *prototype);
void hauli_calls_fini(struct haul_carrier *c);

#endif
