/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Promise: a cancel of all coroutines of a home reaches those that are still records, even if a
 * thief takes one at the same time: its coroutine begins cancelled, or the canceller finds it in
 * its slot of the slab.
 *
 *	owner: cancel                      thief
 *	hold the guard                     hold the guard
 *	records_cancelled = true           take a record
 *	release it                         read records_cancelled: true? begin cancelled
 *	cancel those in slots              home = the owner
 *	                                   release the guard
 *
 *	If the thief has the guard first, its store of the home is before the owner's search of
 *	    the slots (ring.E2), which finds the coroutine.
 *	If the owner has it first, the thief reads true.
 *
 * A coroutine that has ended becomes that of the next record without a look at records_cancelled
 * (spawn_records.h). So batches are of one slice from then on: the loop pops each record, and
 * begins it by the functions below. A cancel comes between two batches, from the poller or the
 * loop.
 *
 * Model: tests/model/records.c.
 */
#include "sched/wait/record.h"

#include "conc/ring.h"

/* The spare coroutine of c, if it may become that of r; else NULL. */
static inline struct haul_coro *take_spare(struct haul_carrier *c, struct hauli_record *r)
{
	struct haul_coro *co = c->spawn.spare;

	if (!co || !hauli_record_fits(co, r->prototype) ||
		hauli_unlikely(c->spawn.records_cancelled))
		return NULL;
	c->spawn.spare = NULL;
	hauli_record_reuse(co, r);
	hauli_ptr_published_set(&co->home, c);
	return co;
}

/* Makes the coroutine of a record in memory of its spawner, from the caches of c. */
static struct haul_coro *make(
	struct haul_carrier *c, struct haul_carrier *home, struct hauli_record *r)
{
	const struct hauli_prototype *prototype = r->prototype;
	struct hauli_stack *stack = hauli_stack_get(&c->stacks, prototype->stack_class);
	struct haul_coro *co = stack ? hauli_slab_get(&c->coros) : NULL;

	if (hauli_unlikely(!co)) {
		if (stack)
			hauli_stack_put(&c->stacks, stack, NULL);
		return NULL;
	}
	hauli_coro_set_up(co, prototype->fn, r, &prototype->opts, true);
	hauli_coro_prepare(co, stack, prototype->entry);
	if (hauli_unlikely(home->spawn.records_cancelled))
		hauli_u8_shared_init(&co->flags, HAULI_FLAG_CANCELLED);
	hauli_ptr_published_set(&co->home, home);
	return co;
}

/* For a record that is part of its coroutine: gives that a stack. NULL: no memory. */
static struct haul_coro *complete(struct haul_carrier *c, struct hauli_record *r)
{
	const struct hauli_prototype *prototype = r->prototype;
	struct hauli_stack *stack = hauli_stack_get(&c->stacks, prototype->stack_class);
	struct haul_coro *co = hauli_coro_of_record(r);

	if (hauli_unlikely(!stack))
		return NULL;
	hauli_coro_prepare(co, stack, prototype->entry);
	return co;
}

static struct haul_coro *begin(struct haul_carrier *c, struct hauli_record *r)
{
	struct haul_coro *co;

	if (hauli_likely(r->prototype->in_coro))
		return complete(c, r);
	co = take_spare(c, r);
	return co ? co : make(c, c, r);
}

/* There is no memory for a stack. A record that is part of its coroutine is queued again, behind
 * the others; another is dropped. */
static void put_off(struct haul_carrier *c, struct hauli_record *r)
{
	if (r->prototype->in_coro) {
		hauli_queue_new(c, hauli_coro_of_record(r));
		return;
	}
	r->prototype->drop(r);
	hauli_counter_add(&c->counts.ended, 1);
}

static __attribute__((noinline)) struct haul_coro *begin_slow(
	struct haul_carrier *c, struct hauli_entry *entry)
{
	while (hauli_entry_is_record(entry)) {
		struct hauli_record *r = hauli_entry_record(entry);
		struct haul_coro *co = begin(c, r);

		if (hauli_likely(co != NULL))
			return co;
		put_off(c, r);
		entry = hauli_runq_pop(&c->runq);
	}
	return hauli_entry_begun(entry);
}

__attribute__((noinline)) struct haul_coro *hauli_record_begin(
	struct haul_carrier *c, struct hauli_entry *entry)
{
	struct hauli_record *r = hauli_entry_record(entry);
	const struct hauli_prototype *prototype = r->prototype;
	struct haul_coro *co = hauli_coro_of_record(r);
	struct hauli_stack *stack;

	if (!hauli_likely(prototype->in_coro))
		return begin_slow(c, entry);
	stack = hauli_stack_try_get(&c->stacks, prototype->stack_class);
	if (hauli_unlikely(!stack))
		return begin_slow(c, entry);
	hauli_coro_prepare(co, stack, prototype->entry);
	return co;
}

bool hauli_record_may_take(struct haul_carrier *c, const struct hauli_entry *entry)
{
	struct hauli_stack *stack =
		hauli_stack_get(&c->stacks, hauli_entry_record(entry)->prototype->stack_class);
	void *object = hauli_slab_get(&c->coros);

	if (stack)
		hauli_stack_put(&c->stacks, stack, NULL);
	if (object)
		hauli_slab_put(&c->coros, object);
	return stack && object;
}

struct haul_coro *hauli_record_take(
	struct haul_carrier *c, struct haul_carrier *v, struct hauli_entry *entry)
{
	struct hauli_record *r = hauli_entry_record(entry);
	struct haul_coro *co = r->prototype->in_coro ? complete(c, r) : make(c, v, r);

	HAUL_BUG_ON(!co);
	return co;
}

static void set_cancelled(struct haul_carrier *c, bool cancelled)
{
	if (hauli_steals(c))
		hauli_ring_hold(&c->runq.ring);
	c->spawn.records_cancelled = cancelled;
	if (hauli_steals(c))
		hauli_ring_release(&c->runq.ring);
	c->run.slices_per_batch = cancelled ? 1 : HAULI_SLICES_PER_BATCH;
}

void hauli_records_cancel(struct haul_carrier *c)
{
	set_cancelled(c, true);
}

void hauli_records_admit(struct haul_carrier *c)
{
	set_cancelled(c, c->phase != HAULI_PHASE_RUNS);
}
