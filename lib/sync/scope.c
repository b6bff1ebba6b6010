/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scopes. Children have the home of their scope's coroutine, and all that is done to a scope is
 * done there: a coroutine that was stolen goes home first, and a child ends at home. So a scope
 * needs no atomics.
 *
 * A child is in one of two lists until it ends: those that have been cancelled, or not. Cancelling
 * moves children from one to the other, 64 at a time, so that the carrier polls in between;
 * several coroutines may do so at once.
 *
 * A child on another carrier is two coroutines: the worker there, which runs the child's function,
 * and a stand-in at the scope's home, which is the child as far as the scope knows. The stand-in
 * waits for news of the worker, passes a cancel of its own on to it, joins it, and ends with its
 * result. So lists, count and error stay plain fields of one thread. What two carriers share:
 *
 *	extents	    The worker reads those of the scope and around it (deadlines, values). They were
 *		    written before its spawn, and stay until the scope is left, which waits for the
 *		    stand-in, and that for the worker's end.
 *	remote.said The worker adds a bit, and then sets the event; the stand-in resets the event,
 *		    and then reads the bits, so it misses none.
 *	the worker  The stand-in cancels and joins it; nobody else has its handle, and it is joined
 *		    once, so it is valid until then.
 *
 * A cancel of the scope by a worker, or by what it has spawned, is a bit for the stand-in. Nothing
 * is lost if the stand-in is cancelled already: then it passes that cancel on to the worker, and
 * the scope cancels its children, or the runtime is being stopped.
 */
#include <errno.h>
#include <stdlib.h>

#include <haul/scope.h>
#include <haul/sync.h>

#include "base/assert.h"
#include "coro/own.h"
#include "sched/spawn/spawn.h"
#include "sched/state/self.h"
#include "sched/wait/block.h"
#include "sched/wait/extent.h"
#include "sched/wait/suspend.h"

#define CANCELLED_AT_ONCE 64

struct scope {
	struct hauli_extent extent;
	struct child *children, *cancelled_ones; /* the first of each list */
	uint64_t running;
	struct hauli_block *waits; /* of the owner, or NULL */
	int error;
	uint8_t policy; /* enum haul_scope_policy */
	bool cancelled, succeeded;
} __attribute__((may_alias)); /* lies in the public struct */

_Static_assert(sizeof(struct scope) <= sizeof(struct haul_scope), "what haul/scope.h reserves");

/* A child that has not ended; on the heap. */
struct child {
	struct child *next, **link; /* link: the pointer to this child */
	struct scope *scope;
	struct haul_coro *co;
	int (*fn)(void *arg);
	void *arg;
};

static void enter(struct child **list, struct child *child)
{
	child->next = *list;
	if (child->next)
		child->next->link = &child->next;
	child->link = list;
	*list = child;
}

static void leave(struct child *child)
{
	*child->link = child->next;
	if (child->next)
		child->next->link = child->link;
}

static void fail(struct scope *s, int error)
{
	if (s->error == 0)
		s->error = error;
}

/* By the running coroutine me, at home. */
static void cancel(struct haul_coro *me, struct scope *s)
{
	s->cancelled = true;
	for (unsigned n = 1; s->children; n++) {
		struct child *child = s->children;

		leave(child);
		enter(&s->cancelled_ones, child);
		haul_cancel(child->co);
		if (n % CANCELLED_AT_ONCE == 0 && s->children) {
			haul_yield();
			hauli_go_on_at_home(hauli_here(), me);
		}
	}
}

/* By the child me, at home. */
static inline void has_ended(struct haul_coro *me, struct child *child, int err)
{
	struct scope *s = child->scope;

	leave(child);
	free(child);
	if (err)
		fail(s, err);
	else
		s->succeeded = true;
	if (s->policy == (err ? HAUL_SCOPE_FAIL_FAST : HAUL_SCOPE_FIRST))
		cancel(me, s);
	hauli_extent_disown(me);
	if (--s->running == 0 && s->waits)
		hauli_block_serve_here(hauli_here(), s->waits->co, false);
}

#define IN_A_BLOCK "the child has ended inside a block of its own"

static HAULI_CALLS_PROGRAM int call(int (*fn)(void *arg), void *arg)
{
	int err = fn(arg);

	__asm__ volatile("" : "+r"(err)); /* no tail call: the frame has to be there */
	return err;
}

