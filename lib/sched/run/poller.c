/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pollers: registration, the return to the carrier's round, and parking. A poller that blocks parks
 * its carrier with the inbox's state POLLING_WAIT, so a pusher knows that it must call the poller's
 * wakeup: conc/inbox.c has the proof. The wakeup is constant while there is a poller; the poller's
 * end waits for calls that are under way (hauli_sleep_quiesce()).
 *
 * The event that the poller waits for is a second source of work, which the inbox does not cover.
 * The order of the poller's steps covers both: park, arm, look once more, check can_park, wait. The
 * look finds input from before the arming; input after it ends the wait. A push before the park
 * makes the park fail; a pusher after it calls the wakeup, which also ends a wait that begins
 * later.
 *
 * Model: tests/model/poller.c, park_injector.c, poller_end.c, arming.pml. Stress:
 * tests/stress/poller.c.
 */
#include "sched/run/poller.h"

#include <errno.h>

#include <haul/driver.h>

#include "base/assert.h"
#include "base/clock.h"
#include "sched/place/cluster.h"
#include "sched/run/hibernate.h"
#include "sched/spawn/spawn.h"
#include "sched/state/runtime.h"
#include "sched/state/self.h"
#include "sched/state/traced.h"
#include "sched/steal/sleep.h"
#include "sched/steal/steal.h"
#include "sched/wait/suspend.h"

#define DEFAULT_STACK_SIZE (248 * 1024) /* usable bytes of a 256 KiB slot */

int haul_poller_register(struct haul_carrier *carrier, struct haul_coro **poller, haul_fn *fn,
	void *arg, const struct haul_poller_opts *opts)
{
	struct haul_coro_opts co = {
		.name = opts && opts->name ? opts->name : "poller",
		.stack_size = opts && opts->stack_size ? opts->stack_size : DEFAULT_STACK_SIZE,
		.pinned = true,
	};
	int err;

	HAUL_MISUSE_IF(!carrier, HAULI_NO_CARRIER);
	HAUL_MISUSE_IF(!fn, "the function is NULL");
	if (carrier->virtual_time && !carrier->rt->quiet_pollers)
		return -ENOTSUP;
	if (!hauli_trylock_take(&carrier->poller.lock))
		return -EBUSY;
	carrier->poller.wakeup = (struct hauli_wakeup){opts ? opts->wakeup : NULL, arg};
	err = hauli_spawn_by_mail(&(struct hauli_spawn){.carrier = carrier,
		.out = poller,
		.fn = fn,
		.arg = arg,
		.opts = &co,
		.poller = true});
	if (err)
		hauli_trylock_release(&carrier->poller.lock);
	else if (carrier->hibernator)
		hauli_hibernator_rouse(carrier);
	return err;
}

#define NOT_THE_POLLER "called outside a poller; call it in what haul_poller_register() was given"

void hauli_poller_handles(struct haul_carrier *c)
{
	hauli_u8_shared_set_bits(&c->poller.coro->flags, HAULI_FLAG_HANDLES);
}

void hauli_poller_is_busy(struct haul_carrier *c)
{
	if (hauli_unlikely(c->mail.inbox.sleeps)) /* its mail may hold a search */
		hauli_sleep_end_parked(c);
	hauli_steal_is_busy(c);
}

/* True if the round has work other than polling. */
static bool is_needed(const struct haul_carrier *c)
{
	if (hauli_unlikely(c->timers.next_at != HAULI_NEVER) &&
		hauli_timer_ticks() >= c->timers.next_at)
		return true;
	return hauli_runq_has_some(&c->runq) || !hauli_inbox_is_empty(&c->mail.inbox) ||
		hauli_cluster_waits(c) || hauli_fds_are_due(c, &c->fds);
}

static bool has_napped(const struct haul_carrier *c)
{
	return hauli_searches(c) && hauli_ticks() >= c->steal.thief.nap_until;
}

/* In a simulation: a cycle is over. One that spins for nothing lets time pass. */
static inline void cycle_simulated(struct haul_carrier *c, bool had_io)
{
#if HAULI_SIM
	struct hauli_carrier_poller *p = &c->poller;
	uint64_t until = c->timers.next_at;

	if (had_io || is_needed(c)) {
		p->acted = true;
	} else if (p->only_spins && (c->fds.waits == 0 || hauli_fds_are_unseen(&c->fds))) {
		if (hauli_searches(c) && c->steal.thief.nap_until < until)
			until = c->steal.thief.nap_until;
		if (c->fds.waits > 0 && c->fds.kind->look_at(c) < until)
			until = c->fds.kind->look_at(c);
		hauli_sim_rest(until, p->acted);
		p->acted = false;
	} else {
		hauli_cpu_pause();
	}
	p->only_spins = false;
#endif
}

/* haul_maybe_yield() in a coroutine that is no poller. The time counts from the start of the batch,
 * so the poller is on time even if other coroutines have run in the batch before. */
static __attribute__((noinline)) bool offer(struct haul_carrier *c, struct haul_coro *me)
{
	if (hauli_unlikely(hauli_coro_needs_slow_path(me)))
		hauli_may_suspend(me, "haul_maybe_yield");
	if (hauli_ticks() - hauli_u64_owned_get(&c->steal.batch_began) >= c->run.poll_ticks)
		hauli_end_long_batch(c, me);
	return !hauli_coro_is_cancelled(me);
}

