/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The life of coroutines that were spawned as records. One that has not waited, or has come back
 * from its waits, ends by becoming the next: if the next entry of the queue is a record of the same
 * stack class, it begins on the same stack and in the same slot, by a call. That is what would
 * happen if the slot were freed and got again, as free slots are last in, first out.
 *
 * It must not happen if somebody else still refers to the coroutine that ends: a request message is
 * under way to it, or it is stolen and its home waits for it. Nor does a cancelled or pinned one
 * pass that on.
 *
 * At the end of a batch one such coroutine waits as the carrier's spare, ended and without a home,
 * for the first record of the next batch.
 */
#include "sched/spawn_records.h"

#include <errno.h>

#include "sched/end.h"
#include "sched/self.h"
#include "sched/spawn.h"
#include "sched/suspend.h"

/* True if nothing distinguishes me from a coroutine that begins, but what
 * hauli_record_reuse() resets. */
static inline bool is_as_new(const struct haul_coro *me)
{
	return hauli_u8_shared_get(&me->flags) == 0 && !hauli_requests_pending(&me->requests);
}

/* Ends me at the end of a batch, when there is no spare coroutine yet: becomes that. Returns on the
 * carrier's thread, as the coroutine of another record. */
static inline void become_spare(struct haul_carrier *c, struct haul_coro *me)
{
	hauli_counter_add(&c->ended, 1);
	hauli_coro_set_state(me, HAULI_CORO_ENDED);
	hauli_ptr_published_set(&me->home, NULL);
	c->spare = me;
	c->current = NULL;
	hauli_arrive(hauli_co_switch(&me->co, &c->loop, c));
}

/* next: an entry that was popped, or NULL. */
static inline __attribute__((noreturn)) void end(
	struct haul_carrier *c, struct haul_coro *me, struct haul_coro *next)
{
	c->left = me;
	hauli_co_end(&me->co, hauli_next_is(c, next), c);
}

/* True if me may become the coroutine of the entry. start: its own; NULL: it may become none. */
static inline bool may_become(const struct haul_carrier *c, const struct haul_coro *me,
	const struct hauli_start *start, const struct haul_coro *entry)
{
	const struct hauli_start *other;

	if (!hauli_likely(hauli_entry_is_record(entry)) || hauli_unlikely(c->records_cancelled))
		return false;
	other = hauli_entry_record(entry)->start;
	return hauli_likely(other == start) || (start && other->stack_class == me->co.stack_class);
}

static void body(void *pass)
{
	struct haul_carrier *c = pass;
	struct haul_coro *me = c->current, *next;
	const struct hauli_start *start = ((const struct hauli_record *)me->arg)->start;

	hauli_co_arrived(&me->co);
	hauli_arrive(c);
	if (hauli_unlikely(me->co.stack_canary))
		start = NULL; /* the stack is checked after each coroutine */
	for (;;) {
		me->fn(me->arg);
		if (hauli_unlikely(!is_as_new(me))) {
			c = hauli_here();
			hauli_coro_exit(c, me);
			end(c, me, hauli_runq_pop(&c->runq));
		}
		c = hauli_coro_home(me); /* not stolen: it runs at home */
		next = hauli_runq_pop_record(&c->runq);
		if (hauli_likely(may_become(c, me, start, next))) {
			hauli_counter_add(&c->ended, 1);
			hauli_record_reuse(me, hauli_entry_record(next), start);
			start = hauli_entry_record(next)->start;
		} else if (!next && !c->spare && start) {
			become_spare(c, me);
			start = ((const struct hauli_record *)me->arg)->start;
		} else {
			hauli_coro_exit(c, me);
			end(c, me, next);
		}
	}
}

int hauli_start_init(struct hauli_start *start, struct haul_carrier *c, haul_fn *fn,
	void (*drop)(struct hauli_record *record), const struct haul_coro_opts *opts)
{
	int cls = hauli_spawn_stack_class(c->rt, opts);

	if (cls < 0 || (opts->pinned && hauli_steals(c)))
		return -EINVAL;
	*start = (struct hauli_start){
		.fn = fn, .entry = body, .drop = drop, .opts = *opts, .stack_class = (uint8_t)cls};
	return 0;
}
