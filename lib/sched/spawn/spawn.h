/* SPDX-License-Identifier: BSD-3-Clause */
/* Spawning: the check of arguments, and spawns on a carrier from another thread. */
#ifndef HAULI_SCHED_SPAWN_SPAWN_H
#define HAULI_SCHED_SPAWN_SPAWN_H

#include "sched/state/carrier.h"

struct haul_runtime;

struct hauli_spawn {
	struct haul_carrier *carrier;
	struct haul_coro **out;
	haul_fn *fn;
	void *arg;
	const struct haul_coro_opts *opts;
	bool poller; /* the caller holds the carrier's poller lock */
};

/* True if opts are valid; the stack size is checked later. */
static inline bool hauli_spawn_may(const struct haul_coro_opts *opts)
{
	return hauli_likely(!opts) || opts->order_key <= HAUL_ORDER_KEYS;
}

/* A detached haul_spawn() for haul itself: the order key may be HAULI_ORDER_KEY_ASK. */
int hauli_spawn_own(haul_fn *fn, void *arg, const struct haul_coro_opts *opts);

/* As haul_spawn(), for a coroutine at home that is likely to wait for the new one next. The new one
 * goes into the LIFO slot, so it begins as soon as the caller waits. */
int hauli_spawn_next(
	struct haul_coro **co, haul_fn *fn, void *arg, const struct haul_coro_opts *opts);

/* The stack class for the stack size in opts, or -EINVAL. */
int hauli_spawn_stack_class(const struct haul_runtime *rt, const struct haul_coro_opts *opts);

/* Makes a free object a ready coroutine that has no home and no stack yet. cls: its stack class. */
void hauli_spawn_set_up(struct haul_runtime *rt, struct haul_coro *co, unsigned cls, haul_fn *fn,
	void *arg, const struct haul_coro_opts *opts, bool detached);

/* Any thread. Errors as haul_spawn_on(). */
int hauli_spawn_by_mail(const struct hauli_spawn *how);

#endif
