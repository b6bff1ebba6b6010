/* SPDX-License-Identifier: BSD-3-Clause */
/* Yield, sleep, park. */
#include "sched/wait/park.h"

#include <errno.h>

#include "base/clock.h"
#include "sched/state/self.h"
#include "sched/wait/extent.h"
#include "sched/wait/suspend.h"

void haul_yield(void)
{
	struct haul_carrier *c = hauli_here();

	hauli_suspend(c, c->current, true);
}

#define SLEEPING (HAULI_CORO_SLEEPING | HAULI_CORO_CANCELLABLE)

static int cancelled(const struct haul_coro *co)
{
	return hauli_coro_is_cancelled(co) ? -ECANCELED : 0;
}

/* Replaces the wait of a cancelled coroutine by a yield. Otherwise a loop that ignores the result
 * of its wait would keep its carrier forever, and no other coroutine there could end. */
static int refuse_to_wait(struct haul_carrier *c, struct haul_coro *me)
{
	hauli_suspend(c, me, true);
	return -ECANCELED;
}

/* at: ticks. */
static inline int sleep_here(struct haul_carrier *c, struct haul_coro *me, uint64_t at)
{
	me->timer.at = at;
	hauli_timer_arm(&c->timers, &me->timer);
	hauli_coro_waits(c, me, SLEEPING | HAULI_CORO_ARMED);
	hauli_suspend(c, me, false);
	return cancelled(me);
}

bool hauli_sleep_begin_here(struct haul_carrier *c, struct haul_coro *co)
{
	if (hauli_coro_is_cancelled(co))
		return false;
	hauli_coro_waits_until(c, co, SLEEPING);
	return true;
}

/* For a coroutine that is cancelled, a poller, stolen, or inside a deadline or shield. The home of
 * a stolen one carries out its wait. */
static __attribute__((noinline)) int sleep_slow(
	struct haul_carrier *c, struct haul_coro *me, uint64_t at, const char *call)
{
	uint64_t deadline;
	bool early;

	hauli_may_suspend(me, call);
	deadline = hauli_ticks_at(hauli_extent_deadline(me, HAUL_FOREVER));
	early = deadline < at;
	if (cancelled(me))
		return refuse_to_wait(c, me);
	me->timer.at = early ? deadline : at;
	if (hauli_coro_is_stolen(me))
		hauli_stolen_wait(c, me, HAULI_CORO_SLEEPING);
	else
		sleep_here(c, me, me->timer.at);
	if (cancelled(me))
		return -ECANCELED;
	return early ? -ETIMEDOUT : 0;
}

static inline int sleep_at(uint64_t at, const char *call)
{
	struct haul_carrier *c = hauli_here();
	struct haul_coro *me = c->current;

	if (hauli_unlikely(hauli_coro_needs_slow_path(me)))
		return sleep_slow(c, me, at, call);
	return sleep_here(c, me, at);
}

int haul_sleep(uint64_t ns)
{
	uint64_t now = hauli_timer_ticks(), ticks = hauli_ticks_from_ns(ns);

	return sleep_at(ticks < HAULI_NEVER - now ? now + ticks : HAULI_NEVER, "haul_sleep");
}

int haul_sleep_until(uint64_t deadline)
{
	return sleep_at(hauli_ticks_at(deadline), "haul_sleep_until");
}

/* After a wait that something other than the permit may have ended. A woken coroutine may be stolen
 * before it runs, and its home may give it another permit at the same time: so the take is
 * atomic. */
static int end_of_park(struct haul_coro *me)
{
	if (hauli_permit_take_remote(&me->permit))
		return 0;
	return cancelled(me) ? -ECANCELED : -ETIMEDOUT;
}

static inline int take_permit(struct haul_coro *me)
{
	if (hauli_unlikely(hauli_coro_needs_slow_path(me)))
		return end_of_park(me);
	hauli_permit_take(&me->permit);
	return 0;
}

static __attribute__((noinline)) int park_until(
	struct haul_carrier *c, struct haul_coro *me, uint64_t deadline)
{
	if (deadline == 0)
		return -EAGAIN;
	me->timer.at = hauli_ticks_at(deadline);
	hauli_coro_waits_until(c, me, HAULI_CORO_IN_PARK);
	hauli_suspend(c, me, false);
	return end_of_park(me);
}

static inline int park_here(struct haul_carrier *c, struct haul_coro *me, uint64_t deadline)
{
	if (!hauli_permit_is_given(&me->permit)) {
		if (hauli_unlikely(deadline != HAUL_FOREVER))
			return park_until(c, me, deadline);
		hauli_coro_waits(c, me, HAULI_CORO_IN_PARK);
		hauli_suspend(c, me, false);
	}
	return take_permit(me);
}

bool hauli_park_begin_here(struct haul_carrier *c, struct haul_coro *co)
{
	if (hauli_permit_is_given(&co->permit) || hauli_coro_is_cancelled(co))
		return false;
	hauli_coro_waits_until(c, co, HAULI_CORO_IN_PARK);
	return true;
}

static int park_stolen(struct haul_carrier *c, struct haul_coro *me, uint64_t deadline)
{
	if (deadline == 0)
		return hauli_permit_take_remote(&me->permit) ? 0 : -EAGAIN;
	me->timer.at = hauli_ticks_at(deadline);
	hauli_stolen_wait(c, me, HAULI_CORO_PARKED);
	return end_of_park(me);
}

static __attribute__((noinline)) int park_slow(
	struct haul_carrier *c, struct haul_coro *me, uint64_t deadline)
{
	hauli_may_suspend(me, "haul_park");
	deadline = hauli_extent_deadline(me, deadline);
	if (deadline != 0 && cancelled(me))
		return refuse_to_wait(c, me);
	if (hauli_coro_is_stolen(me))
		return park_stolen(c, me, deadline);
	return park_here(c, me, deadline);
}

int haul_park(uint64_t deadline)
{
	struct haul_carrier *c = hauli_here();
	struct haul_coro *me = c->current;

	if (hauli_unlikely(hauli_coro_needs_slow_path(me)))
		return park_slow(c, me, deadline);
	return park_here(c, me, deadline);
}
