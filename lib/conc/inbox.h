/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The inbox: other threads push nodes to one owner, which may be asleep. The argument why no node
 * is lost, and why a sleeping owner is woken exactly once, is in inbox.c.
 */
#ifndef HAULI_CONC_INBOX_H
#define HAULI_CONC_INBOX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cacheline.h"

/* Embedded in a message. It belongs to the pusher before the push, to the owner after it. */
struct hauli_node {
	struct hauli_node *next;
};

struct hauli_inbox {
	/* EMPTY, a kind of sleep, or newest node. Any thread */
	HAULI_LINE _Atomic(uintptr_t) head;
	_Atomic(uint64_t) calls; /* wakers that are done with the inbox. Any thread */
	uint64_t owed; /* sleeps that other threads have ended. Owner */
	bool sleeps; /* true between try_sleep and take. Owner */
};

enum hauli_inbox_state {
	HAULI_INBOX_EMPTY = 0,
	HAULI_INBOX_ASLEEP = 1, /* empty, and the owner waits on the futex */
	/* empty, and the owner's poller waits on something else, of its choice */
	HAULI_INBOX_POLLING_WAIT = 3,
	/* empty, and the owner waits for the kernel, too (lib/fd) */
	HAULI_INBOX_FDS_WAIT = 5,
	HAULI_INBOX_STATES = HAULI_INBOX_FDS_WAIT, /* the last; a node's address is greater */
};

/* True if a value of the head is a kind of sleep. */
static inline bool hauli_inbox_state_sleeps(uintptr_t head)
{
	return head != HAULI_INBOX_EMPTY && head <= HAULI_INBOX_STATES;
}

static inline void hauli_inbox_init(struct hauli_inbox *in)
{
	atomic_init(&in->head, HAULI_INBOX_EMPTY);
	atomic_init(&in->calls, 0);
	in->owed = 0;
	in->sleeps = false;
}

/*
 * Any thread. Pushes a list, linked from newest to oldest. Returns the state of the owner before.
 * A kind of sleep: this caller, and no other, must wake the owner, by hauli_inbox_wake() or as the
 * owner's wait demands, and then call hauli_inbox_called(). EMPTY: the owner was awake; this
 * push gives the caller no right to touch the inbox again.
 */
static inline enum hauli_inbox_state hauli_inbox_push_all(
	struct hauli_inbox *in, struct hauli_node *newest, struct hauli_node *oldest)
{
	uintptr_t old = atomic_load_explicit(&in->head, memory_order_relaxed /* only a guess */);

	do {
		oldest->next = old <= HAULI_INBOX_STATES ? NULL : (struct hauli_node *)old;
	} while (!atomic_compare_exchange_weak_explicit(&in->head, &old, (uintptr_t)newest,
		memory_order_acq_rel, /* inbox.E1:R the node's contents; inbox.E2:A how to wake */
		memory_order_relaxed /* a new guess */));
	return old <= HAULI_INBOX_STATES ? (enum hauli_inbox_state)old : HAULI_INBOX_EMPTY;
}

/* The same with a single node. */
static inline enum hauli_inbox_state hauli_inbox_push(
	struct hauli_inbox *in, struct hauli_node *node)
{
	return hauli_inbox_push_all(in, node, node);
}

/*
 * Any thread. Pushes only if the owner sleeps: the owner then drains the node
 * before it does anything else. EMPTY: the owner was awake, and nothing was pushed.
 */
static inline enum hauli_inbox_state hauli_inbox_push_asleep(
	struct hauli_inbox *in, struct hauli_node *node)
{
	uintptr_t old = atomic_load_explicit(&in->head, memory_order_relaxed /* only a guess */);

	node->next = NULL;
	do {
		if (!hauli_inbox_state_sleeps(old))
			return HAULI_INBOX_EMPTY;
	} while (!atomic_compare_exchange_weak_explicit(&in->head, &old, (uintptr_t)node,
		memory_order_acq_rel, /* inbox.E1:R inbox.E2:A */
		memory_order_relaxed /* a new guess */));
	return (enum hauli_inbox_state)old;
}

/*
 * Any thread. Ends the owner's sleep without a node. A kind of sleep: as for a push, with
 * the same duties. EMPTY: the owner did not sleep.
 */
static inline enum hauli_inbox_state hauli_inbox_rouse(struct hauli_inbox *in)
{
	uintptr_t old = atomic_load_explicit(&in->head, memory_order_relaxed /* only a guess */);

	do {
		if (!hauli_inbox_state_sleeps(old))
			return HAULI_INBOX_EMPTY;
	} while (!atomic_compare_exchange_weak_explicit(&in->head, &old, HAULI_INBOX_EMPTY,
		memory_order_acq_rel, /* inbox.E4:R inbox.E2:A */
		memory_order_relaxed /* a new guess */));
	return (enum hauli_inbox_state)old;
}

