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
 *
 * A call begins cancelled once its home stops. Its home alone begins it, and reads its own phase.
 * A cancel of the handlers, which sets records_cancelled, too, is none of calls.
 *
 * A call for whose coroutine there is no memory is queued again, behind the others, and so leaves
 * its slot of the ring. It moves to memory for calls that were put off. From then until all of
 * these have begun, spawns make no calls. So there are never more than the ring had room for.
 */
#include "sched/wait/record.h"

#include <errno.h>
#include <stdlib.h>

#include "conc/ring.h"
#include "sched/state/ready.h"

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
		stack = hauli_stack_get_reserved(c->stacks.arena, prototype->stack_class);
	if (hauli_unlikely(!stack))
		return NULL;
	hauli_coro_prepare(co, stack, prototype->entry);
	return co;
}

static bool is_put_off(const struct hauli_call *call)
{
	return !call->record.prototype->calls;
}

/* A call that was put off begins. */
static __attribute__((noinline)) void count_put_off(struct haul_carrier *c)
{
	if (--c->spawn.put_off_left > 0)
		return;
	c->spawn.put_off = 0;
	hauli_runq_refuse(&c->runq, c->phase != HAULI_PHASE_RUNS);
}

/* co, which is as new, becomes the coroutine of the call. */
static inline void begin_as(struct haul_carrier *c, struct haul_coro *co,
	const struct hauli_call *call, const struct hauli_prototype *like)
{
	co->fn = call->fn;
	co->arg = call->arg;
	co->record.prototype = like;
	if (hauli_unlikely(c->phase != HAULI_PHASE_RUNS))
		hauli_u8_shared_init(&co->flags, HAULI_FLAG_CANCELLED);
	hauli_ptr_published_set(&co->home, c);
}

/* The object that is as new, if there is one. */
static inline struct haul_coro *take_as_new(struct haul_carrier *c)
{
	struct haul_coro *co = c->spawn.as_new;

	c->spawn.as_new = NULL;
	return co;
}

struct haul_coro *hauli_call_begins(struct haul_carrier *c, struct hauli_record *r)
{
	const struct hauli_call *call = hauli_call_of(r);
	struct haul_coro *co = take_as_new(c);

	if (!co) {
		co = hauli_slab_get(&c->coros);
		if (hauli_unlikely(!co))
			return NULL;
		hauli_coro_set_up(co, NULL, NULL, NULL, true);
	}
	begin_as(c, co, call, r->prototype->like);
	if (hauli_unlikely(is_put_off(call)))
		count_put_off(c);
	return co;
}

/* The same, on a stack. */
static struct haul_coro *begin_call(struct haul_carrier *c, struct hauli_record *r)
{
	const struct hauli_prototype *prototype = r->prototype;
	struct hauli_stack *stack = hauli_stack_get(&c->stacks, prototype->stack_class);
	struct haul_coro *co = stack ? hauli_call_begins(c, r) : NULL;

	if (hauli_unlikely(!co)) {
		if (stack)
			hauli_stack_put(&c->stacks, stack, NULL);
		return NULL;
	}
	hauli_coro_prepare(co, stack, prototype->entry);
	return co;
}

static struct haul_coro *begin(struct haul_carrier *c, struct hauli_record *r)
{
	struct haul_coro *co;

	if (hauli_likely(r->prototype->in_coro))
		return complete(c, r);
	if (r->prototype->like)
		return begin_call(c, r);
	co = take_spare(c, r);
	return co ? co : make(c, c, r);
}

static void put_off_call(struct haul_carrier *c, struct hauli_call *call)
{
	struct hauli_call *to = call;

	if (!is_put_off(call)) {
		to = c->runq.calls + HAULI_RING_SIZE + c->spawn.put_off++;
		*to = *call;
		to->record.prototype = call->record.prototype->calls;
		c->spawn.put_off_left++;
		hauli_runq_refuse(&c->runq, true);
	}
	hauli_runq_push(&c->runq, hauli_entry_of(&to->record));
}

/* There is no memory for a stack. A record that is part of its coroutine, or a call, is queued
 * again, behind the others; another is dropped. */
static void put_off(struct haul_carrier *c, struct hauli_record *r)
{
	if (r->prototype->in_coro) {
		hauli_queue_new(c, hauli_coro_of_record(r));
		return;
	}
	if (r->prototype->like) {
		put_off_call(c, hauli_call_of(r));
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

static __attribute__((noinline)) struct hauli_co *is_next_slow(
	struct haul_carrier *c, struct hauli_entry *entry)
{
	struct hauli_record *r = hauli_entry_record(entry);
	const struct hauli_prototype *like = r->prototype->like;

	if (like && like == c->spawn.warm_of) {
		struct haul_coro *co = hauli_call_begins(c, r);

		if (hauli_likely(co != NULL))
			return hauli_record_takes_warm(c, &co->record);
	}
	return hauli_context_of(c, hauli_record_begin(c, entry));
}

__attribute__((noinline)) struct hauli_co *hauli_record_is_next(
	struct haul_carrier *c, struct hauli_entry *entry)
{
	struct hauli_record *r = hauli_entry_record(entry);
	const struct hauli_prototype *warm_of = c->spawn.warm_of;
	struct haul_coro *co;

	if (!warm_of || warm_of->calls != r->prototype || !c->spawn.as_new)
		return is_next_slow(c, entry);
	co = take_as_new(c);
	begin_as(c, co, hauli_call_of(r), warm_of);
	return hauli_record_takes_warm(c, &co->record);
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

int hauli_calls_init(struct haul_carrier *c, const struct hauli_prototype *prototype)
{
	struct hauli_call *calls = calloc(2 * (size_t)HAULI_RING_SIZE, sizeof(calls[0]));

	if (!calls)
		return -ENOMEM;
	for (unsigned i = 0; i < HAULI_RING_SIZE; i++)
		calls[i].record.prototype = prototype;
	c->runq.calls = calls;
	hauli_runq_change_room(&c->runq);
	return 0;
}

void hauli_calls_fini(struct haul_carrier *c)
{
	free(c->runq.calls);
}
