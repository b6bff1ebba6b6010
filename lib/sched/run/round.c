/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The carrier's round.
 *
 * Within a batch coroutines switch to each other directly; between batches the loop reads the clock
 * and the inbox. It resumes the poller once per round. The number of slices per round follows the
 * mean length of a slice, so that the time between two polls stays near its target. This budget at
 * most doubles from round to round, and drops at once when slices get longer.
 *
 * There are two instances of the round. Whether the carrier steals is a constant in each, so a
 * carrier that does not steal executes no code for stealing.
 */
#include "sched/run/round.h"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "coro/overflow.h"
#include "sched/look/quiet.h"
#include "sched/mail/mail.h"
#include "sched/place/cluster.h"
#include "sched/run/hibernate.h"
#include "sched/run/rescue.h"
#include "sched/run/stop.h"
#include "sched/spawn/spawn_records.h"
#include "sched/state/exceptions.h"
#include "sched/state/ready.h"
#include "sched/state/self.h"
#include "sched/state/traced.h"
#include "sched/steal/sleep.h"
#include "sched/steal/steal.h"
#include "sched/wait/join.h"
#include "sched/wait/local.h"
#include "sched/wait/suspend.h"

static void expire(struct haul_carrier *c, struct haul_coro *co)
{
	if (hauli_coro_kind(co) != HAULI_CORO_JOINING || hauli_join_expire_here(co))
		hauli_ready_expired(c, co);
}

/* Fires some of the due timers; the others wait for the next round, so that many timers do not keep
 * the poller waiting. */
static __attribute__((noinline)) void fire_some(struct haul_carrier *c, uint64_t now)
{
	struct hauli_timer *due[HAULI_TIMERS_DUE];
	unsigned n = hauli_timers_expire(&c->timers, now, due);

	hauli_traced_timers(c, n);
	for (unsigned i = 0; i < n; i++)
		__builtin_prefetch(hauli_coro_of_timer(due[i]), 1);
	for (unsigned i = 0; i < n; i++)
		expire(c, hauli_coro_of_timer(due[i]));
}

static void fire_timers(struct haul_carrier *c)
{
	uint64_t now;

	if (hauli_likely(c->timers.next_at == HAULI_NEVER))
		return;
	now = hauli_timer_ticks();
	if (now >= c->timers.next_at)
		fire_some(c, now);
}

/* A part of the round, compiled twice: for carriers that steal, and for the others. */
#define PART static inline __attribute__((always_inline))

PART void receive(struct haul_carrier *c, bool steals)
{
	if (hauli_likely(hauli_inbox_is_empty(&c->mail.inbox)))
		return;
	if (steals)
		hauli_mail_receive(c);
	else
		hauli_mail_receive_unshared(c);
}

/* Looks for calls on file descriptors that can go on. True: there were some. */
PART bool take_fds(struct haul_carrier *c)
{
	return hauli_unlikely(hauli_fds_are_due(c, &c->fds)) && c->fds.kind->take(c);
}

/* Runs a batch of at most n slices, plus one for each push to the front meanwhile. Returns the
 * number of slices. */
PART unsigned run_batch(struct haul_carrier *c, unsigned n, bool steals)
{
	struct hauli_co *first;
	uint32_t popped;

	if (steals) {
		hauli_runq_open(&c->runq, n);
		c->steal.orders.seen = hauli_u32_published_get(&c->steal.orders.taken);
	} else {
		hauli_runq_open_unshared(&c->runq, n);
	}
	popped = c->run.popped = hauli_ring_popped(&c->runq.ring);
	first = hauli_next(c);
	if (!steals)
		c->wait.path = HAULI_PATH_FAST;
	if (hauli_likely(c->current != NULL)) { /* NULL if thieves took them all */
		hauli_traced_run(c, HAUL_TRACE_BEGAN);
		hauli_arrive(hauli_co_switch(&c->run.loop, first, c));
		hauli_traced_loop(c);
	}
	c->wait.path = HAULI_PATH_SLOW;
	if (steals)
		hauli_runq_close(&c->runq);
	else
		hauli_runq_close_unshared(&c->runq);
	popped = hauli_ring_popped(&c->runq.ring) - popped;
	hauli_counter_add(&c->counts.slices, popped);
	return popped;
}

