/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Spawning: on the running carrier without any atomic; on another one by a message. The coroutine
 * is queued as a record (entry.h), without a stack; a poller, which is not queued, has one from the
 * start.
 *
 * Where a spawn goes:
 *
 *	caller                                  route
 *	a coroutine at home, no options,        haul_spawn() itself
 *	    no thieves, the ring has room
 *	any coroutine at home                   spawn_local(): hauli_carrier_spawn.path is FAST
 *	the same, and thieves may come          the same, and an offer: path is NOTIFY
 *	the loop, a poller, during a stop       spawn_here()
 *	a stolen coroutine, another carrier,    hauli_spawn_by_mail()
 *	    a thread that is no carrier
 *
 * By the first route a detached coroutine is a call (entry.h): it has no struct haul_coro until it
 * begins.
 */
#include "sched/spawn/spawn.h"

#include <errno.h>

#include "base/assert.h"
#include "sched/mail/spawn_remote.h"
#include "sched/place/placing.h"
#include "sched/spawn/life.h"
#include "sched/state/group.h"
#include "sched/state/ready.h"
#include "sched/state/runtime.h"
#include "sched/state/self.h"
#include "sched/steal/stolen.h"

/* Marks a pinned coroutine, where carriers steal: its pushes are counted separately
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
	co->record.prototype = &hauli_life_prototypes[cls];
	if (co->pinned)
		keep(rt, co);
}

int hauli_spawn_stack_class(const struct haul_runtime *rt, const struct haul_coro_opts *opts)
{
	if (hauli_likely(!opts || opts->stack_size == 0))
		return (int)rt->default_class;
	return hauli_stack_class(opts->stack_size);
}

/* Gives co, which is set up, its home c, and returns the entry that is to be queued. */
static inline struct hauli_entry *give_home(struct haul_carrier *c, struct haul_coro *co,
	const struct hauli_prototype *prototype, struct haul_coro **out)
{
	co->record.prototype = prototype;
	hauli_ptr_published_set(&co->home, c);
	hauli_counter_add(&c->counts.spawned, 1);
	if (out)
		*out = co;
	return hauli_entry_of(&co->record);
}

/* How a spawn queues its coroutine. */
enum turn {
	LAST,
	PINNED, /* at the end, and thieves do not take it */
	NEXT, /* in the LIFO slot */
};

static inline __attribute__((always_inline)) int spawn(struct haul_carrier *c,
	struct haul_coro **out, haul_fn *fn, void *arg, const struct haul_coro_opts *opts,
	enum turn turn)
{
	const struct hauli_prototype *prototype = c->spawn.prototype;
	struct hauli_entry *entry;
	struct haul_coro *co;

	if (opts && opts->stack_size) {
		int cls = hauli_stack_class(opts->stack_size);

		if (cls < 0)
			return cls;
		prototype = &hauli_life_prototypes[cls];
	}
	co = hauli_slab_get(&c->coros);
	if (hauli_unlikely(!co))
		return -ENOMEM;
	hauli_coro_set_up(co, fn, arg, opts, !out);
	entry = give_home(c, co, prototype, out);
	if (turn == PINNED) {
		keep(c->rt, co);
		hauli_queue_new(c, co);
	} else if (turn == NEXT) {
		hauli_runq_push_lifo(&c->runq, entry);
	} else {
		hauli_runq_push(&c->runq, entry);
	}
	return 0;
}

static __attribute__((noinline)) int spawn_pinned(struct haul_carrier *c, struct haul_coro **out,
	haul_fn *fn, void *arg, const struct haul_coro_opts *opts)
{
	return spawn(c, out, fn, arg, opts, PINNED);
}

static inline int spawn_local(struct haul_carrier *c, struct haul_coro **out, haul_fn *fn,
	void *arg, const struct haul_coro_opts *opts)
{
	if (opts && hauli_unlikely(opts->pinned))
		return spawn_pinned(c, out, fn, arg, opts);
	return spawn(c, out, fn, arg, opts, LAST);
}