/* Out of line, so that a cycle that does not suspend saves no registers for the switch. */
static __attribute__((noinline)) bool give_way(struct haul_carrier *c, struct haul_coro *me)
{
#if HAULI_SIM
	c->poller.acted = true;
#endif
	hauli_suspend(c, me, false);
	return !hauli_coro_is_cancelled(me);
}

/* For a poller that is cancelled, or whose carrier steals or has virtual time: with virtual time it
 * gives way in each cycle, and without input does not keep its carrier awake. */
static __attribute__((noinline)) bool go_on_slow(
	struct haul_carrier *c, struct haul_coro *me, bool had_io)
{
	if (hauli_coro_is_cancelled(me))
		return false;
	if (c->virtual_time) {
		c->poller.rests = !had_io;
		return give_way(c, me);
	}
	/* A poller with input has no time to search: others get its search. */
	if (had_io)
		hauli_steal_is_busy(c);
	else if (has_napped(c) || (hauli_steals(c) && hauli_steal_pull(c)))
		return give_way(c, me);
	return true;
}

bool hauli_poller_go_on(struct haul_carrier *c, bool had_io)
{
	struct haul_coro *me = c->poller.coro;

	cycle_simulated(c, had_io);
	if (hauli_unlikely(is_needed(c)))
		return give_way(c, me);
	if (hauli_unlikely(
		    hauli_u8_shared_get(&me->flags) & (HAULI_FLAG_CANCELLED | HAULI_FLAG_PULLS)))
		return go_on_slow(c, me, had_io);
	return true;
}

/* haul_maybe_yield() in a poller that has one of the rare flags. */
static __attribute__((noinline)) bool go_on_checked(
	struct haul_carrier *c, struct haul_coro *me, bool had_io)
{
	if (hauli_u8_shared_get(&me->flags) & HAULI_FLAG_HANDLES)
		hauli_may_suspend(me, "haul_maybe_yield");
	return hauli_poller_go_on(c, had_io);
}

/* A single test of the flags covers all rare cases. */
bool haul_maybe_yield(bool had_io)
{
	const uint8_t rare = HAULI_FLAG_CANCELLED | HAULI_FLAG_PULLS | HAULI_FLAG_HANDLES;
	struct haul_carrier *c = hauli_here();
	struct haul_coro *me = c->current;

	if (hauli_unlikely(me != c->poller.coro))
		return offer(c, me);
	if (hauli_unlikely(hauli_u8_shared_get(&me->flags) & rare))
		return go_on_checked(c, me, had_io);
	cycle_simulated(c, had_io);
	return hauli_likely(!is_needed(c)) || give_way(c, me);
}

bool haul_poller_try_park(void)
{
	struct haul_carrier *c = hauli_here();

	HAUL_MISUSE_IF(c->current != c->poller.coro, NOT_THE_POLLER);
	if (c->fds.covered && c->fds.kind->forget)
		c->fds.kind->forget(c);
	if (!c->poller.wakeup.fn || hauli_coro_is_cancelled(c->current) || is_needed(c) ||
		has_napped(c) || (c->fds.waits > 0 && !c->fds.covered))
		return false;
	if (hauli_steals(c))
		hauli_steal_set_idle(c);
	if (!hauli_inbox_try_sleep(&c->mail.inbox, HAULI_INBOX_POLLING_WAIT)) {
		if (hauli_steals(c))
			hauli_steal_clear_idle(c);
		return false;
	}
	if (!hauli_cluster_may_sleep(c) || (hauli_steals(c) && !hauli_steal_may_stay(c))) {
		haul_poller_unpark();
		return false;
	}
	hauli_counter_add(&c->counts.parks, 1);
	hauli_traced_sleep(c, HAUL_TRACE_IN_POLLER);
	return true;
}

bool haul_poller_can_park(void)
{
	struct haul_carrier *c = hauli_here();

	HAUL_MISUSE_IF(c->current != c->poller.coro, NOT_THE_POLLER);
	return hauli_inbox_is_asleep(&c->mail.inbox) && !is_needed(c) && !has_napped(c);
}

void haul_poller_unpark(void)
{
	struct haul_carrier *c = hauli_here();

	HAUL_MISUSE_IF(c->current != c->poller.coro, NOT_THE_POLLER);
	if (c->mail.inbox.sleeps)
		hauli_sleep_end_parked(c);
}

int haul_poller_fd(void)
{
	struct haul_carrier *c = hauli_here();

	HAUL_MISUSE_IF(c->current != c->poller.coro, NOT_THE_POLLER);
	if (!c->fds.kind)
		return -1;
	if (!c->fds.covered) {
		c->fds.fd = c->fds.kind->cover(c);
		c->fds.covered = c->fds.fd >= 0;
	}
	return c->fds.fd;
}

uint64_t haul_poller_deadline(void)
{
	struct haul_carrier *c = hauli_here();
	uint64_t at, steal_at;

	HAUL_MISUSE_IF(c->current != c->poller.coro, NOT_THE_POLLER);
	at = hauli_timers_next(&c->timers);
	steal_at = hauli_steal_wake_at(c);
	return hauli_ns_from_ticks(at < steal_at ? at : steal_at);
}
