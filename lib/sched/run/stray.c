/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Promise: a coroutine that its carrier leaves behind is like one that was stolen at the begin of
 * this slice (steal/stolen.c): its thread stands for a thief, and what the coroutine asks for is
 * done by its home. So every call of the library does for it what it does for a stolen one; only
 * what belongs to the carrier that runs it, its number and its locals, brings it home first.
 *
 * When may it be left behind? The signal may interrupt the thread anywhere, and nothing in haul
 * expects that its carrier is another's from one instruction to the next. So the handler unwinds
 * the call stack: the innermost frames must be the program's, also libraries it calls; then comes
 * one of a function that calls nothing outside of haul but the program (HAULI_CALLS_PROGRAM), and
 * then those in which the coroutine has begun. A frame of haul between frames of the program would
 * be a call of the library, which may hold what belongs to the carrier.
 *
 *	a burst handler, a poller, a block of HAUL_NO_SUSPEND()   has its carrier for itself
 *	a pinned coroutine                                        the same, in each slice
 *	a slice that has asked for a local                        may use the value until it ends
 *	the call stack cannot be unwound, or is too deep          refused
 *	between two instructions of an inlined call               is_inlined()
 *
 * Hand-over. The thread waits in the handler from its answer until the other thread, which owns the
 * carrier from the answer on, has marked the coroutine. So in each step of it one thread acts:
 *
 *	the asking thread           the carrier's thread
 *	asked: given; signal
 *	                            asked: taken. here = the stand-in
 *	                            answered: set
 *	owns the carrier; marks
 *	taken: set
 *	                            the coroutine goes on
 *
 *	What the asking thread has prepared is seen in the handler (word.E3); the carrier's data
 *	    before the answer, behind it (completion.E1); and the coroutine's new flags and rank by
 *	    its thread behind `taken`, likewise.
 *	A thread that gives up takes `asked` itself: the handler, late, finds nothing asked. If the
 *	    handler was first, the thread waits for the answer, which may be a carrier.
 *	`taken` is that of the thread which waits, and it remembers which: when it sees it set, the
 *	    carrier's next server may have put its own in the question.
 *	A signal that comes late may reach a thread that serves the carrier no more, which has
 *	    another carrier or none; or it brings an answer to a later question, which is as good.
 *
 * ThreadSanitizer calls handlers later than the signal, where the interrupted registers are of no
 * use: with it nothing is left behind.
 *
 * Models: tests/model/rescue.c, rescue_asks.c. Tests: tests/unit/rescue.c, and stress tests with
 * HAUL_RESCUE.
 */
#include "sched/run/stray.h"

#include <errno.h>
#include <signal.h>

#include "base/clock.h"
#include "coro/interrupted.h"
#include "coro/own.h"
#include "coro/trace.h"
#include "sched/look/snapshot.h"
#include "sched/run/split.h"
#include "sched/state/runtime.h"
#include "sched/state/self.h"
#include "sched/state/traced.h"
#include "sched/steal/steal.h"
#include "sched/steal/stolen.h"
#include "sched/wait/order.h"
#include "sched/wait/suspend.h"

#define LEFT_WITH (HAULI_FLAG_STOLEN | HAULI_FLAG_CANCELLED | HAULI_FLAG_BOUNDED)
#define WAIT_NS (2 * HAUL_MS) /* for a thread that has no CPU, or serves the carrier no more */

/*
 * True if the program knows its carrier, and does not know its coroutine yet: between two
 * instructions of haul_inline_self_(), which is compiled into it. The first of them is mov
 * %fs:(reg), reg, of four bytes, or five for some registers. What else looks so is refused, too.
 */
static bool is_inlined(const uint8_t *pc)
{
#if defined(__x86_64__)
	if (((uintptr_t)pc & 4095) < 5) /* there may be nothing before this page */
		return true;
	for (int n = 4; n <= 5; n++)
		if (pc[-n] == 0x64 && (pc[1 - n] & 0xf8) == 0x48 && pc[2 - n] == 0x8b)
			return true;
#endif
	return false;
}

