/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The interface for drivers-glue: the functions of the scheduler that its pollers and handlers
 * call, in addition to the public headers. The glue includes no other header of lib/sched, and uses
 * no name of lib/sched that is neither here nor in handover.h (tests/lint/floors.py). Carriers have
 * no fields for the glue.
 *
 * Of the headers included here the glue uses directly, for the stop: hauli_runtime_hold(),
 * hauli_runtime_let_go(), hauli_runtimes_are_copies(), hauli_tell_silent(), struct hauli_ending
 * with hauli_ending_begin() and hauli_ending_wait(); for its time limits: hauli_delay_since(),
 * struct hauli_delay, struct hauli_limit with hauli_limit(), hauli_limit_slice() and
 * hauli_limit_spend(); for options of handlers: HAULI_ORDER_KEY_ASK, struct hauli_prototype, struct
 * hauli_record, struct hauli_body, hauli_record_body() and hauli_record_at_once(); for reports:
 * struct hauli_waits, struct hauli_sites, struct hauli_site, HAULI_SITES, hauli_waits_count(),
 * hauli_sites_merge(), hauli_site_print(), hauli_site_of_waiting() and hauli_trace_print_line().
 */
#ifndef HAULI_SCHED_GLUE_H
#define HAULI_SCHED_GLUE_H

#include "coro/own.h" /* HAULI_CALLS_PROGRAM */
#include "coro/trace.h"
#include "sched/look/dump.h"
#include "sched/look/sites.h"
#include "sched/look/watchdog.h"
#include "sched/mail/handover.h"
#include "sched/place/placing.h"
#include "sched/run/poller.h"
#include "sched/spawn/spawn.h"
#include "sched/spawn/spawn_records.h"
#include "sched/state/delay.h"
#include "sched/state/runtime.h"
#include "sched/state/traced.h"
#include "sched/wait/join.h"
#include "sched/wait/order.h"
#include "sched/wait/record.h"
#include "trace/ask.h"

/* True if coroutines of home c may be stolen. Constant once c runs. */
static inline bool hauli_glue_steals(const struct haul_carrier *c)
{
	return hauli_steals(c);
}

/* Called before the first poller of a runtime with virtual time. Promises that its pollers receive
 * from coroutines only, by hand-overs. */
static inline void hauli_glue_let_poll(struct haul_runtime *rt)
{
	rt->quiet_pollers = true;
}

/* haul_spawn_any() passes over a carrier that is spared. One thread at a time. */
static inline void hauli_glue_spare(struct haul_carrier *c, bool spared)
{
	hauli_placing_spare(c, spared);
}

/* True if time is virtual: a poller that passes false to hauli_glue_go_on() is resumed only after
 * something has woken its carrier. */
static inline bool hauli_glue_is_virtual(const struct haul_carrier *c)
{
	return c->virtual_time;
}

/* True if the caller is a coroutine of home c that runs on c's thread. */
static inline bool hauli_glue_is_home(const struct haul_carrier *c)
{
	const struct haul_carrier *here = hauli_here();

	return here == c && hauli_coro_home(here->current) == c;
}

/* True if c has ready coroutines. Called by c's poller. */
static inline bool hauli_glue_has_ready(const struct haul_carrier *c)
{
	return hauli_runq_has_some(&c->runq);
}

/* The first call of c's poller. Handlers that must not suspend run on its stack. cycles counts its
 * cycles until hauli_glue_poller_ends(). order_of() computes the order key of a coroutine with
 * HAULI_ORDER_KEY_ASK from its argument. */
static inline void hauli_glue_poller_begins(struct haul_carrier *c,
	const struct hauli_counter *cycles, uint8_t (*order_of)(const void *arg))
{
	hauli_poller_handles(c);
	hauli_watchdog_cycles(c, cycles);
	hauli_records_admit(c);
	hauli_order_set_key_fn(c, order_of);
}

/* Called by c's poller after its last cycle. */
static inline void hauli_glue_poller_ends(struct haul_carrier *c)
{
	hauli_watchdog_cycles(c, NULL);
}

/* In a simulation: called by c's poller after a cycle without input, if it will not sleep. What it
 * could not send a simulated device takes later, and says so. */
static inline void hauli_glue_only_spins(struct haul_carrier *c)
{
#if HAULI_SIM
	c->poller.only_spins = true;
#endif
}

/* Called by c's poller at the end of each cycle: as haul_maybe_yield(). */
static inline bool hauli_glue_go_on(struct haul_carrier *c, bool had_io)
{
	return hauli_poller_go_on(c, had_io);
}

