/* SPDX-License-Identifier: BSD-3-Clause */
/* Yield, sleep, park. */
#include <errno.h>

#include <haul/coro.h>

#include "base/clock.h"
#include "sched/self.h"
#include "sched/suspend.h"

void haul_yield(void)
{
	struct haul_carrier *c = hauli_here();

	hauli_suspend(c, c->current, true);
}

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
	hauli_coro_set_state(me, HAULI_CORO_SLEEPING);
	hauli_suspend(c, me, false);
	return cancelled(me);
}

/* For a coroutine that is cancelled, a poller, or stolen: the home of a stolen one carries out its
 * wait. */
static __attribute__((noinline)) int sleep_slow(
	struct haul_carrier *c, struct haul_coro *me, uint64_t at)
{
	hauli_may_suspend(me, "haul_sleep");
	if (cancelled(me))
		return refuse_to_wait(c, me);
	if (!hauli_coro_is_stolen(me))
		return sleep_here(c, me, at);
	me->timer.at = at;
	hauli_stolen_go_home(c, me, HAULI_BACK_SLEEP);
	return cancelled(me);
}

static inline int sleep_at(uint64_t at)
{
	struct haul_carrier *c = hauli_here();
	struct haul_coro *me = c->current;

	if (hauli_unlikely(hauli_coro_needs_slow_path(me)))
		return sleep_slow(c, me, at);
	return sleep_here(c, me, at);
}

int haul_sleep(uint64_t ns)
{
	uint64_t now = hauli_ticks(), ticks = hauli_ticks_from_ns(ns);

	return sleep_at(ticks < HAULI_NEVER - now ? now + ticks : HAULI_NEVER);
}

int haul_sleep_until(uint64_t deadline)
{
	return sleep_at(hauli_ticks_at(deadline));
}

/* After the wait. A woken coroutine may be stolen before it runs, and its home may give it another
 * permit at the same time: then the take is atomic. */
static inline int take_permit(struct haul_coro *me)
{
	if (hauli_likely(!hauli_coro_needs_slow_path(me))) {
		hauli_permit_take(&me->permit);
		return 0;
	}
	hauli_permit_take_remote(&me->permit);
	return cancelled(me);
}

static inline int park_here(struct haul_carrier *c, struct haul_coro *me)
{
	if (!hauli_permit_is_given(&me->permit)) {
		hauli_coro_set_state(me, HAULI_CORO_PARKED);
		hauli_suspend(c, me, false);
	}
	return take_permit(me);
}

static __attribute__((noinline)) int park_slow(struct haul_carrier *c, struct haul_coro *me)
{
	hauli_may_suspend(me, "haul_park");
	if (cancelled(me))
		return refuse_to_wait(c, me);
	if (!hauli_coro_is_stolen(me))
		return park_here(c, me);
	hauli_stolen_go_home(c, me, HAULI_BACK_PARK);
	return take_permit(me);
}

int haul_park(uint64_t deadline)
{
	struct haul_carrier *c = hauli_here();
	struct haul_coro *me = c->current;

	if (hauli_unlikely(hauli_coro_needs_slow_path(me)))
		return park_slow(c, me);
	return park_here(c, me);
}
