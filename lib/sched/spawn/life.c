/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A coroutine that is spawned has no stack. If the coroutine before it has just ended when its turn
 * comes, it begins on the stack of that one, by a call; else on a stack of the carrier's cache, by
 * a switch. When it ends, its stack is free, and only its struct haul_coro is left until it is
 * joined. One free stack stays switched out in the loop of body(), as the carrier's warm stack: a
 * coroutine begins there by a switch that finds its frame ready. Coroutines of calls, and of
 * records in memory of their spawner, reuse even the struct of the one before: run_calls(), and
 * spawn_records.c.
 *
 * So there are three loops: in body() an end changes the coroutine and keeps the stack, in the
 * others it keeps both. As one, each would test at every end which of them it is.
 */
#include "sched/spawn/life.h"

#include "base/assert.h"
#include "coro/own.h"
#include "sched/state/held.h"
#include "sched/state/self.h"
#include "sched/state/traced.h"
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
		hauli_traced_poller_ended(c);
		c->fds.covered = false; /* the next poller may have another wait */
		if (c->mail.inbox.sleeps) /* it ended between park and unpark */
			hauli_sleep_end_parked(c);
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
	struct hauli_co *to;

	hauli_coro_exit(c, me);
	hauli_ptr_published_set(&c->left, me);
	to = hauli_next_is(c, next);
	hauli_traced_run(c, HAUL_TRACE_ENDED);
	hauli_co_end(&me->co, to, c);
}

/* True if the entry, which may be NULL, is a coroutine that may begin on the stack of me. */
static inline bool fits(const struct hauli_entry *entry, const struct haul_coro *me)
{
	return hauli_likely(hauli_entry_is_record(entry)) &&
		hauli_likely(hauli_entry_record(entry)->prototype == me->record.prototype);
}

/* True if me, whose function has returned, is detached, at home, has no flags and is otherwise as
 * new. */
static inline bool is_as_new(const struct haul_coro *me)
{
	return hauli_likely(hauli_coro_word(me) == HAULI_CORO_FRESH(true));
}

/*
 * me, which is as new, has ended, and the entry, which was popped, is a call with this prototype.
 * me becomes the coroutine of this call and of those behind it, one after the other. Returns
 * another entry, which was popped, or NULL, when me has ended again, as new; or when the function
 * of one that is not as new has returned, and its result is me->arg.
 *
 * The coroutine of a call has the same memory as if me had been freed and got again, as free
 * objects are last in, first out. It is not cancelled: once its home stops, pops fail here, since a
 * batch has one slice (record.c).
 *
 * A function of its own so that the loop has the CPU's registers for itself.
 */
static HAULI_AT_ONCE struct hauli_entry *run_calls(struct haul_carrier *c, struct haul_coro *me,
	struct hauli_entry *entry, const struct hauli_prototype *calls)
{
	me->co.name = "-";
	do {
		struct hauli_call *call = hauli_call_of(hauli_entry_record(entry));
		void *result;

		me->fn = call->fn;
		me->arg = call->arg;
		result = call->fn(call->arg);
		hauli_held_check(me);
		if (!is_as_new(me)) {
			me->arg = result;
			return NULL;
		}
		/* Else gcc computes the addresses of fields before the loop, and spills them. */
		__asm__("" : "+r"(c));
		hauli_counter_add(&c->counts.ended, 1);
		entry = hauli_runq_pop_record(&c->runq, false);
	} while (hauli_likely(hauli_entry_calls(entry, calls)) &&
		hauli_likely(!hauli_requests_pending(&me->requests)));
	return entry;
}

/* The coroutine of the entry, which was popped, if it begins on the stack of me, which has ended;
 * else NULL. calls: the prototype of calls that may begin there. */
static inline struct haul_coro *begins_here(struct haul_carrier *c, struct haul_coro *me,
	struct hauli_entry *entry, const struct hauli_prototype *calls)
{
	if (fits(entry, me))
		return hauli_entry_coro(entry);
	if (hauli_entry_calls(entry, calls))
		return hauli_call_begins(c, hauli_entry_record(entry));
	return NULL;
}

/* me has ended, and is as new but for its name: it becomes that of the next call. */
static inline void keep_as_new(struct haul_carrier *c, struct haul_coro *me)
{
	if (hauli_unlikely(c->spawn.as_new || hauli_requests_pending(&me->requests))) {
		hauli_coro_free(c, me);
		return;
	}
	me->co.name = "-";
	hauli_ptr_published_set(&me->home, NULL);
	c->spawn.as_new = me;
}

/* What becomes of a coroutine that has ended. */
enum rest {
	STAYS, /* until it is joined or detached */
	FREED,
	KEPT_AS_NEW,
};

/* Takes its stack from me, which has ended. */
static inline __attribute__((always_inline)) struct hauli_stack *take_stack(
	struct haul_carrier *c, struct haul_coro *me, enum rest rest)
{
	struct hauli_stack *stack = me->co.stack;

	if (hauli_unlikely(stack->checks))
		hauli_marks_check(c->marks, me);
	me->co.stack = NULL;
	if (rest == KEPT_AS_NEW)
		keep_as_new(c, me);
	else if (rest == FREED)
		hauli_coro_free(c, me);
	return stack;
}