static int spawn_here(struct haul_carrier *c, struct haul_coro **out, haul_fn *fn, void *arg,
	const struct haul_coro_opts *opts)
{
	int err;

	if (c->phase != HAULI_PHASE_RUNS)
		return -ECANCELED;
	err = spawn_local(c, out, fn, arg, opts);
	if (err == 0)
		hauli_steal_offer_here(c);
	return err;
}

/* Pollers are not queued, so they have a stack from the start, even where coroutines have used up
 * the memory: one of them ends the handlers. False: no memory. */
static bool make_poller(struct haul_runtime *rt, struct haul_coro *co, unsigned cls)
{
	struct hauli_stack *stack = hauli_stack_get_shared(rt->stacks, cls);

	if (!stack)
		return false;
	hauli_coro_prepare(co, stack, hauli_life_prototypes[cls].entry);
	co->traits |= HAULI_TRAIT_POLLER;
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

static inline int spawn_from_here(
	struct haul_coro **co, haul_fn *fn, void *arg, const struct haul_coro_opts *opts)
{
	struct haul_carrier *c = hauli_here();

	if (hauli_likely(c->spawn.path == HAULI_PATH_FAST))
		return spawn_local(c, co, fn, arg, opts);
	if (HAUL_STEALING && hauli_likely(c->spawn.notifies)) {
		int err = spawn_local(c, co, fn, arg, opts);

		if (hauli_likely(err == 0)) /* the caller may run for long */
			hauli_steal_offer(c);
		return err;
	}
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

/* Queues a call, at the tail of the ring. */
static inline void push_call(struct haul_carrier *c, uint32_t tail, haul_fn *fn, void *arg)
{
	struct hauli_call *call = &c->runq.calls[tail % HAULI_RING_SIZE];

	call->fn = fn;
	call->arg = arg;
	hauli_counter_add(&c->counts.spawned, 1);
	hauli_ring_push_at(&c->runq.ring, tail, hauli_entry_of(&call->record));
}

/* Without options, if there is room, this calls no function, so it saves no registers. */
int haul_spawn(struct haul_coro **out, haul_fn *fn, void *arg, const struct haul_coro_opts *opts)
{
	struct haul_carrier *c = hauli_here();
	struct haul_coro *co;
	uint32_t tail;

	if (opts || hauli_unlikely(!fn) || hauli_unlikely(!hauli_runq_has_room(&c->runq, &tail)))
		return spawn_general(out, fn, arg, opts);
	if (!out) {
		push_call(c, tail, fn, arg);
		return 0;
	}
	co = c->spawn.as_new;
	if (hauli_likely(co != NULL)) {
		c->spawn.as_new = NULL;
		hauli_coro_set_word(co, HAULI_CORO_FRESH(false));
		co->fn = fn;
		co->arg = arg;
	} else {
		co = hauli_slab_try_get(&c->coros);
		if (hauli_unlikely(!co))
			return spawn_general(out, fn, arg, opts);
		hauli_coro_set_up(co, fn, arg, NULL, false);
	}
	*out = co;
	hauli_ring_push_at(&c->runq.ring, tail, give_home(c, co, c->spawn.prototype, NULL));
	return 0;
}

int haul_spawn_on(struct haul_carrier *carrier, struct haul_coro **co, haul_fn *fn, void *arg,
	const struct haul_coro_opts *opts)
{
	HAUL_MISUSE_IF(!carrier, HAULI_NO_CARRIER);
	HAUL_MISUSE_IF(!fn, "the function is NULL");
	if (!hauli_spawn_may(opts))
		return -EINVAL;
	return spawn_on(carrier, co, fn, arg, opts);
}

int haul_spawn_any(struct haul_runtime *rt, struct haul_coro **co, haul_fn *fn, void *arg,
	const struct haul_coro_opts *opts)
{
	HAUL_MISUSE_IF(!rt || !fn, "the runtime or the function is NULL");
	if (!hauli_spawn_may(opts))
		return -EINVAL;
	if (hauli_here()->rt == rt)
		return spawn_from_here(co, fn, arg, opts);
	return spawn_on(hauli_placing_carrier(rt, opts), co, fn, arg, opts);
}
