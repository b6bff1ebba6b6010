/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The door for drivers-glue: what its pollers and handlers need of the scheduler beside the public
 * headers. The glue includes no other header of lib/sched, and uses no name of lib/sched that is
 * neither here nor in handover.h (tests/lint/floors.py); carriers have no fields for it.
 *
 * As they are, for the stop: hauli_runtime_hold(), hauli_runtime_let_go(),
 * hauli_runtimes_are_copies(), hauli_tell_silent(), struct hauli_ending with hauli_ending_begin()
 * and hauli_ending_wait(). For options of handlers: HAULI_ORDER_KEY_ASK.
 */
#ifndef HAULI_SCHED_GLUE_H
#define HAULI_SCHED_GLUE_H

#include "sched/dump.h"
#include "sched/handover.h"
#include "sched/join.h"
#include "sched/order.h"
#include "sched/poller.h"
#include "sched/runtime.h"
#include "sched/spawn.h"

/* True if coroutines that are at home on c may be stolen. Constant once c runs. */
static inline bool hauli_glue_steals(const struct haul_carrier *c)
{
	return hauli_steals(c);
}

/* True if c has a coroutine to run. c's poller. */
static inline bool hauli_glue_has_ready(const struct haul_carrier *c)
{
	return !hauli_runq_is_empty(&c->runq);
}

/* c's poller, before anything else: handlers that must not suspend run on its stack, and order_of()
 * tells the order of a coroutine with HAULI_ORDER_KEY_ASK by its argument. */
static inline void hauli_glue_poller_begins(
	struct haul_carrier *c, uint8_t (*order_of)(const void *arg))
{
	hauli_poller_handles(c);
	hauli_order_set_key_fn(c, order_of);
}

/* c's poller, where carriers steal, before it works for long itself: it gives back a search that it
 * was sent, and gets none meanwhile. It is not parked after that. */
static inline void hauli_glue_poller_is_busy(struct haul_carrier *c)
{
	hauli_poller_is_busy(c);
}

/* Spawns a handler, which nobody joins. Errors as haul_spawn(). */
static inline int hauli_glue_spawn(haul_fn *fn, void *arg, const struct haul_coro_opts *opts)
{
	return hauli_spawn_own(fn, arg, opts);
}

/* The handler, first of all, if home is where it was spawned and coroutines may be stolen there. */
static inline void hauli_glue_handler_begins(const struct haul_carrier *home)
{
	hauli_order_begins(home);
}

/* c's poller. Cancels the coroutines at home on c whose body is chosen. */
void hauli_glue_cancel(struct haul_carrier *c, bool (*is_chosen)(haul_fn *body));

#endif