/* Switches from the stack of me, which has ended at home. The stack becomes the warm one, if there
 * is none. Returns the next coroutine that begins on the stack, or never. */
static inline __attribute__((always_inline)) struct haul_coro *away(
	struct haul_carrier *c, struct haul_coro *me, struct hauli_co *to, enum rest rest)
{
	const struct hauli_prototype *prototype = me->record.prototype;
	struct hauli_stack *stack = take_stack(c, me, rest);

	hauli_traced_run(c, HAUL_TRACE_ENDED);

	if (hauli_unlikely(c->spawn.warm_of != NULL)) {
		/* the memory of me may be another coroutine's by the time of the switch */
		struct hauli_co here;

		here.stack = stack;
		hauli_stack_put_checked(&c->stacks, stack);
		hauli_co_end(&here, to, c);
	}
	c->spawn.warm_of = prototype;
	c->spawn.warm.stack = stack;
	c = hauli_co_switch(&c->spawn.warm, to, c);
	hauli_arrive(c);
	return c->current;
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

/* me has ended, and next, which may be NULL, was popped. Returns the next coroutine that begins on
 * the stack, or never. calls: as above. */
static inline __attribute__((always_inline)) struct haul_coro *go_on(struct haul_carrier *c,
	struct haul_coro *me, struct hauli_entry *next, const struct hauli_prototype *calls,
	enum rest rest)
{
	struct haul_coro *co = begins_here(c, me, next, calls);

	/* not on the warm stack, which is read while this one is saved there */
	if (!co)
		return away(c, me, hauli_entry_to_run(c, next), rest);
	co->co.stack = take_stack(c, me, rest);
	c->current = co;
	hauli_traced_run(c, HAUL_TRACE_ENDED);
	return co;
}

static HAULI_CALLS_PROGRAM void body(void *pass)
{
	struct haul_carrier *c = pass;
	struct haul_coro *me = c->current, *joiner;
	/* A stack that has checks is checked after each coroutine, so it is given back. */
	const struct hauli_prototype *calls =
		hauli_unlikely(me->co.stack->checks) ? NULL : me->record.prototype->calls;

	hauli_co_began(&me->co);
	hauli_arrive(c);
	for (;;) {
		void *result = me->fn(me->arg);
		struct hauli_entry *next;
		bool as_new = is_as_new(me);

		hauli_held_check(me);
		if (as_new) {
			/* The same for a coroutine that is detached, without most steps. Without
			 * flags it is not stolen, so its home is the carrier that it runs on. */
			c = hauli_coro_home(me);
			hauli_counter_add(&c->counts.ended, 1);
			next = hauli_runq_pop_record(&c->runq, true);
			if (hauli_entry_calls(next, calls) &&
				!hauli_requests_pending(&me->requests)) {
				next = run_calls(c, me, next, calls);
				as_new = is_as_new(me);
				result = me->arg; /* if not as new */
			}
			if (as_new) {
				me = go_on(c, me, next, calls, KEPT_AS_NEW);
				continue;
			}
		}
		if (hauli_unlikely(hauli_coro_needs_slow_path(me))) {
			me->arg = result;
			c = end_slow(me);
		} else {
			c = hauli_coro_home(me);
			joiner = hauli_coro_finish_running(c, me, result);
			if (joiner) {
				hauli_traced_ready(c, joiner);
				me = away(c, me, hauli_context_of(c, joiner), KEPT_AS_NEW);
				continue;
			}
		}
		next = hauli_runq_pop_record(&c->runq, true);
		me = go_on(c, me, next, calls, me->detached ? FREED : STAYS);
	}
}

static const struct hauli_prototype of_calls[HAULI_STACK_CLASSES];
static const struct hauli_prototype of_late_calls[HAULI_STACK_CLASSES];

#define START(cls)                                                                          \
	{                                                                                   \
		.entry = body, .stack_class = cls, .in_coro = true, .calls = &of_calls[cls] \
	}

const struct hauli_prototype hauli_life_prototypes[HAULI_STACK_CLASSES] = {
	START(0), START(1), START(2), START(3), START(4), START(5), START(6), START(7)};

#define CALL(cls, late)                                                                 \
	{                                                                               \
		.entry = body, .stack_class = cls, .like = &hauli_life_prototypes[cls], \
		.calls = late                                                           \
	}

static const struct hauli_prototype of_calls[HAULI_STACK_CLASSES] = {CALL(0, &of_late_calls[0]),
	CALL(1, &of_late_calls[1]), CALL(2, &of_late_calls[2]), CALL(3, &of_late_calls[3]),
	CALL(4, &of_late_calls[4]), CALL(5, &of_late_calls[5]), CALL(6, &of_late_calls[6]),
	CALL(7, &of_late_calls[7])};

static const struct hauli_prototype of_late_calls[HAULI_STACK_CLASSES] = {CALL(0, NULL),
	CALL(1, NULL), CALL(2, NULL), CALL(3, NULL), CALL(4, NULL), CALL(5, NULL), CALL(6, NULL),
	CALL(7, NULL)};

_Static_assert(HAULI_STACK_CLASSES == 8, "a prototype for each");
_Static_assert(HAUL_STACK_MAX == HAULI_STACK_USABLE(HAULI_STACK_CLASSES - 1), "the largest class");
