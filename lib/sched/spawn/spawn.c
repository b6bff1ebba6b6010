/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Spawning: on the running carrier without any atomic; on another one by a message. And the life
 * of the coroutines: one that is spawned has no stack. When its turn comes while the coroutine
 * before it has just ended, it begins on the stack of that one, by a call; else on one of the
 * carrier's cache, by a switch. When it ends, its stack is free, and what is left is struct
 * haul_coro, until it is joined.
 */
#include "sched/spawn/spawn.h"

#include <errno.h>

#include "base/assert.h"
#include "sched/mail/spawn_remote.h"
#include "sched/place/placing.h"
#include "sched/spawn/end.h"
#include "sched/state/group.h"
#include "sched/state/held.h"
#include "sched/state/runtime.h"
#include "sched/state/self.h"
#include "sched/steal/stolen.h"
#include "sched/wait/join.h"
#include "sched/wait/suspend.h"

/* Ends me, whose slice on another carrier this is. Its home finishes it. */
static __attribute__((noinline, noreturn)) void end_stolen(
	struct haul_carrier *c, struct haul_coro *me)
{
	hauli_coro_exit(c, me);
	hauli_ptr_published_set(&c->left, me);
	hauli_co_end(&me->co, hauli_next(c), c);
}

/* Runs another context than me, which has ended. next: an entry that was popped, or NULL. */
static inline __attribute__((always_inline, noreturn)) void leave(
	struct haul_carrier *c, struct haul_coro *me, struct haul_coro *next)
{
	struct hauli_co *to = hauli_next_is(c, next);
	struct hauli_co here; /* me may be another's by the switch */

	here.stack = me->co.stack;
	hauli_coro_drop_stack(c, me);
	if (me->detached)
		hauli_coro_free(c, me);
	hauli_co_end(&here, to, c);
}

/* True if the entry, which may be NULL, is a coroutine that may begin on the stack of me. */
static inline bool fits(const struct haul_coro *entry, const struct haul_coro *me)
{
	return hauli_likely(hauli_entry_is_record(entry)) &&
		hauli_likely(hauli_entry_record(entry)->start == me->record.start);
}

/* Makes next the coroutine that runs on the stack of me, which has ended. */
static inline void hand_over(struct haul_carrier *c, struct haul_coro *me, struct haul_coro *next)
{
	struct hauli_stack *stack = me->co.stack;

	if (hauli_unlikely(stack->checks))
		hauli_marks_check(c->marks, me);
	me->co.stack = NULL;
	next->co.stack = stack;
	c->current = next;
	if (me->detached)
		hauli_coro_free(c, me);
}

static void body(void *pass)
{
	struct haul_carrier *c = pass;
	struct haul_coro *me = c->current, *next;

	hauli_co_began(&me->co);
	hauli_arrive(c);
	for (;;) {
		me->arg = me->fn(me->arg);
		hauli_held_check(me);
		if (hauli_unlikely(hauli_coro_needs_slow_path(me))) {
			c = hauli_here();
			if (hauli_coro_is_stolen(me))
				end_stolen(c, me);
			hauli_coro_exit(c, me);
		} else {
			c = hauli_coro_home(me); /* not stolen: it runs at home */
			hauli_coro_finish(c, me);
		}
		next = hauli_runq_pop_record(&c->runq, true);
		if (!fits(next, me))
			leave(c, me, next);
		hand_over(c, me, hauli_entry_coro(next));
		me = hauli_entry_coro(next);
	}
}

#define START(cls)                                                 \
	{                                                          \
		.entry = body, .stack_class = cls, .in_coro = true \
	}

const struct hauli_start hauli_spawn_starts[HAULI_STACK_CLASSES] = {
	START(0), START(1), START(2), START(3), START(4), START(5), START(6), START(7)};

_Static_assert(HAULI_STACK_CLASSES == 8, "a start for each");
_Static_assert(HAUL_STACK_MAX == HAULI_STACK_USABLE(HAULI_STACK_CLASSES - 1), "the largest class");

/* For a pinned coroutine: where carriers steal, its pushes are counted separately
 * (HAULI_FLAG_KEPT). */
static void keep(const struct haul_runtime *rt, struct haul_coro *co)
{
	if (rt->groups)
		hauli_u8_shared_init(&co->flags, HAULI_FLAG_KEPT);
}

void hauli_spawn_set_up(struct haul_runtime *rt, struct haul_coro *co, unsigned cls, haul_fn *fn,
	void *arg, const struct haul_coro_opts *opts, bool detached)
{
	hauli_coro_set_up(co, fn, arg, opts, detached);
	co->record.start = &hauli_spawn_starts[cls];
	if (co->pinned)
		keep(rt, co);
}