static unsigned min(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Runs ready coroutines, at least one, until the budget of slices or time is spent. False: none was
 * ready. */
PART bool run_ready(struct haul_carrier *c, bool steals)
{
	unsigned budget = c->poller.coro ? c->run.lately.budget : UINT32_MAX;
	/* The poller has work, so its stopwatch runs already and counts this, too. */
	bool works = hauli_stopwatch_runs(&c->counts.work);
	uint64_t start, spent = 0;
	unsigned ran = 0;

	if (hauli_runq_is_empty(&c->runq) && !hauli_runq_fetch_long(&c->runq))
		return false;
	start = hauli_ticks();
	if (!works)
		hauli_stopwatch_start(&c->counts.work, start);
	if (steals)
		c->run.batch_works = !works;
	do {
		if (steals)
			hauli_steal_batch_begins(c, start + spent);
		else
			hauli_u64_owned_set(&c->steal.batch_began, start + spent);
		ran += run_batch(c, min(budget - ran, c->run.slices_per_batch), steals);
		if (steals)
			hauli_steal_batch_ended(c);
		receive(c, steals);
		spent = hauli_ticks() - start;
	} while (!hauli_runq_is_empty(&c->runq) && ran < budget && spent < c->run.round_ticks);
	if (!works)
		hauli_stopwatch_stop(&c->counts.work, start + spent);
	if (steals &&
		hauli_unlikely(ran == 0)) /* thieves took them all; others may be ready by now */
		return hauli_runq_has_some(&c->runq);
	hauli_slices_learn(&c->run.lately, spent / ran, c->run.poll_ticks);
	return true;
}

/* Resumes the poller. False: there is none; it is not ready; or, where time is virtual, it had
 * nothing to do. */
PART bool resume_poller(struct haul_carrier *c, bool steals)
{
	struct haul_coro *poller = c->poller.coro;

	if (!poller || hauli_coro_state(poller) != HAULI_CORO_READY)
		return false;
	c->current = poller;
	hauli_traced_run(c, HAUL_TRACE_BEGAN);
	hauli_co_switch(&c->run.loop, &poller->co, c);
	hauli_traced_loop(c);
	if (!steals && hauli_unlikely(c->spawn.at_once.coro != NULL))
		hauli_records_stop(c);
	else
		hauli_arrive(c);
	/* The poller may have suspended between park and wait. It finds itself unparked when it
	 * resumes. */
	if (hauli_unlikely(c->mail.inbox.sleeps))
		hauli_sleep_end_parked(c);
	if (hauli_unlikely(c->poller.rests)) {
		c->poller.rests = false;
		return false;
	}
	return true;
}

/* Waits for a push to the inbox, or for the kernel if calls wait for it, at most until `at`, in
 * ticks. */
static void wait_until(struct haul_carrier *c, uint64_t at)
{
	struct timespec until;

	hauli_counter_add(&c->counts.parks, 1);
	if (hauli_unlikely(c->fds.waits > 0)) {
		c->fds.kind->wait(c, at);
		return;
	}
	if (hauli_unlikely(c->watched)) {
		if (hauli_quiet_look(c))
			return;
		if (c->virtual_time)
			at = HAULI_NEVER;
	}
	if (at != HAULI_NEVER)
		until = hauli_monotonic_at(at);
	hauli_inbox_wait(&c->mail.inbox, at != HAULI_NEVER ? &until : NULL);
}

/* Sleeps until there is mail, or until the next timer or the next look for work is due. */
PART void sleep_until_needed(struct haul_carrier *c, bool steals)
{
	enum hauli_inbox_state how = c->fds.waits ? HAULI_INBOX_FDS_WAIT : HAULI_INBOX_ASLEEP;
	uint64_t at = hauli_timers_next(&c->timers);

	if (hauli_unlikely(hauli_fds_are_due(c, &c->fds)) && !hauli_fds_are_unseen(&c->fds))
		return;
	if (hauli_unlikely(c->hibernator != NULL) && hauli_hibernator_wakes(c))
		return;
	if (steals) {
		if (hauli_steal_idle(c))
			return;
	}
	if (hauli_sleep_spin(c, at))
		return;
	if (steals)
		hauli_steal_set_idle(c);
	hauli_u64_owned_set(&c->run.wakes_at, at);
	hauli_u32_published_set(&c->run.sleeps, hauli_u32_published_get(&c->run.sleeps) + 1);
	if ((at != HAULI_NEVER && hauli_timer_ticks() >= at) ||
		!hauli_inbox_try_sleep(&c->mail.inbox, how)) {
		if (steals)
			hauli_steal_clear_idle(c);
		return;
	}
	if (hauli_cluster_may_sleep(c) && (!steals || hauli_steal_may_stay(c))) {
		if (steals && hauli_steal_wake_at(c) < at)
			at = hauli_steal_wake_at(c);
		hauli_traced_sleep(c, c->fds.waits ? HAUL_TRACE_ON_FDS : HAUL_TRACE_ON_FUTEX);
		wait_until(c, at);
		hauli_traced_awake(c);
	}
	hauli_sleep_end(c);
}

PART void round_once(struct haul_carrier *c, bool steals)
{
	bool busy;

	hauli_counter_add(&c->counts.rounds, 1);
	fire_timers(c);
	receive(c, steals);
	(void)take_fds(c);
	if (hauli_unlikely(hauli_cluster_waits(c)))
		hauli_cluster_fetch(c);
	busy = run_ready(c, steals);
	if (steals && hauli_searches(c) && !busy)
		busy = hauli_steal_idle(c);
	busy |= take_fds(c);
	busy |= resume_poller(c, steals);
	hauli_stop_report(c);
	if (!busy && c->phase != HAULI_PHASE_FINISHED)
		sleep_until_needed(c, steals);
}

static __attribute__((noinline)) void run_unshared(struct haul_carrier *c)
{
	while (c->phase != HAULI_PHASE_FINISHED)
		round_once(c, false);
}

static __attribute__((noinline)) void run_stealing(struct haul_carrier *c)
{
	while (c->phase != HAULI_PHASE_FINISHED)
		round_once(c, true);
}

static void run_rescued(struct haul_carrier *c)
{
	while (!hauli_rescue_is_over(c))
		round_once(c, true);
}

static void run_by_itself(struct haul_carrier *c)
{
	/* The default slack would delay each timed wait by up to 50 us. */
	prctl(PR_SET_TIMERSLACK, 1UL, 0, 0, 0);
	hauli_self_set(c);
	hauli_u32_published_set(&c->run.tid, (uint32_t)gettid());
	hauli_traced_thread(c, (uint32_t)gettid());
	hauli_co_init_thread(&c->run.loop);
	hauli_overflow_thread_init();
	c->exceptions = hauli_exceptions_here();
	c->careful = c->exceptions || c->timeline;
	if (hauli_steals(c))
		run_stealing(c);
	else
		run_unshared(c);
	hauli_overflow_thread_fini();
	hauli_co_fini_thread(&c->run.loop);
}

int hauli_round_main(void *arg)
{
	struct haul_carrier *c = arg;

	if (c->rescue)
		hauli_rescue_run(c, run_rescued);
	else
		run_by_itself(c);
	hauli_sleep_quiesce(c);
	if (c->fds.kind)
		c->fds.kind->close(c);
	hauli_locals_release(c);
	hauli_self_set(NULL);
	return 0;
}
