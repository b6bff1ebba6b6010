/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The inbox: where other threads put things for one owner, who may be asleep. The argument why
 * nothing put there is lost, and why a sleeper is woken exactly once, is in inbox.c.
 */
#ifndef HAULI_CONC_INBOX_H
#define HAULI_CONC_INBOX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cacheline.h"

/* Embedded in what is pushed. The pusher's until pushed, the owner's after that. */
struct hauli_node {
	struct hauli_node *next;
};

struct hauli_inbox {
	HAULI_LINE _Atomic(uintptr_t) head; /* EMPTY, ASLEEP, or the newest node. Any thread */
	_Atomic(uint64_t) calls; /* wake-up calls that have been made. Any thread */
	uint64_t owed; /* sleeps that another thread has ended. Owner */
	bool sleeps; /* between try_sleep and drain. Owner */
};

enum hauli_inbox_state {
	HAULI_INBOX_EMPTY = 0,
	HAULI_INBOX_ASLEEP = 1, /* empty, and the owner waits on the futex */
	HAULI_INBOX_AWAY = 3, /* empty, and the owner waits on something else, which it knows */
};

static inline void hauli_inbox_init(struct hauli_inbox *in)
{
	atomic_init(&in->head, HAULI_INBOX_EMPTY);
	atomic_init(&in->calls, 0);
	in->owed = 0;
	in->sleeps = false;
}

/*
 * Any thread. Puts a list in: newest leads to older ones, up to oldest. ASLEEP or AWAY: the owner
 * was so, and this caller, no other, has to wake it, by hauli_inbox_wake() or by what the owner
 * waits on, and then to call hauli_inbox_called(). EMPTY: it was awake; the caller may not touch
 * the inbox again on account of this push.
 */
static inline enum hauli_inbox_state hauli_inbox_push_all(
	struct hauli_inbox *in, struct hauli_node *newest, struct hauli_node *oldest)
{
	uintptr_t old = atomic_load_explicit(&in->head, memory_order_relaxed /* only a guess */);

	do {
		oldest->next = old <= HAULI_INBOX_AWAY ? NULL : (struct hauli_node *)old;
	} while (!atomic_compare_exchange_weak_explicit(&in->head, &old, (uintptr_t)newest,
		memory_order_acq_rel, /* inbox.E1:R the node's contents; inbox.E2:A how to wake */
		memory_order_relaxed /* a new guess */));
	return old <= HAULI_INBOX_AWAY ? (enum hauli_inbox_state)old : HAULI_INBOX_EMPTY;
}

/* The same with one. */
static inline enum hauli_inbox_state hauli_inbox_push(
	struct hauli_inbox *in, struct hauli_node *node)
{
	return hauli_inbox_push_all(in, node, node);
}

/*
 * Any thread. The same, but only when the owner is ASLEEP or AWAY: then it drains this before it
 * does anything else. EMPTY: it was not, and nothing was pushed.
 */
static inline enum hauli_inbox_state hauli_inbox_push_asleep(
	struct hauli_inbox *in, struct hauli_node *node)
{
	uintptr_t old = atomic_load_explicit(&in->head, memory_order_relaxed /* only a guess */);

	node->next = NULL;
	do {
		if (old != HAULI_INBOX_ASLEEP && old != HAULI_INBOX_AWAY)
			return HAULI_INBOX_EMPTY;
	} while (!atomic_compare_exchange_weak_explicit(&in->head, &old, (uintptr_t)node,
		memory_order_acq_rel, /* inbox.E1:R inbox.E2:A */
		memory_order_relaxed /* a new guess */));
	return (enum hauli_inbox_state)old;
}

/*
 * Any thread. Ends the owner's sleep and puts nothing there: ASLEEP or AWAY as for a push, with the
 * same duties, or EMPTY: it did not sleep.
 */
static inline enum hauli_inbox_state hauli_inbox_rouse(struct hauli_inbox *in)
{
	uintptr_t old = atomic_load_explicit(&in->head, memory_order_relaxed /* only a guess */);

	do {
		if (old != HAULI_INBOX_ASLEEP && old != HAULI_INBOX_AWAY)
			return HAULI_INBOX_EMPTY;
	} while (!atomic_compare_exchange_weak_explicit(&in->head, &old, HAULI_INBOX_EMPTY,
		memory_order_acq_rel, /* inbox.E4:R inbox.E2:A */
		memory_order_relaxed /* a new guess */));
	return (enum hauli_inbox_state)old;
}

/* Owner. Whether there is nothing to take; a hint that may be late by one push. */
static inline bool hauli_inbox_is_empty(const struct hauli_inbox *in)
{
	return atomic_load_explicit(&in->head, memory_order_relaxed /* a hint */) <=
		HAULI_INBOX_AWAY;
}

/* Any thread. Whether there is anything newer than that node, which may not be there. Who has
 * pushed something finds so until it is taken. */
static inline bool hauli_inbox_has_other(
	const struct hauli_inbox *in, const struct hauli_node *node)
{
	uintptr_t head = atomic_load_explicit(&in->head, memory_order_acquire /* inbox.E5:A */);

	return head > HAULI_INBOX_AWAY && head != (uintptr_t)node;
}

/*
 * Any thread but the owner's, while the owner is kept from draining. All that was pushed since the
 * node was put there in this way, or at all, oldest first; the node takes its place, so that the
 * owner finds something, as it was promised. NULL: nothing was, and nothing has changed.
 */
struct hauli_node *hauli_inbox_replace(struct hauli_inbox *in, struct hauli_node *node);

/* Owner. All that was pushed, oldest first, or NULL; the owner is awake after it. */
struct hauli_node *hauli_inbox_drain(struct hauli_inbox *in);

/* Owner, awake. Goes from empty to ASLEEP or AWAY; false when something was pushed. */
bool hauli_inbox_try_sleep(struct hauli_inbox *in, enum hauli_inbox_state how);

/* Owner, after try_sleep (others: a hint): still so, nobody has pushed. */
bool hauli_inbox_is_asleep(const struct hauli_inbox *in);

/*
 * Owner, ASLEEP. Blocks until someone pushes and wakes, or CLOCK_MONOTONIC reaches
 * *until (NULL: for ever), or for no reason. hauli_inbox_drain() must follow.
 */
struct timespec;
void hauli_inbox_wait(struct hauli_inbox *in, const struct timespec *until);

/* The one thread whose push or rouse said ASLEEP: ends hauli_inbox_wait(). */
void hauli_inbox_wake(struct hauli_inbox *in);

/* The same thread, when it has made its call: it touches nothing of the owner's any more. */
static inline void hauli_inbox_called(struct hauli_inbox *in)
{
	atomic_fetch_add_explicit(&in->calls, 1, memory_order_release /* inbox.E3:R */);
}

/* Owner, awake. No call is under way: what wakers use, and the inbox itself, may be taken away. */
static inline bool hauli_inbox_is_settled(const struct hauli_inbox *in)
{
	return atomic_load_explicit(&in->calls, memory_order_acquire /* inbox.E3:A */) == in->owed;
}

/* Any thread. How many wake-up calls have been made. */
static inline uint64_t hauli_inbox_calls(const struct hauli_inbox *in)
{
	return atomic_load_explicit(&in->calls, memory_order_relaxed /* a number only */);
}

#endif