/* True if the program has been interrupted, and no call of haul is under way. */
static bool is_program(const ucontext_t *uc, struct hauli_stray_ask *ask)
{
	void *const *pcs = ask->pcs;
	unsigned n, i = 0;

	if (HAULI_TSAN || hauli_own_has((void *)hauli_interrupted_pc(uc)))
		return false;
	n = hauli_trace_interrupted(uc, ask->pcs, HAULI_STRAY_DEPTH);
	ask->nb_pcs = n;
	while (i < n && !hauli_own_has(pcs[i]))
		i++;
	if (i == n || !hauli_own_calls_program(pcs[i]))
		return false;
	while (i + 1 < n && hauli_own_has(pcs[i]))
		i++;
	return i > 0 && i + 1 == n && hauli_trace_is_start(pcs[i]) && !is_inlined(pcs[0]);
}

/* The thread goes on as the stand-in, which is in the place of c. */
static void stand_in(struct haul_carrier *c, struct haul_carrier *s, struct haul_coro *co)
{
	s->cluster = c->cluster;
	s->cluster_idx = c->cluster_idx;
	s->place = c->place;
	s->steal.group = c->steal.group;
	s->steal.group_idx = c->steal.group_idx;
	s->current = co;
	hauli_self_set(s);
}

static void answer(struct haul_carrier *c, struct hauli_stray_ask *ask, const ucontext_t *uc)
{
	struct haul_coro *co = c->current;
	struct hauli_completion *taken = ask->taken; /* the next server sets its own */
	bool leaves = ask->popped == hauli_ring_popped(&c->runq.ring) &&
		hauli_may_split(c, co, LEFT_WITH) && is_program(uc, ask);

	if (!leaves) {
		hauli_ask_answered(&ask->asked);
		return;
	}
	hauli_completion_init(taken);
	ask->co = co;
	stand_in(c, ask->stand_in, co);
	hauli_ask_answered(&ask->asked);
	hauli_completion_wait(taken);
}

static void handle(int sig, siginfo_t *info, void *uc)
{
	struct haul_carrier *c = hauli_self();
	int err = errno;

	if (c && c->stray_ask && info->si_code == SI_TKILL && hauli_is_asked(&c->stray_ask->asked))
		answer(c, c->stray_ask, uc);
	errno = err;
}

int hauli_stray_init(void)
{
	struct sigaction sa = {
		.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};

	if (!hauli_own_init())
		return -ENOMEM;
	hauli_trace_init();
	sigemptyset(&sa.sa_mask);
	sigaction(HAULI_STRAY_SIGNAL, &sa, NULL);
	return 0;
}

bool hauli_stray_ask(struct haul_carrier *c, struct hauli_stray_ask *ask)
{
	pid_t tid = (pid_t)hauli_u32_published_get(&c->run.tid);

	ask->co = NULL;
	return hauli_ask(&ask->asked, tid, HAULI_STRAY_SIGNAL, WAIT_NS) && ask->co;
}

/* What run_batch() and run_ready() (round.c) do behind a batch, but for what they learn of it. */
static void end_batch(struct haul_carrier *c)
{
	hauli_traced_loop(c);
	c->wait.path = HAULI_PATH_SLOW;
	hauli_runq_close(&c->runq);
	hauli_steal_batch_ended(c);
	if (c->run.batch_works && hauli_stopwatch_runs(&c->counts.work))
		hauli_stopwatch_stop(&c->counts.work, hauli_ticks());
}

void hauli_stray_taken(struct haul_carrier *c, struct hauli_stray_ask *ask)
{
	struct haul_coro *co = ask->co;

	c->current = NULL;
	end_batch(c);
	if (!hauli_coro_is_stolen(co))
		hauli_order_leave_behind(c, co);
	hauli_stolen_mark(co);
	hauli_completion_set(ask->taken);
}

void hauli_stray_ended(struct haul_carrier *stand_in)
{
	hauli_arrive(stand_in);
	hauli_self_set(NULL);
}
