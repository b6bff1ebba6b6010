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

/* Owner. The same for any entry that was popped, or NULL. */
static inline struct haul_coro *hauli_entry_to_run(
	struct haul_carrier *c, struct hauli_entry *entry)
{
	return hauli_unlikely(hauli_entry_is_record(entry)) ? hauli_record_begin(c, entry)
							    : hauli_entry_begun(entry);
}

/* The fields of a coroutine that depend on its prototype alone when it begins: eight bytes,
 * compared and stored as one word. */
union hauli_fresh {
	struct {
		struct hauli_u8_owned state;
		struct hauli_u8_shared flags;
		struct hauli_permit permit;
		bool detached;
		uint8_t pinned;
		uint8_t traits;
		uint8_t back, order_key;
	};
	uint64_t word;
};

_Static_assert(offsetof(struct haul_coro, order_key) - offsetof(struct haul_coro, state) == 7 &&
		sizeof(union hauli_fresh) == sizeof(uint64_t),
	"struct haul_coro has these fields in this order");

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
HAULI_MAY_RACE static inline bool hauli_record_is_fresh(
	const struct haul_coro *co, const struct hauli_prototype *prototype)
{
	uint64_t word;

	HAULI_RACES(co);
	__builtin_memcpy(&word, &co->state, sizeof(word));
	return hauli_likely(word == prototype->fresh) &&
		hauli_likely(!hauli_requests_pending(&co->requests));
}

/* Owner. The same word of a spare coroutine, which nobody else writes. */
HAULI_MAY_RACE static inline void hauli_record_set_fresh(
	struct haul_coro *co, const struct hauli_prototype *prototype)
{
	HAULI_RACES(co);
	__builtin_memcpy(&co->state, &prototype->fresh, sizeof(prototype->fresh));
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

#endif
