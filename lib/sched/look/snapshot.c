/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One thread at a time asks; it sends a signal to the thread of the carrier, whose handler takes
 * the shots and sets a completion. Meanwhile no coroutine at home there can run, except a stolen
 * one. The handler stays once it is installed, so a signal that comes late does no harm; signals
 * that are not ours are passed on to the handler that was installed before. Not SIGURG: the
 * programs of haul-app interrupt system calls by it.
 *
 * Which contexts may be unwound? The handler may have interrupted a switch. Each coroutine has a
 * complete saved context, except the one on whose stack the interrupted stack pointer lies: a
 * switch saves the context before it changes the stack pointer. That one is unwound from the
 * interrupted registers instead. A coroutine that has not begun, or has ended, has no stack.
 *	Where carriers steal, a thief may take a coroutine that is ready, at any time, and marks it
 *	    only later: so one that is ready is not unwound. Thieves do not take one that waits.
 *	A coroutine that freezes, or that is ready and may be thawing, is not unwound: its context
 *	    changes. One that is frozen has its call stack with it.
 *	If the handler has interrupted another handler on the alternate stack, it is not known which
 *	    coroutine has no complete context: none is unwound.
 *	ThreadSanitizer puts a handler off and calls it on the stack in use, with the registers of
 *	    earlier: so the coroutine on whose stack the handler itself lies has no complete context
 *	    either.
 */
#include "sched/look/snapshot.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>

#include "base/race.h"
#include "coro/frozen.h"
#include "coro/interrupted.h"
#include "coro/stack.h"
#include "coro/trace.h"
#include "sched/look/asked.h"
#include "sched/look/peek.h"
#include "sched/state/self.h"
#include "sched/wait/block.h"
#include "sched/wait/joined.h"

#define WAIT_NS HAUL_S

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* held by the thread that asks */
static struct sigaction before;
static bool is_ready; /* the handler is installed */
static struct hauli_asked asked;
static struct hauli_ptr_published of; /* the carrier */
static struct hauli_shot *shots;
static unsigned nb_shots;

/* A thief may run the coroutine of this stack and free the stack meanwhile; but then sp is not on
 * it. */
HAULI_MAY_RACE static bool is_on(const struct hauli_stack *stack, uintptr_t sp)
{
	HAULI_RACES(stack);
	return sp >= (uintptr_t)stack - stack->bytes && sp < (uintptr_t)stack;
}

/* True if a handler on the alternate stack has been interrupted. */
static bool is_nested(const ucontext_t *uc)
{
	uintptr_t lo = (uintptr_t)uc->uc_stack.ss_sp, sp = hauli_interrupted_sp(uc);

	return sp >= lo && sp < lo + uc->uc_stack.ss_size;
}

/* By a system call, because a faulty program may have freed the mutex. */
const void *hauli_snapshot_holder(const void *mutex)
{
	uint64_t word = 0;

	if (!hauli_peek(&word, mutex, sizeof(word)))
		return NULL;
	return (const void *)(uintptr_t)(word & ~HAULI_BLOCK_MUTEX_FLAGS);
}

HAULI_MAY_RACE static void see_wait(struct hauli_shot *s)
{
	const struct haul_coro *co = s->co;

	s->until = hauli_coro_state(co) & HAULI_CORO_ARMED ? co->timer.at : HAULI_NEVER;
	s->since = co->timer.since;
	switch (s->state) {
	case HAULI_CORO_BLOCKED: {
		const struct hauli_block *b = co->arg;

		s->what = b->what;
		s->object = b->object;
		if (b->what == hauli_block_mutex)
			s->holder = hauli_snapshot_holder(b->object);
		break;
	}
	case HAULI_CORO_JOINING:
		s->what = "the end of";
		s->object = co->arg ? ((const struct hauli_join *)co->arg)->target : NULL;
		break;
	default:
		break;
	}
}

HAULI_MAY_RACE static void take(
	const struct haul_carrier *c, struct hauli_shot *s, const ucontext_t *uc)
{
	const struct haul_coro *co = s->co ? s->co : c->current;
	const struct hauli_stack *stack;

	if (!co || hauli_coro_home(co) != c)
		return;
	s->state = hauli_coro_kind(co);
	stack = co->co.stack;
	if (!hauli_state_lives(s->state) || (!s->co && hauli_coro_is_poller(co)))
		return;
	s->co = co;
	s->taken = true;
	s->name = co->co.name;
	s->stolen = hauli_coro_is_stolen(co);
	if (s->stolen || !stack)
		return;
	s->begun = true;
	if (is_nested(uc))
		return;
	if (co == c->freezes)
		return;
	s->hibernates = hauli_frozen_of(&co->co) != NULL;
	if (s->hibernates && s->state == HAULI_CORO_READY)
		return; /* it may be thawing: then its context changes */
	s->runs = !s->hibernates &&
		(is_on(stack, hauli_interrupted_sp(uc)) ||
			is_on(stack, (uintptr_t)__builtin_frame_address(0)));
	if (s->runs) {
		s->n = hauli_trace_interrupted(uc, s->pcs, HAULI_SHOT_DEPTH);
	} else if (!hauli_steals(c) || s->state != HAULI_CORO_READY) {
		see_wait(s);
		s->n = hauli_co_trace(&co->co, s->pcs, HAULI_SHOT_DEPTH);
	}
}

static void pass_on(int sig, siginfo_t *info, void *uc)
{
	if (before.sa_flags & SA_SIGINFO)
		before.sa_sigaction(sig, info, uc);
	else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
		before.sa_handler(sig);
}

static void handle(int sig, siginfo_t *info, void *uc)
{
	const struct haul_carrier *c = hauli_self();
	int err = errno;

	if (!c || info->si_code != SI_TKILL || hauli_ptr_published_get(&of) != c ||
		!hauli_is_asked(&asked)) {
		pass_on(sig, info, uc);
	} else {
		for (unsigned i = 0; i < nb_shots; i++)
			take(c, &shots[i], uc);
		hauli_ask_answered(&asked);
	}
	errno = err;
}

static void install(void)
{
	struct sigaction sa = {
		.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};

	hauli_trace_init();
	sigemptyset(&sa.sa_mask);
	sigaction(HAULI_SNAPSHOT_SIGNAL, NULL, &before);
	sigaction(HAULI_SNAPSHOT_SIGNAL, &sa, NULL);
	is_ready = true;
}

bool hauli_snapshot(const struct haul_carrier *c, struct hauli_shot *s, unsigned n)
{
	pid_t tid = (pid_t)hauli_u32_published_get(&c->run.tid);
	bool answered;

	if (tid == 0)
		return false;
	pthread_mutex_lock(&lock);
	if (!is_ready)
		install();
	hauli_ptr_published_set(&of, (void *)c);
	shots = s;
	nb_shots = n;
	answered = hauli_ask(&asked, tid, HAULI_SNAPSHOT_SIGNAL, WAIT_NS);
	pthread_mutex_unlock(&lock);
	return answered;
}