int hauli_spawn_stack_class(const struct haul_runtime *rt, const struct haul_coro_opts *opts)
{
	if (hauli_likely(!opts || opts->stack_size == 0))
		return (int)rt->default_class;
	return hauli_stack_class(opts->stack_size);
}

/* How a spawn queues its coroutine. */
enum place {
	LAST,
	PINNED, /* last, where thieves do not take it */
	NEXT, /* in the LIFO slot */
};

static inline __attribute__((always_inline)) int spawn(struct haul_carrier *c,
	struct haul_coro **out, haul_fn *fn, void *arg, const struct haul_coro_opts *opts,
	enum place place)
{
	const struct hauli_start *start = c->spawn.start;
	struct haul_coro *co;

	if (opts && opts->stack_size) {
		int cls = hauli_stack_class(opts->stack_size);

		if (cls < 0)
			return cls;
		start = &hauli_spawn_starts[cls];
	}
	co = hauli_slab_get(&c->coros);
	if (hauli_unlikely(!co))
		return -ENOMEM;
	hauli_coro_set_up(co, fn, arg, opts, !out);
	co->record.start = start;
	if (place == PINNED)
		keep(c->rt, co);
	hauli_ptr_published_set(&co->home, c);
	hauli_counter_add(&c->counts.spawned, 1);
	if (out)
		*out = co;
	if (place == PINNED)
		hauli_queue_new(c, co);
	else if (place == NEXT)
		hauli_runq_push_lifo(&c->runq, hauli_entry_of(&co->record));
	else
		hauli_runq_push(&c->runq, hauli_entry_of(&co->record));
	return 0;
}

static __attribute__((noinline)) int spawn_pinned(struct haul_carrier *c, struct haul_coro **out,
	haul_fn *fn, void *arg, const struct haul_coro_opts *opts)
{
	return spawn(c, out, fn, arg, opts, PINNED);
}

static inline int spawn_fast(struct haul_carrier *c, struct haul_coro **out, haul_fn *fn, void *arg,
	const struct haul_coro_opts *opts)
{
	if (opts && hauli_unlikely(opts->pinned))
		return spawn_pinned(c, out, fn, arg, opts);
	return spawn(c, out, fn, arg, opts, LAST);
}

static int spawn_slow(struct haul_carrier *c, struct haul_coro **out, haul_fn *fn, void *arg,
	const struct haul_coro_opts *opts)
{
	int err;

	if (c->phase != HAULI_PHASE_RUNS)
		return -ECANCELED;
	err = spawn_fast(c, out, fn, arg, opts);
	if (err == 0)
		hauli_steal_offer_here(c);
	return err;
}

static inline int spawn_here(struct haul_carrier *c, struct haul_coro **out, haul_fn *fn, void *arg,
	const struct haul_coro_opts *opts)
{
	if (hauli_likely(c->spawn.path == HAULI_PATH_FAST))
		return spawn_fast(c, out, fn, arg, opts);
	return spawn_slow(c, out, fn, arg, opts);
}

/* Pollers are not queued, so they have a stack from the start. False: no memory. */
static bool make_poller(struct haul_runtime *rt, struct haul_coro *co, unsigned cls)
{
	struct hauli_stack *stack = hauli_stack_get_shared(rt->stacks, cls);

	if (!stack)
		return false;
	hauli_coro_prepare(co, stack, body);
	co->poller = true;
	hauli_u8_shared_init(&co->flags, HAULI_FLAG_POLLER);
	return true;
}

/* Inside the gate. Called on self's thread. */
static int spawn_inside(struct haul_carrier *self, const struct hauli_spawn *how, unsigned cls)
{
	struct haul_carrier *c = how->carrier;
	struct haul_coro *co;

	co = self->rt == c->rt ? hauli_slab_get(&self->coros) : hauli_slab_get_shared(c->rt->coros);
	if (!co)
		return -ENOMEM;
	hauli_spawn_set_up(c->rt, co, cls, how->fn, how->arg, how->opts, !how->out);
	if (how->poller && !make_poller(c->rt, co, cls)) {
		hauli_slab_put_shared(c->rt->coros, co);
		return -ENOMEM;
	}
	if (how->out)
		*how->out = co;
	hauli_spawn_send(c, co);
	return 0;
}

int hauli_spawn_by_mail(const struct hauli_spawn *how)
{
	struct haul_runtime *rt = how->carrier->rt;
	int cls = hauli_spawn_stack_class(rt, how->opts);
	int err;

	if (cls < 0)
		return cls;
	if (hauli_runtimes_are_copies())
		return -EPERM;
	if (!hauli_gate_enter(&rt->gate))
		return -ECANCELED;
	err = spawn_inside(hauli_here(), how, (unsigned)cls);
	hauli_gate_leave(&rt->gate);
	return err;
}

