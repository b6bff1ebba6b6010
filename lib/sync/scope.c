/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scopes. Children have the home of their scope's coroutine, and all that is done to a scope is
 * done there: a coroutine that was stolen goes home first, and a child ends at home. So a scope
 * needs no atomics.
 *
 * A child is in one of two lists until it ends: those that have been cancelled, or not. Cancelling
 * moves children from one to the other, 64 at a time, so that the carrier polls in between;
 * several coroutines may do so at once.
 */
#include <errno.h>
#include <stdlib.h>

#include <haul/scope.h>

#include "sched/block.h"
#include "sched/frame.h"
#include "sched/self.h"
#include "sched/spawn.h"
#include "sched/suspend.h"

#define CANCELLED_AT_ONCE 64

struct scope {
	struct hauli_frame frame;
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

static void *run(void *arg)
{
	struct child *child = arg;
	struct scope *s = child->scope;
	struct haul_coro *me = hauli_here()->current;
	int err;

	hauli_frame_inherit(me, &s->frame);
	err = child->fn(child->arg);
	hauli_go_on_at_home(hauli_here(), me);
	if (hauli_frame_of(me) != &s->frame)
		hauli_misuse("haul_scope_spawn", "the child has ended inside a block of its own");
	leave(child);
	free(child);
	if (err)
		fail(s, err);
	else
		s->succeeded = true;
	if (s->policy == (err ? HAUL_SCOPE_FAIL_FAST : HAUL_SCOPE_FIRST))
		cancel(me, s);
	hauli_frame_disown(me);
	if (--s->running == 0 && s->waits)
		hauli_block_serve_here(hauli_here(), s->waits->co, false);
	return NULL;
}

/* The scope of the running coroutine's call, at home. */
static struct scope *own(struct haul_scope *scope, const char *call)
{
	struct scope *s = (struct scope *)scope;
	struct haul_carrier *c = hauli_here();
	struct haul_coro *me = c->current;

	hauli_may_suspend(me, call);
	if (!s || s->frame.owner != me)
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
	*s = (struct scope){.policy = (uint8_t)policy, .frame.deadline = deadline};
	hauli_frame_enter(me, &s->frame, false);
}

int haul_scope_spawn(struct haul_scope *scope, int (*fn)(void *arg), void *arg,
	const struct haul_coro_opts *opts)
{
	struct scope *s = own(scope, __func__);
	struct child *child;
	int err;

	if (!fn)
		return -EINVAL;
	if (s->cancelled)
		return -ECANCELED;
	child = malloc(sizeof(*child));
	if (!child)
		return -ENOMEM;
	*child = (struct child){.scope = s, .fn = fn, .arg = arg};
	enter(&s->children, child);
	s->running++;
	err = hauli_spawn_next(&child->co, run, child, opts);
	if (err) {
		s->running--;
		leave(child);
		free(child);
		return err;
	}
	haul_detach(child->co);
	return 0;
}

/* Waits for the children; after the deadline or the caller's cancel, for the cancelled ones. */
static void wait(struct scope *s)
{
	struct haul_coro *me = s->frame.owner;
	bool patient = true;

	while (s->running > 0) {
		struct hauli_block b;
		enum hauli_block_end end;

		hauli_block_init(&b, me, HAUL_FOREVER, patient);
		b.what = hauli_block_children;
		b.object = s;
		s->waits = &b;
		end = hauli_block_wait(&b);
		hauli_go_on_at_home(hauli_here(), me);
		s->waits = NULL;
		if (end == HAULI_BLOCK_SERVED)
			continue;
		patient = false;
		fail(s, end == HAULI_BLOCK_EXPIRED ? -ETIMEDOUT : -ECANCELED);
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
	hauli_frame_leave(s->frame.owner, &s->frame, __func__);
}

void haul_scope_cancel(struct haul_scope *scope)
{
	struct scope *s = (struct scope *)scope;
	struct haul_carrier *c = hauli_here();
	struct haul_coro *me = c->current;
	struct hauli_frame *f;

	hauli_may_suspend(me, __func__);
	for (f = hauli_frame_of(me); f && f != &s->frame; f = f->outer)
		;
	HAUL_MISUSE_IF(!f, "the caller is not inside the scope");
	hauli_go_on_at_home(c, me);
	cancel(me, s);
}
