/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A coroutine that is spawned has no stack. If the coroutine before it has just ended when its turn
 * comes, it begins on the stack of that one, by a call; else on a stack of the carrier's cache, by
 * a switch. When it ends, its stack is free, and only its struct haul_coro is left until it is
 * joined. One free stack stays switched out in the loop of body(), as the carrier's warm stack: a
 * coroutine begins there by a switch that finds its frame ready. Coroutines of records in memory of
 * their spawner reuse even the struct of the one before: spawn_records.c.
 *
 * So there are two loops: here an end changes the coroutine and keeps the stack, there it keeps
 * both. As one, each would test at every end which of them it is.
 */
#include "sched/spawn/life.h"

#include "base/assert.h"
#include "sched/state/held.h"
#include "sched/state/self.h"
#include "sched/steal/sleep.h"
#include "sched/wait/join.h"
#include "sched/wait/suspend.h"

static __attribute__((noinline)) void exit_slow(struct haul_carrier *c, struct haul_coro *me)
{
	if (hauli_coro_is_stolen(me)) {
		me->back = HAULI_BACK_END;
		return;
	}
	if (hauli_coro_is_poller(me)) {
		c->poller.coro = NULL;
		if (c->mail.inbox.sleeps) /* the poller ended between park and unpark */
			hauli_sleep_end(c);
		hauli_sleep_quiesce(c);
		hauli_trylock_release(&c->poller.lock);
	}
	hauli_coro_finish(c, me);
}

void hauli_coro_exit(struct haul_carrier *c, struct haul_coro *me)
{
	if (hauli_unlikely(hauli_coro_needs_slow_path(me)))
		exit_slow(c, me);
	else
		hauli_coro_finish(c, me);
}

__attribute__((noinline)) void hauli_coro_leave(
	struct haul_carrier *c, struct haul_coro *me, struct hauli_entry *next)
{
	hauli_coro_exit(c, me);
	hauli_ptr_published_set(&c->left, me);
	hauli_co_end(&me->co, hauli_next_is(c, next), c);
}

/* True if the entry, which may be NULL, is a coroutine that may begin on the stack of me. */
static inline bool fits(const struct hauli_entry *entry, const struct haul_coro *me)
{
	return hauli_likely(hauli_entry_is_record(entry)) &&
		hauli_likely(hauli_entry_record(entry)->prototype == me->record.prototype);
}

/* Takes its stack from me, which has ended. frees: me is detached, or joined. */
static inline struct hauli_stack *take_stack(
	struct haul_carrier *c, struct haul_coro *me, bool frees)
{
	struct hauli_stack *stack = me->co.stack;

	if (hauli_unlikely(stack->checks))
		hauli_marks_check(c->marks, me);
	me->co.stack = NULL;
	if (frees)
		hauli_coro_free(c, me);
	return stack;
}

/* Switches from the stack of me, which has ended at home. The stack becomes the warm one, if there
 * is none. Returns when another coroutine begins on the stack, or never. */
static inline __attribute__((always_inline)) void away(
	struct haul_carrier *c, struct haul_coro *me, struct hauli_co *to, bool frees)
{
	const struct hauli_prototype *prototype = me->record.prototype;
	struct hauli_stack *stack = take_stack(c, me, frees);

	if (hauli_unlikely(c->spawn.warm_of != NULL)) {
		/* the memory of me may be another coroutine's by the time of the switch */
		struct hauli_co here;

		here.stack = stack;
		hauli_stack_put_checked(&c->stacks, stack);
		hauli_co_end(&here, to, c);
	}
	c->spawn.warm_of = prototype;
	c->spawn.warm.stack = stack;
	hauli_arrive(hauli_co_switch(&c->spawn.warm, to, c));
}

/* Ends me, by the general path. Returns the carrier on which it runs; does not if me is stolen. */
static __attribute__((noinline)) struct haul_carrier *end_slow(struct haul_coro *me)
{
	struct haul_carrier *c = hauli_here();

	if (hauli_coro_is_stolen(me))
		hauli_coro_leave(c, me, hauli_runq_pop(&c->runq));
	exit_slow(c, me);
	return c;
}

static void body(void *pass)
{
	struct haul_carrier *c = pass;
	struct haul_coro *me = c->current;

	hauli_co_began(&me->co);
	hauli_arrive(c);
	for (;;) {
		void *result = me->fn(me->arg);
		struct hauli_entry *next;
		struct haul_coro *joiner;
		bool frees;

		hauli_held_check(me);
		if (hauli_likely(hauli_coro_word(me) == HAULI_CORO_FRESH(true))) {
			/* The same for a coroutine that is detached, without most steps. Without
			 * flags it is not stolen, so its home is the carrier that it runs on. */
			c = hauli_coro_home(me);
			hauli_counter_add(&c->counts.ended, 1);
			frees = true;
		} else {
			me->arg = result;
			if (hauli_unlikely(hauli_coro_needs_slow_path(me))) {
				c = end_slow(me);
			} else {
				c = hauli_coro_home(me);
				joiner = hauli_coro_finish_running(c, me);
				if (joiner) {
					away(c, me, hauli_context_of(c, joiner), true);
					me = c->current;
					continue;
				}
			}
			frees = me->detached;
		}
		next = hauli_runq_pop_record(&c->runq, true);
		if (fits(next, me)) {
			struct haul_coro *co = hauli_entry_coro(next);

			co->co.stack = take_stack(c, me, frees);
			c->current = me = co;
		} else {
			/* not the warm one, which is read while this one is saved there */
			away(c, me, hauli_entry_to_run(c, next), frees);
			me = c->current;
		}
	}
}

#define START(cls)                                                 \
	{                                                          \
		.entry = body, .stack_class = cls, .in_coro = true \
	}

const struct hauli_prototype hauli_life_prototypes[HAULI_STACK_CLASSES] = {
	START(0), START(1), START(2), START(3), START(4), START(5), START(6), START(7)};

_Static_assert(HAULI_STACK_CLASSES == 8, "a prototype for each");
_Static_assert(HAUL_STACK_MAX == HAULI_STACK_USABLE(HAULI_STACK_CLASSES - 1), "the largest class");