static int spawn_on(struct haul_carrier *carrier, struct haul_coro **co, haul_fn *fn, void *arg,
	const struct haul_coro_opts *opts)
{
	if (carrier == hauli_here())
		return spawn_here(carrier, co, fn, arg, opts);
	return hauli_spawn_by_mail(&(struct hauli_spawn){
		.carrier = carrier, .out = co, .fn = fn, .arg = arg, .opts = opts});
}

/* Spawns on c, and offers the coroutine to thieves, because the running one may run for long. */
static inline int spawn_notify(struct haul_carrier *c, struct haul_coro **out, haul_fn *fn,
	void *arg, const struct haul_coro_opts *opts)
{
	int err = spawn_fast(c, out, fn, arg, opts);

	if (hauli_likely(err == 0))
		hauli_steal_offer(c);
	return err;
}

static inline int spawn_from_here(
	struct haul_coro **co, haul_fn *fn, void *arg, const struct haul_coro_opts *opts)
{
	struct haul_carrier *c = hauli_here();

	if (hauli_likely(c->spawn.path == HAULI_PATH_FAST))
		return spawn_fast(c, co, fn, arg, opts);
	if (HAUL_STEALING && hauli_likely(c->spawn.notifies))
		return spawn_notify(c, co, fn, arg, opts);
	if (c == &hauli_nowhere)
		return -EPERM;
	return spawn_on(hauli_home_of_running(c), co, fn, arg, opts);
}

int hauli_spawn_next(
	struct haul_coro **co, haul_fn *fn, void *arg, const struct haul_coro_opts *opts)
{
	struct haul_carrier *c = hauli_here();
	int err;

	if (!hauli_spawn_may(opts))
		return -EINVAL;
	if (opts && opts->pinned)
		return spawn_from_here(co, fn, arg, opts);
	if (c->phase != HAULI_PHASE_RUNS)
		return -ECANCELED;
	err = spawn(c, co, fn, arg, opts, NEXT);
	if (err == 0)
		hauli_steal_offer_here(c);
	return err;
}

int hauli_spawn_own(haul_fn *fn, void *arg, const struct haul_coro_opts *opts)
{
	return spawn_from_here(NULL, fn, arg, opts);
}

static __attribute__((noinline)) int spawn_general(
	struct haul_coro **co, haul_fn *fn, void *arg, const struct haul_coro_opts *opts)
{
	if (hauli_unlikely(!fn))
		hauli_misuse("haul_spawn", "the function is NULL");
	if (hauli_unlikely(!hauli_spawn_may(opts)))
		return -EINVAL;
	return spawn_from_here(co, fn, arg, opts);
}

/* Without options and with an object and room at hand this calls nothing, so it saves no
 * register. */
int haul_spawn(struct haul_coro **out, haul_fn *fn, void *arg, const struct haul_coro_opts *opts)
{
	struct haul_carrier *c = hauli_here();
	struct haul_coro *co;

	if (opts || hauli_unlikely(!fn) || hauli_unlikely(c->spawn.path != HAULI_PATH_FAST) ||
		hauli_unlikely(!hauli_runq_has_room(&c->runq)))
		return spawn_general(out, fn, arg, opts);
	co = hauli_slab_try_get(&c->coros);
	if (hauli_unlikely(!co))
		return spawn_general(out, fn, arg, opts);
	hauli_coro_set_up(co, fn, arg, NULL, !out);
	co->record.start = c->spawn.start;
	hauli_ptr_published_set(&co->home, c);
	hauli_counter_add(&c->counts.spawned, 1);
	if (out)
		*out = co;
	hauli_runq_push_fast(&c->runq, hauli_entry_of(&co->record));
	return 0;
}

int haul_spawn_on(struct haul_carrier *carrier, struct haul_coro **co, haul_fn *fn, void *arg,
	const struct haul_coro_opts *opts)
{
	HAUL_MISUSE_IF(!carrier || !fn, "the carrier or the function is NULL");
	if (!hauli_spawn_may(opts))
		return -EINVAL;
	return spawn_on(carrier, co, fn, arg, opts);
}

int haul_spawn_any(struct haul_runtime *rt, struct haul_coro **co, haul_fn *fn, void *arg,
	const struct haul_coro_opts *opts)
{
	struct haul_carrier *c = hauli_here();

	HAUL_MISUSE_IF(!rt || !fn, "the runtime or the function is NULL");
	if (!hauli_spawn_may(opts))
		return -EINVAL;
	if (c->rt == rt) {
		if (hauli_likely(c->spawn.path == HAULI_PATH_FAST))
			return spawn_fast(c, co, fn, arg, opts);
		c = hauli_home_of_running(c);
	} else {
		c = hauli_placing_carrier(rt, opts);
	}
	return spawn_on(c, co, fn, arg, opts);
}
