/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A list of coroutines that wait for the same event, the oldest first. Each waiter lies on the
 * stack of its coroutine and is in the list from enter to leave; a waiter may leave from any
 * position. The callers exclude each other: by a lock, or as code of one carrier.
 */
#ifndef HAULI_SCHED_STATE_WAIT_LIST_H
#define HAULI_SCHED_STATE_WAIT_LIST_H

#include <stddef.h>

struct haul_coro;

struct hauli_waiter {
	struct hauli_waiter *next, *prev;
	struct haul_coro *coro;
};

/* All zero: empty. */
struct hauli_wait_list {
	struct hauli_waiter *first, *last;
};

/* Puts w before next, which is in the list; NULL: at the end. */
static inline void hauli_wait_list_enter_before(
	struct hauli_wait_list *list, struct hauli_waiter *w, struct hauli_waiter *next)
{
	w->next = next;
	w->prev = next ? next->prev : list->last;
	*(w->prev ? &w->prev->next : &list->first) = w;
	*(next ? &next->prev : &list->last) = w;
}

static inline void hauli_wait_list_enter(struct hauli_wait_list *list, struct hauli_waiter *w)
{
	hauli_wait_list_enter_before(list, w, NULL);
}

/* Moves all waiters of from to the end of list. */
static inline void hauli_wait_list_append(
	struct hauli_wait_list *list, struct hauli_wait_list *from)
{
	if (!from->first)
		return;
	from->first->prev = list->last;
	*(list->last ? &list->last->next : &list->first) = from->first;
	list->last = from->last;
	from->first = from->last = NULL;
}

static inline void hauli_wait_list_leave(struct hauli_wait_list *list, struct hauli_waiter *w)
{
	*(w->prev ? &w->prev->next : &list->first) = w->next;
	*(w->next ? &w->next->prev : &list->last) = w->prev;
}

#endif