/* Called by c's poller, where carriers steal, before it works for long itself. Hands on a search
 * that c was sent; c gets no other until the poller parks again. The poller is not parked
 * afterwards. */
static inline void hauli_glue_poller_is_busy(struct haul_carrier *c)
{
	hauli_poller_is_busy(c);
}

/* The time in which c works. c's poller starts this stopwatch when it finds something to do, and
 * stops it before it parks; while it is stopped, the carrier runs it for the time of coroutines. */
static inline struct hauli_stopwatch *hauli_glue_work(struct haul_carrier *c)
{
	return &c->counts.work;
}

/* True if c keeps a timeline. Constant once c runs. */
static inline bool hauli_glue_is_traced(const struct haul_carrier *c)
{
	return c->timeline != NULL;
}

/* The time, for the next. */
static inline uint64_t hauli_glue_trace_now(void)
{
	return hauli_timeline_now();
}

/* Called by c's poller, if c keeps a timeline: a cycle with packets has ended. Times in ticks. */
static inline void hauli_glue_has_polled(
	struct haul_carrier *c, uint64_t began, uint64_t now, uint64_t packets)
{
	hauli_traced_poll_slow(c, began, now, packets);
}

/* Called where haul drops packets. */
void hauli_glue_ask_for_trace(void);
static inline void hauli_glue_has_dropped(void)
{
	if (hauli_unlikely(hauli_u8_shared_get(&hauli_trace_limits.drops)))
		hauli_glue_ask_for_trace();
}

/* Spawns a detached handler. Errors as haul_spawn(). */
static inline int hauli_glue_spawn(haul_fn *fn, void *arg, const struct haul_coro_opts *opts)
{
	return hauli_spawn_own(fn, arg, opts);
}

/* Sets how handlers whose packets are records begin. Errors as hauli_prototype_init(). */
static inline int hauli_glue_prototype_init(struct hauli_prototype *prototype,
	struct haul_carrier *c, haul_fn *fn, void (*drop)(struct hauli_record *record),
	const struct haul_coro_opts *opts)
{
	return hauli_prototype_init(prototype, c, fn, drop, opts);
}

/* Lets the coroutines begin with the caller's entry, which calls hauli_record_body() with a `run`
 * that does what fn does. */
static inline void hauli_glue_set_entry(
	struct hauli_prototype *prototype, void (*entry)(void *pass))
{
	prototype->entry = entry;
}

/* Called by c's poller. As hauli_spawn_records(). */
static inline bool hauli_glue_spawn_records(struct haul_carrier *c,
	const struct hauli_prototype *prototype, void *const objs[], ptrdiff_t at, unsigned n)
{
	return hauli_spawn_records(c, prototype, objs, at, n);
}

/* Called by the poller of a c that does not steal. As hauli_records_are_next(), and then
 * hauli_records_run(). */
static inline bool hauli_glue_records_are_next(
	const struct haul_carrier *c, const struct hauli_prototype *prototype)
{
	return hauli_records_are_next(c, prototype);
}
static inline uint32_t hauli_glue_run_records(struct haul_carrier *c,
	const struct hauli_prototype *prototype, void *const objs[], ptrdiff_t at, uint32_t n)
{
	return hauli_records_run(c, prototype, objs, at, n);
}

/* The first call of a handler, if coroutines of its home may be stolen. */
static inline void hauli_glue_handler_begins(const struct haul_carrier *home)
{
	hauli_order_begins(home);
}

/* Called on c. True if a coroutine of home c that has an order key is stolen, or waits for one. */
static inline bool hauli_glue_any_stolen(const struct haul_carrier *c)
{
	return hauli_order_any_remote(c);
}

/*
 * Called by c's poller. From now on, until hauli_glue_poller_begins(), coroutines of records of c
 * begin cancelled. cancel_some() is called until it returns false, at first with a *chosen whose
 * walks are all zero. It adds the coroutines of home c that have begun and for whose body
 * is_chosen() is true to *sites, and then cancels them: a bounded number in each call.
 */
struct hauli_chosen {
	bool (*is_chosen)(haul_fn *body);
	struct hauli_sites *sites;
	struct hauli_slab_walk looked, cancelled;
	bool all_seen;
};
void hauli_glue_cancel_records(struct haul_carrier *c);
bool hauli_glue_cancel_some(struct haul_carrier *c, struct hauli_chosen *chosen);

#endif