/* Owner. True: there is nothing to drain. A hint: it may miss a push that is under way. */
static inline bool hauli_inbox_is_empty(const struct hauli_inbox *in)
{
	return atomic_load_explicit(&in->head, memory_order_relaxed /* a hint */) <=
		HAULI_INBOX_STATES;
}

/* Any thread. True: the newest entry is a node other than `node`, which may not be in the inbox.
 * A thread that has pushed a newer node gets true until that is drained or replaced. */
static inline bool hauli_inbox_has_other(
	const struct hauli_inbox *in, const struct hauli_node *node)
{
	uintptr_t head = atomic_load_explicit(&in->head, memory_order_acquire /* inbox.E5:A */);

	return head > HAULI_INBOX_STATES && head != (uintptr_t)node;
}

/* Nodes taken out of an inbox, newest first, while they are brought into the order of their pushes.
 * All zero: none. */
struct hauli_reversal {
	struct hauli_node *left; /* newest first, still to be reversed */
	/* reversed so far; linked from the oldest to the newest */
	struct hauli_node *oldest, *newest;
};

/* Reverses at most `most` nodes of r, up to the end of the list or to `end`, which is left out.
 * True: none are left. */
bool hauli_reverse(struct hauli_reversal *r, const struct hauli_node *end, unsigned most);

/*
 * Any thread but the owner's, while the owner is kept from taking. Takes all nodes pushed since the
 * mark was put there, or ever, newest first up to the mark or NULL. The mark takes their place: the
 * pushers count on the owner to find a node there. NULL: no node was pushed, and nothing has
 * changed.
 */
struct hauli_node *hauli_inbox_replace(struct hauli_inbox *in, struct hauli_node *mark);

/* Owner. Takes all nodes, newest first, up to the mark if one was put there, or NULL. The owner is
 * awake after it. */
struct hauli_node *hauli_inbox_take(struct hauli_inbox *in);

/* The same, oldest first; for an inbox without a mark. */
struct hauli_node *hauli_inbox_drain(struct hauli_inbox *in);

/* Owner, awake, while it has nodes left that it took: puts the mark there unless there are nodes.
 * So the inbox is not empty until the next take. */
void hauli_inbox_keep(struct hauli_inbox *in, struct hauli_node *mark);

/* Owner, while the mark or a node is in the inbox: if the owner was asleep, another thread has
 * ended its sleep. The owner is awake after this call. */
void hauli_inbox_was_woken(struct hauli_inbox *in);

/* Owner, awake. Goes from EMPTY to `how`, a kind of sleep. False: a node was pushed. */
bool hauli_inbox_try_sleep(struct hauli_inbox *in, enum hauli_inbox_state how);

/* Owner, after try_sleep: true until a thread pushes or rouses. A hint for other threads. */
bool hauli_inbox_is_asleep(const struct hauli_inbox *in);

/* Any thread. True: the owner is ASLEEP, and what it wrote before is seen. */
bool hauli_inbox_has_slept(const struct hauli_inbox *in);

/*
 * Owner, ASLEEP. Blocks until a waker calls hauli_inbox_wake() or CLOCK_MONOTONIC reaches *until
 * (NULL: no limit); it may also return for no reason. The owner must drain after it.
 */
struct timespec;
void hauli_inbox_wait(struct hauli_inbox *in, const struct timespec *until);

/* The thread whose push or rouse returned ASLEEP. Ends hauli_inbox_wait(). */
void hauli_inbox_wake(struct hauli_inbox *in);

/* The same thread after its wake-up call: its last access to anything of the owner. */
static inline void hauli_inbox_called(struct hauli_inbox *in)
{
	atomic_fetch_add_explicit(&in->calls, 1, memory_order_release /* inbox.E3:R */);
}

/* Owner, awake. True: no waker is at work; what wakers use, and the inbox, may be freed. */
static inline bool hauli_inbox_is_quiesced(const struct hauli_inbox *in)
{
	return atomic_load_explicit(&in->calls, memory_order_acquire /* inbox.E3:A */) == in->owed;
}

/* Any thread. The number of wake-up calls so far. */
static inline uint64_t hauli_inbox_calls(const struct hauli_inbox *in)
{
	return atomic_load_explicit(&in->calls, memory_order_relaxed /* a number only */);
}

#endif
