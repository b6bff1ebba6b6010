/* SPDX-License-Identifier: BSD-3-Clause */
/* Spawning: on the running carrier without any atomic; on another one by a message. */
#include "sched/spawn.h"

#include <errno.h>

#include "sched/end.h"
#include "sched/group.h"
#include "sched/placing.h"
#include "sched/runtime.h"
#include "sched/self.h"
#include "sched/spawn_remote.h"
#include "sched/stolen.h"
#include "sched/suspend.h"

static void body(void *pass)
{
	struct haul_carrier *c = pass;
	struct haul_coro *me = c->current;

	hauli_co_arrived(&me->co);
	hauli_arrive(c);
	me->arg = me->fn(me->arg);
	c = hauli_here();
	hauli_coro_exit(c, me);
	c->left = me;
	hauli_co_end(&me->co, hauli_next(c), c);
}

_Static_assert(HAUL_STACK_MAX == HAULI_STACK_USABLE(HAULI_STACK_CLASSES - 1), "the largest class");

/* For a pinned coroutine: where carriers steal, its pushes are counted separately
 * (HAULI_FLAG_KEPT). */
static void keep(const struct haul_runtime *rt, struct haul_coro *co)
{
	if (rt->groups)
		hauli_u8_shared_init(&co->flags, HAULI_FLAG_KEPT);
}

void hauli_spawn_set_up(struct haul_runtime *rt, struct haul_coro *co, haul_fn *fn, void *arg,
	const struct haul_coro_opts *opts, bool detached)
{
	hauli_coro_set_up(co, body, fn, arg, opts, detached);
	if (co->pinned)
		keep(rt, co);
}

int hauli_spawn_stack_class(const struct haul_runtime *rt, const struct haul_coro_opts *opts)
{
	if (hauli_likely(!opts || opts->stack_size == 0))
		return (int)rt->default_class;
	return hauli_stack_class(opts->stack_size);
}

static inline __attribute__((always_inline)) int spawn(struct haul_carrier *c,
	struct haul_coro **out, haul_fn *fn, void *arg, const struct haul_coro_opts *opts,
	bool pinned)
{
	int cls = hauli_spawn_stack_class(c->rt, opts);
	struct haul_coro *co;

	if (hauli_unlikely(cls < 0))
		return cls;
	co = (struct haul_coro *)hauli_stack_get(&c->stacks, (unsigned)cls);
	if (hauli_unlikely(!co))
		return -ENOMEM;
	hauli_coro_set_up(co, body, fn, arg, opts, !out);
	if (pinned)
		keep(c->rt, co);
	hauli_ptr_published_set(&co->home, c);
	hauli_counter_add(&c->spawned, 1);
	if (out)
		*out = co;
	if (pinned)
		hauli_queue(c, co);
	else
		hauli_runq_push(&c->runq, co);
	return 0;
}

static __attribute__((noinline)) int spawn_pinned(struct haul_carrier *c, struct haul_coro **out,
	haul_fn *fn, void *arg, const struct haul_coro_opts *opts)
{
	return spawn(c, out, fn, arg, opts, true);
}

static inline int spawn_fast(struct haul_carrier *c, struct haul_coro **out, haul_fn *fn, void *arg,
	const struct haul_coro_opts *opts)
{
	if (opts && hauli_unlikely(opts->pinned))
		return spawn_pinned(c, out, fn, arg, opts);
	return spawn(c, out, fn, arg, opts, false);
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
	if (hauli_likely(c->spawn_path == HAULI_PATH_FAST))
		return spawn_fast(c, out, fn, arg, opts);
	return spawn_slow(c, out, fn, arg, opts);
}

/* Inside the gate. Called on self's thread. */
static int spawn_inside(struct haul_carrier *self, const struct hauli_spawn *how, unsigned cls)
{
	struct haul_carrier *c = how->carrier;
	struct haul_coro *co;

	if (self->rt == c->rt)
		co = (struct haul_coro *)hauli_stack_get(&self->stacks, cls);
	else
		co = (struct haul_coro *)hauli_stack_get_shared(c->rt->stacks, cls);
	if (!co)
		return -ENOMEM;
	hauli_spawn_set_up(c->rt, co, how->fn, how->arg, how->opts, !how->out);
	co->poller = how->poller;
	if (how->poller)
		hauli_u8_shared_init(&co->flags, HAULI_FLAG_POLLER);
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

	if (hauli_likely(c->spawn_path == HAULI_PATH_FAST))
		return spawn_fast(c, co, fn, arg, opts);
	if (HAUL_STEALING && hauli_likely(c->notifies))
		return spawn_notify(c, co, fn, arg, opts);
	if (c == &hauli_nowhere)
		return -EPERM;
	return spawn_on(hauli_home_of_running(c), co, fn, arg, opts);
}

int hauli_spawn_own(haul_fn *fn, void *arg, const struct haul_coro_opts *opts)
{
	return spawn_from_here(NULL, fn, arg, opts);
}

int haul_spawn(struct haul_coro **co, haul_fn *fn, void *arg, const struct haul_coro_opts *opts)
{
	if (hauli_unlikely(!hauli_spawn_may(fn, opts)))
		return -EINVAL;
	return spawn_from_here(co, fn, arg, opts);
}

int haul_spawn_on(struct haul_carrier *carrier, struct haul_coro **co, haul_fn *fn, void *arg,
	const struct haul_coro_opts *opts)
{
	if (!carrier || !hauli_spawn_may(fn, opts))
		return -EINVAL;
	return spawn_on(carrier, co, fn, arg, opts);
}

int haul_spawn_any(struct haul_runtime *rt, struct haul_coro **co, haul_fn *fn, void *arg,
	const struct haul_coro_opts *opts)
{
	struct haul_carrier *c = hauli_here();

	if (!rt || !hauli_spawn_may(fn, opts))
		return -EINVAL;
	if (c->rt == rt) {
		if (hauli_likely(c->spawn_path == HAULI_PATH_FAST))
			return spawn_fast(c, co, fn, arg, opts);
		c = hauli_home_of_running(c);
	} else {
		c = hauli_placing_carrier(rt, opts);
	}
	return spawn_on(c, co, fn, arg, opts);
}
