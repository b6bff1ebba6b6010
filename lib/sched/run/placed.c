/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Yields that the compiler places (haul/placed.h). Code from the plugin counts a thread-local
 * number down and calls haul_placed_yield_() when it is below 0. That costs two or three
 * instructions; a look at the clock costs some twenty, so that there is one in MOST counts. Where a
 * count takes long, as loops differ in what an iteration does, there are more: a look shall come
 * LOOKS times in the time after which a coroutine is to yield. Counts grow to twice the last one at
 * most, since the next loop may be a slower one.
 *
 * The yield itself is that of haul_maybe_yield(), with the coroutine pinned, and in order.
 */
#include <errno.h>

#include <haul/placed.h>

#include "base/clock.h"
#include "base/simulated.h"
#include "coro/own.h"
#include "coro/placed.h"
#include "sched/run/placed.h"
#include "sched/run/split.h"
#include "sched/state/runtime.h"
#include "sched/state/self.h"
#include "sched/steal/stolen.h"
#include "sched/wait/order.h"
#include "sched/wait/suspend.h"

#define MOST 256
#define LOOKS 8
#define YIELDS_WITH \
	(HAULI_FLAG_STOLEN | HAULI_FLAG_KEPT | HAULI_FLAG_CANCELLED | HAULI_FLAG_BOUNDED)

__thread int haul_placed_left_ __attribute__((tls_model("initial-exec")));

static __thread int given;
static __thread uint64_t given_at; /* ticks, as the next */
static __thread uint64_t not_before; /* a yield was refused: the next look at the frames */

/* The next count. */
static __attribute__((noinline)) void give(uint64_t now, uint64_t due)
{
	uint64_t took = now - given_at;
	int next = given < MOST / 2 ? 2 * given + 1 : MOST;

	/* In a simulation time passes by looks. */
	if (HAULI_SIM)
		next = 0;
	else if (took > due / LOOKS)
		next = (int)((uint64_t)given * (due / LOOKS) / took);
	given = haul_placed_left_ = next;
	given_at = now;
}

/*
 * With an order key me may have to send before others that begin meanwhile: it keeps its rank as
 * one that is stolen in the midst of its slice and comes home, where the slice continues.
 */
static void end_slice(struct haul_carrier *c, struct haul_coro *me)
{
	if (!hauli_coro_is_stolen(me)) {
		if (!hauli_steals(c) || !hauli_order_leave_behind(c, me)) {
			hauli_end_long_batch(c, me);
			return;
		}
		hauli_stolen_mark(me);
	}
	hauli_ring_close(&c->runq.ring);
	hauli_stolen_go_home(c, me, hauli_is_long_slice(c) ? HAULI_BACK_LONG : HAULI_BACK_LATER);
	hauli_slice_goes_on();
}

/* Out of line, as are the others: a rescued carrier may have another thread after the yield, which
 * has other addresses of thread-local variables. */
static __attribute__((noinline)) void set_errno(int err)
{
	errno = err;
}

static __attribute__((noinline)) void yield(
	struct haul_carrier *c, struct haul_coro *me, const void *ra, uint64_t now)
{
	int err = errno;

	if (!hauli_placed_is_safe(ra)) {
		not_before = now + c->run.poll_ticks; /* unwinding takes a microsecond */
	} else {
		hauli_counter_add(&c->counts.placed_yields, 1);
		me->pinned |= HAULI_PINNED_FOR_NOW;
		end_slice(c, me);
		me->pinned &= (uint8_t)~HAULI_PINNED_FOR_NOW;
	}
	set_errno(err);
}

void haul_placed_yield_(void)
{
	struct haul_carrier *c = hauli_self();
	uint64_t now, due;

	/* A stolen one that has come home may yield there. */
	if (!c || !hauli_may_split(c, c->current, YIELDS_WITH) ||
		hauli_coro_home(c->current) != c) {
		haul_placed_left_ = MOST;
		return;
	}
	due = c->run.poll_ticks;
	now = hauli_ticks();
	if (now - hauli_u64_owned_get(&c->steal.batch_began) >= due &&
		(int64_t)(now - not_before) >= 0) {
		yield(c, c->current, __builtin_return_address(0), now);
		now = hauli_ticks();
	}
	give(now, due);
}

int hauli_placed_start(struct haul_runtime *rt)
{
	int err = hauli_placed_init();

	if (err || !hauli_placed_any())
		return err;
	for (unsigned i = 0; i < rt->nb_carriers; i++)
		hauli_split_slices(&rt->carriers[i]);
	return hauli_own_init() ? 0 : -ENOMEM;
}
