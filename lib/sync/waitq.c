/* SPDX-License-Identifier: BSD-3-Clause */
#include "sync/waitq.h"

#include "sched/serve.h"

#define SERVED_AT_ONCE 64

void hauli_waitq_enter(struct hauli_wait_list *list, struct hauli_sync_wait *w, uint64_t deadline,
	bool cancellable)
{
	struct haul_coro *me = hauli_here()->current;

	w->waiter = (struct hauli_waiter){.coro = me};
	w->served = w->goes_on = false;
	hauli_block_init(&w->block, me, deadline, cancellable);
	hauli_wait_list_enter(list, &w->waiter);
}

void hauli_waitq_leave(struct hauli_waitq *q, struct hauli_sync_wait *w)
{
	hauli_wait_list_leave(&q->list, &w->waiter);
}

/* True: left; false: a server has taken w. */
static bool leave_if_there(struct hauli_waitq *q, struct hauli_sync_wait *w,
	void (*leave)(struct hauli_waitq *q, struct hauli_sync_wait *w))
{
	uint64_t value = hauli_waitq_lock(q);
	bool there = !w->served;

	if (there)
		leave(q, w);
	hauli_waitq_unlock(q, value);
	return there;
}

int hauli_waitq_wait(struct hauli_waitq *q, struct hauli_sync_wait *w,
	void (*leave)(struct hauli_waitq *q, struct hauli_sync_wait *w))
{
	enum hauli_block_end end = hauli_block_wait(&w->block);

	if (hauli_likely(end == HAULI_BLOCK_SERVED))
		return w->result;
	if (leave_if_there(q, w, leave))
		return end == HAULI_BLOCK_EXPIRED ? -ETIMEDOUT : -ECANCELED;
	hauli_block_wait_served(&w->block);
	return w->result;
}

struct hauli_sync_wait *hauli_waitq_take_first(struct hauli_wait_list *list, int result)
{
	struct hauli_sync_wait *w = hauli_sync_wait_of(list->first);

	hauli_wait_list_leave(list, &w->waiter);
	w->served = true;
	w->result = result;
	return w;
}

void hauli_waitq_serve(struct hauli_sync_wait *w)
{
	hauli_serve(w->waiter.coro, false);
}

struct hauli_waiter *hauli_waitq_take_some(struct hauli_wait_list *list, int result)
{
	struct hauli_waiter *first = NULL, **end = &first;
	struct hauli_sync_wait *w;

	for (unsigned n = 1; n <= SERVED_AT_ONCE; n++) {
		w = hauli_waitq_take(list, result);
		if (!w)
			break;
		w->goes_on = n == SERVED_AT_ONCE;
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

/* A waiter does not know in which of the two lists it is: only an end of a list does. */
static void leave_crowd(struct hauli_waitq *q, struct hauli_sync_wait *w)
{
	struct hauli_crowd *crowd = (struct hauli_crowd *)q;
	bool goes = crowd->going.first == &w->waiter || crowd->going.last == &w->waiter;

	hauli_wait_list_leave(goes ? &crowd->going : &q->list, &w->waiter);
}

int hauli_crowd_wait(struct hauli_crowd *crowd, struct hauli_sync_wait *w)
{
	int result = hauli_waitq_wait(&crowd->q, w, leave_crowd);

	if (hauli_unlikely(w->goes_on)) {
		uint64_t value = hauli_waitq_lock(&crowd->q);
		struct hauli_waiter *some = hauli_waitq_take_some(&crowd->going, 0);

		hauli_waitq_unlock(&crowd->q, value);
		hauli_waitq_serve_some(some);
	}
	return result;
}

void hauli_crowd_release(struct hauli_crowd *crowd, uint64_t value)
{
	bool idle = !crowd->going.first; /* else one of the served goes on */
	struct hauli_waiter *some = NULL;

	hauli_wait_list_append(&crowd->going, &crowd->q.list);
	if (idle)
		some = hauli_waitq_take_some(&crowd->going, 0);
	hauli_waitq_unlock(&crowd->q, value);
	hauli_waitq_serve_some(some);
}