static void *run(void *arg)
{
	struct child *child = arg;
	struct haul_coro *me = hauli_here()->current;
	int err;

	hauli_extent_inherit(me, &child->scope->extent);
	err = call(child->fn, child->arg);
	hauli_go_on_at_home(hauli_here(), me);
	if (hauli_extent_of(me) != &child->scope->extent)
		hauli_misuse("haul_scope_spawn", IN_A_BLOCK);
	has_ended(me, child, err);
	return NULL;
}

/* What a worker says. */
#define SAYS_ENDED 1
#define SAYS_CANCEL 2

/* A child on another carrier; on the heap. */
struct remote {
	struct hauli_extent extent; /* the worker's, around all of its own: binds this */
	struct scope *scope;
	struct haul_coro *worker;
	int (*fn)(void *arg);
	void *arg;
	struct haul_event news;
	struct hauli_u8_shared said;
};

static const char remote_key; /* of a value: a struct remote */

static void say(struct remote *r, uint8_t what)
{
	hauli_u8_shared_set_bits(&r->said, what);
	haul_event_set(&r->news);
}

/* The worker. */
static void *work(void *arg)
{
	struct remote *r = arg;
	struct haul_coro *me = hauli_here()->current;
	intptr_t err;

	hauli_extent_inherit(me, &r->scope->extent);
	hauli_go_on_at_home(hauli_here(), me);
	hauli_extent_enter(me, &r->extent, false);
	err = call(r->fn, r->arg);
	hauli_go_on_at_home(hauli_here(), me);
	if (hauli_extent_of(me) != &r->extent)
		hauli_misuse("haul_scope_spawn_on", IN_A_BLOCK);
	hauli_extent_leave(me, &r->extent, "haul_scope_spawn_on");
	hauli_extent_disown(me);
	say(r, SAYS_ENDED);
	return (void *)err;
}

/* Waits until the worker ends, without deadlines; cancels it if the caller, its stand-in, is
 * cancelled. */
static int result_of_worker(struct haul_coro *me, struct remote *r)
{
	void *result = NULL;
	uint8_t said = 0;
	int err;

	while (!(said & SAYS_ENDED)) {
		err = haul_event_wait(&r->news, HAUL_FOREVER);
		if (err) {
			haul_cancel(r->worker);
			break;
		}
		haul_event_reset(&r->news);
		said = hauli_u8_shared_get(&r->said);
		if (said & SAYS_CANCEL)
			cancel(me, r->scope);
	}
	haul_join(r->worker, &result, HAUL_FOREVER);
	return (int)(intptr_t)result;
}

static void *stand_in(void *arg)
{
	struct child *child = arg;
	struct haul_coro *me = hauli_here()->current;
	int err = result_of_worker(me, child->arg);

	free(child->arg);
	has_ended(me, child, err);
	return NULL;
}

/* The scope of the running coroutine's call, at home. */
static struct scope *own(struct haul_scope *scope, const char *call)
{
	struct scope *s = (struct scope *)scope;
	struct haul_carrier *c = hauli_here();
	struct haul_coro *me = c->current;

	hauli_may_suspend(me, call);
	if (!s || s->extent.owner != me)
		hauli_misuse(call,
			"the scope is not one that the caller has declared with "
			"HAUL_SCOPE(), and not left yet");
	hauli_go_on_at_home(c, me);
	return s;
}

void haul_scope_open(struct haul_scope *scope, uint64_t deadline, enum haul_scope_policy policy)
{
	struct scope *s = (struct scope *)scope;
	struct haul_carrier *c = hauli_here();
	struct haul_coro *me = c->current;

	HAUL_MISUSE_IF(!s || policy > HAUL_SCOPE_FIRST, "no such policy, or the scope is NULL");
	hauli_may_suspend(me, __func__);
	hauli_go_on_at_home(c, me);
	*s = (struct scope){.policy = (uint8_t)policy, .extent.deadline = deadline};
	hauli_extent_enter(me, &s->extent, false);
}

static inline int spawn(struct scope *s, haul_fn *body, int (*fn)(void *arg), void *arg,
	const struct haul_coro_opts *opts)
{
	struct child *child = malloc(sizeof(*child));
	int err;

	if (!child)
		return -ENOMEM;
	*child = (struct child){.scope = s, .fn = fn, .arg = arg};
	enter(&s->children, child);
	s->running++;
	err = hauli_spawn_next(&child->co, body, child, opts);
	if (err) {
		s->running--;
		leave(child);
		free(child);
		return err;
	}
	haul_detach(child->co);
	return 0;
}

