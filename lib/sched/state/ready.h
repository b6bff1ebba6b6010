/* SPDX-License-Identifier: BSD-3-Clause */
/* Coroutines that become ready, at their home. */
#ifndef HAULI_SCHED_STATE_READY_H
#define HAULI_SCHED_STATE_READY_H

#include "sched/state/carrier.h"

/* Owner. Queues a ready coroutine of this home behind all others. */
static inline void hauli_queue(struct haul_carrier *c, struct haul_coro *co)
{
	if (hauli_likely(hauli_coro_queues(co)))
		hauli_runq_push(&c->runq, hauli_entry_of_begun(co));
	else
		hauli_coro_ready_slow(c, co, hauli_runq_push);
}

/* Owner. Queues a coroutine of this home that is ready and has no stack, behind all others. Does
 * nothing for a poller or a stolen coroutine. */
static inline void hauli_queue_new(struct haul_carrier *c, struct haul_coro *co)
{
	struct hauli_entry *entry = hauli_entry_of(&co->record);

	if (hauli_likely(hauli_coro_queues(co)))
		hauli_runq_push(&c->runq, entry);
	else if (hauli_coro_is_kept(co))
		hauli_runq_push_pinned(&c->runq, entry, hauli_runq_push);
}

/* The functions below, for a carrier with a timeline. A call at their end, so that without one they
 * save no registers. */
void hauli_ready_traced(struct haul_carrier *c, struct haul_coro *co, hauli_runq_push_fn *push);
void hauli_ready_expired_traced(
	struct haul_carrier *c, struct haul_coro *co, hauli_runq_push_fn *push);

/* Owner. Makes a coroutine of this home ready, to run after all others. */
static inline void hauli_ready(struct haul_carrier *c, struct haul_coro *co)
{
	if (hauli_unlikely(c->timeline != NULL)) {
		hauli_ready_traced(c, co, hauli_runq_push);
		return;
	}
	hauli_coro_set_state(co, HAULI_CORO_READY);
	hauli_queue(c, co);
}

/* The same, of one whose timer has expired. */
static inline void hauli_ready_expired(struct haul_carrier *c, struct haul_coro *co)
{
	if (hauli_unlikely(c->timeline != NULL)) {
		hauli_ready_expired_traced(c, co, hauli_runq_push);
		return;
	}
	hauli_coro_set_state(co, HAULI_CORO_READY);
	hauli_queue(c, co);
}

/* As hauli_ready(), into the LIFO slot (hauli_runq_push_lifo()): the waker is likely to wait for
 * this coroutine, and their shared data is in the cache. */
static inline void hauli_ready_soon(struct haul_carrier *c, struct haul_coro *co)
{
	if (hauli_unlikely(c->timeline != NULL)) {
		hauli_ready_traced(c, co, hauli_runq_push_lifo);
		return;
	}
	hauli_coro_set_state(co, HAULI_CORO_READY);
	if (hauli_likely(hauli_coro_queues(co)))
		hauli_runq_push_lifo(&c->runq, hauli_entry_of_begun(co));
	else
		hauli_coro_ready_slow(c, co, hauli_runq_push_lifo);
}

/* The same, to the front in every case: the coroutine continues work that it began before the
 * others. */
static inline void hauli_ready_first(struct haul_carrier *c, struct haul_coro *co)
{
	if (hauli_unlikely(c->timeline != NULL)) {
		hauli_ready_traced(c, co, hauli_runq_push_first);
		return;
	}
	hauli_coro_set_state(co, HAULI_CORO_READY);
	if (hauli_likely(hauli_coro_queues(co)))
		hauli_runq_push_first(&c->runq, hauli_entry_of_begun(co));
	else
		hauli_coro_ready_slow(c, co, hauli_runq_push_first);
}

#endif
