/* SPDX-License-Identifier: BSD-3-Clause */
#include "sync/waitq.h"

#include "sched/wait/request.h"

#define SERVED_AT_ONCE 64

static inline struct hauli_sync_waiter *waiter_of(struct hauli_waiter *w)
{
	return HAULI_CONTAINER(w, struct hauli_sync_waiter, waiter);
}

void hauli_sync_waiter_enter(
	struct hauli_wait_list *list, struct hauli_sync_waiter *w, struct hauli_sync_first *first)
{
	w->waiter.coro = hauli_here()->current;
	w->first = first;
	w->taken = w->serves_rest = false;
	hauli_wait_list_enter(list, &w->waiter);
}

void hauli_waitq_enter(struct hauli_wait_list *list, struct hauli_sync_wait *w, uint64_t deadline,
	bool cancellable)
{
	hauli_sync_waiter_enter(list, &w->waiter, NULL);
	hauli_block_init(&w->block, w->waiter.waiter.coro, deadline, cancellable);
}

struct hauli_wait_list *hauli_waitq_own_list(struct hauli_waitq *q)
{
	return &q->list;
}

void hauli_waitq_leave(struct hauli_waitq *q, struct hauli_sync_waiter *w)
{
	hauli_wait_list_leave(&q->list, &w->waiter);
}

bool hauli_waitq_leave_if_there(struct hauli_waitq *q, struct hauli_sync_waiter *w,
	void (*leave)(struct hauli_waitq *q, struct hauli_sync_waiter *w))
{
	uint64_t value = hauli_waitq_lock(q);
	bool there = !w->taken;

	if (there)
		leave(q, w);
	hauli_waitq_unlock(q, value);
	return there;
}

int hauli_waitq_wait(struct hauli_waitq *q, struct hauli_sync_wait *w,
	void (*leave)(struct hauli_waitq *q, struct hauli_sync_waiter *w))
{
	int err = hauli_block_wait(&w->block);

	if (hauli_likely(err == 0))
		return w->waiter.result;
	if (hauli_waitq_leave_if_there(q, &w->waiter, leave))
		return err;
	hauli_block_wait_served(&w->block);
	return w->waiter.result;
}

/* True: the caller, which has taken w out of a list, is to serve it. */
static inline bool is_to_serve(struct hauli_sync_waiter *w)
{
	if (hauli_likely(!w->first))
		return true;
	if (!hauli_claim_take(&w->first->claim))
		return false;
	w->first->served = w;
	return true;
}

static inline __attribute__((always_inline)) struct hauli_sync_waiter *take(
	struct hauli_wait_list *list, struct hauli_waiter *waiter, int result)
{
	struct hauli_sync_waiter *w = waiter_of(waiter);

	hauli_wait_list_leave(list, waiter);
	w->taken = true;
	if (!is_to_serve(w))
		return NULL;
	w->result = result;
	return w;
}

struct hauli_sync_waiter *hauli_waitq_take_this(
	struct hauli_wait_list *list, struct hauli_waiter *waiter, int result)
{
	return take(list, waiter, result);
}

struct hauli_sync_waiter *hauli_waitq_take_first(struct hauli_wait_list *list, int result)
{
	struct hauli_sync_waiter *w;

	do
		w = take(list, list->first, result);
	while (!w && list->first);
	return w;
}

void hauli_waitq_serve(struct hauli_sync_waiter *w)
{
	hauli_serve(w->waiter.coro, false);
}

struct hauli_waiter *hauli_waitq_take_some(struct hauli_wait_list *list, int result)
{
	struct hauli_waiter *first = NULL, **end = &first;
	struct hauli_sync_waiter *w;

	for (unsigned n = 1; n <= SERVED_AT_ONCE; n++) {
		w = hauli_waitq_take(list, result);
		if (!w)
			break;
		w->serves_rest = n == SERVED_AT_ONCE;
		*end = &w->waiter;
		end = &w->waiter.next;
	}
	*end = NULL;
	return first;
}

void hauli_waitq_serve_some(struct hauli_waiter *first)
{
	struct hauli_waiter *next;

	for (struct hauli_waiter *w = first; w; w = next) {
		next = w->next;
		hauli_serve(w->coro, true);
	}
}

/* The caller does not know in which of the two lists w is. That matters only for the first and the
 * last of a list, which the list points to. */
void hauli_crowd_leave(struct hauli_waitq *q, struct hauli_sync_waiter *w)
{
	struct hauli_crowd *crowd = (struct hauli_crowd *)q;
	bool goes = crowd->going.first == &w->waiter || crowd->going.last == &w->waiter;

	hauli_wait_list_leave(goes ? &crowd->going : &q->list, &w->waiter);
}

void hauli_crowd_serve_rest(struct hauli_waitq *q)
{
	uint64_t value = hauli_waitq_lock(q);
	struct hauli_waiter *some = hauli_waitq_take_some(&((struct hauli_crowd *)q)->going, 0);

	hauli_waitq_unlock(q, value);
	hauli_waitq_serve_some(some);
}

int hauli_crowd_wait(struct hauli_crowd *crowd, struct hauli_sync_wait *w)
{
	int result = hauli_waitq_wait(&crowd->q, w, hauli_crowd_leave);

	if (hauli_unlikely(w->waiter.serves_rest))
		hauli_crowd_serve_rest(&crowd->q);
	return result;
}

void hauli_crowd_release(struct hauli_crowd *crowd, uint64_t value)
{
	bool idle = !crowd->going.first; /* else a waiter served before serves these */
	struct hauli_waiter *some = NULL;

	hauli_wait_list_append(&crowd->going, &crowd->q.list);
	if (idle)
		some = hauli_waitq_take_some(&crowd->going, 0);
	hauli_waitq_unlock(&crowd->q, value);
	hauli_waitq_serve_some(some);
}