int haul_scope_spawn(struct haul_scope *scope, int (*fn)(void *arg), void *arg,
	const struct haul_coro_opts *opts)
{
	struct scope *s = own(scope, __func__);

	HAUL_MISUSE_IF(!fn, "the function is NULL");
	if (s->cancelled)
		return -ECANCELED;
	return spawn(s, run, fn, arg, opts);
}

/* Spawns the worker, and then its stand-in, which finds it. */
static int spawn_remote(struct scope *s, struct haul_carrier *carrier, struct remote *r,
	const struct haul_coro_opts *opts)
{
	const struct haul_coro_opts pinned = {.name = "stand-in", .pinned = true};
	int err = haul_spawn_on(carrier, &r->worker, work, r, opts);

	if (err)
		return err;
	err = spawn(s, stand_in, NULL, r, &pinned);
	if (err) {
		haul_cancel(r->worker);
		haul_join(r->worker, NULL, HAUL_FOREVER);
	}
	return err;
}

int haul_scope_spawn_on(struct haul_scope *scope, struct haul_carrier *carrier,
	int (*fn)(void *arg), void *arg, const struct haul_coro_opts *opts)
{
	struct scope *s = own(scope, __func__);
	struct remote *r;
	int err;

	HAUL_MISUSE_IF(!carrier, HAULI_NO_CARRIER);
	HAUL_MISUSE_IF(!fn, "the function is NULL");
	if (s->cancelled)
		return -ECANCELED;
	if (carrier == hauli_here())
		return spawn(s, run, fn, arg, opts);
	r = malloc(sizeof(*r));
	if (!r)
		return -ENOMEM;
	*r = (struct remote){.scope = s, .fn = fn, .arg = arg};
	r->extent = (struct hauli_extent){.deadline = HAUL_FOREVER, .key = &remote_key, .value = r};
	err = spawn_remote(s, carrier, r, opts);
	if (err)
		free(r);
	return err;
}

/* Waits for the children; after the deadline or the caller's cancel, for the cancelled ones. */
static void wait(struct scope *s)
{
	struct haul_coro *me = s->extent.owner;
	bool patient = true;

	while (s->running > 0) {
		struct hauli_block b;
		int err;

		hauli_block_init(&b, me, HAUL_FOREVER, patient);
		b.what = hauli_block_children;
		b.object = s;
		s->waits = &b;
		err = hauli_block_wait(&b);
		hauli_go_on_at_home(hauli_here(), me);
		s->waits = NULL;
		if (err == 0)
			continue;
		patient = false;
		fail(s, err);
		cancel(me, s);
	}
}

int haul_scope_join(struct haul_scope *scope)
{
	struct scope *s = own(scope, __func__);

	wait(s);
	return s->policy == HAUL_SCOPE_FIRST && s->succeeded ? 0 : s->error;
}

void haul_scope_close(struct haul_scope *scope)
{
	struct scope *s = own(scope, __func__);

	wait(s);
	hauli_extent_leave(s->extent.owner, &s->extent, __func__);
}

/* The remote child of s that me is, or that has spawned me. */
static struct remote *remote_of(struct haul_coro *me, const struct scope *s)
{
	struct hauli_extent *f = hauli_extent_of(me);

	while (f->key != &remote_key || ((struct remote *)f->value)->scope != s)
		f = f->outer;
	return f->value;
}

void haul_scope_cancel(struct haul_scope *scope)
{
	struct scope *s = (struct scope *)scope;
	struct haul_carrier *c = hauli_here();
	struct haul_coro *me = c->current;
	struct hauli_extent *f;

	hauli_may_suspend(me, __func__);
	for (f = hauli_extent_of(me); f && f != &s->extent; f = f->outer)
		;
	HAUL_MISUSE_IF(!f, "the caller is not inside the scope");
	if (hauli_coro_home(s->extent.owner) != hauli_coro_home(me)) {
		say(remote_of(me, s), SAYS_CANCEL);
		return;
	}
	hauli_go_on_at_home(c, me);
	cancel(me, s);
}
