/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Promise: each pushed node is drained once, in the order of its pusher; a push to a sleeping owner
 * makes exactly one thread wake it; and the owner can tell when no waker is at work any more.
 *
 * One word, the head. It is a Treiber stack (R. K. Treiber, "Systems programming: coping with
 * parallelism", IBM RJ 5118, 1986) that is detached whole. No node is popped singly, so there is no
 * ABA problem. "Asleep" is a value of the same word:
 *
 *	state         meaning                         left by
 *	EMPTY         no node; the owner is awake or  push, keep -> node
 *	              about to be woken               try_sleep -> a kind of sleep
 *	node          newest of a list; the owner is  push, replace -> other node
 *	              awake or about to be woken      take -> EMPTY
 *	ASLEEP        no node; the owner waits on     push -> node
 *	              the futex                       take, rouse -> EMPTY
 *	POLLING_WAIT  no node; the owner waits in     push -> node
 *	FDS_WAIT      another way                     take, rouse -> EMPTY
 *
 *	            push, rouse, replace     take, try_sleep, keep
 *	push, ...   CAS: one wins of each    all are read-modify-writes of the one word:
 *	            old value                each sees the other or comes before it
 *	owner       as on the right          the same thread
 *
 * No lost wakeup: try_sleep succeeds only on EMPTY. In the head's modification order a push comes
 * before try_sleep, which then fails, or after it; then the push replaces ASLEEP and returns it.
 * There is no second word, so there is no store-load edge and no fence.
 * One waker: a single read-modify-write replaces ASLEEP, and only its thread has seen it. A rouse
 * is a push of no nodes: the state after it is the same as after a push and its take.
 *
 * A drain takes all nodes and reverses them. An owner with a bound on its work reverses some at a
 * time, and calls keep() while nodes that it took are left: the inbox then holds a node until the
 * owner's next take, since only a take makes it EMPTY. So the owner cannot fall asleep over them,
 * and a look at the state needs no second word. If pushes come before the keep, they have the same
 * effect, and the mark would not be at the bottom, where replace() expects it.
 *
 *	E1  the pusher's writes to the node before the owner's reads: release CAS in push, acquire
 *	    exchange in take. A later push is a read-modify-write of the head, so it keeps the
 *	    release sequences of the earlier ones. A thief reads as the owner does: acquire CAS
 *	    in replace; and its own node is published as a pusher's: release.
 *	E2  the owner's choice of its wait before the waker's use of it: release CAS in
 *	    try_sleep, acquire CAS in push and rouse.
 *	E3  the waker's last access to the inbox, and to the wakeup, before the owner frees
 *	    them: release in called, acquire in is_quiesced. The owner counts the calls it must wait
 *	    for: if the take that ends a sleep finds no kind of sleep, another thread has ended the
 *	    sleep and will call.
 *	E4  the rouser's writes before the code after the take: release in rouse, acquire in take.
 *	E5  a thief's writes before it takes the mail, before the reads of a thread that
 *	    finds the thief's node there: release in replace, acquire in has_other.
 *	E6  what the owner did before it fell asleep, before the reads of a thread that finds it
 *	    asleep: release in try_sleep, acquire in has_slept (sched/look/quiet.c).
 *
 * The wait: the kernel compares the low half of the head with ASLEEP under the futex's lock, and a
 * pusher changes the head before it calls wake, so a push between try_sleep and the wait makes
 * the wait return at once. The low half of a node's address is never 1, as nodes are aligned.
 *
 * Model: tests/model/inbox.c, quiesce.c, carrier_end.c, fds_wait.c; of rouse: injector.c; of
 * replace: detached.c, detached_hogged.c; of keep: detached_rest.c. Stress: tests/stress/inbox.c.
 */
#include "conc/inbox.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the futex is the head's low half");
_Static_assert(sizeof(uintptr_t) == 8, "the head is a 64-bit word");

bool hauli_reverse(struct hauli_reversal *r, const struct hauli_node *end, unsigned most)
{
	struct hauli_node *node = r->left;

	for (; node && node != end && most > 0; most--) {
		struct hauli_node *older = node->next;

		node->next = r->oldest;
		r->oldest = node;
		if (!r->newest)
			r->newest = node;
		node = older;
	}
	r->left = node == end ? NULL : node;
	return !r->left;
}

struct hauli_node *hauli_inbox_take(struct hauli_inbox *in)
{
	uintptr_t head = atomic_exchange_explicit(
		&in->head, HAULI_INBOX_EMPTY, memory_order_acquire /* inbox.E1:A inbox.E4:A */);

	in->owed += in->sleeps && !hauli_inbox_state_sleeps(head);
	in->sleeps = false;
	return head <= HAULI_INBOX_STATES ? NULL : (struct hauli_node *)head;
}

struct hauli_node *hauli_inbox_drain(struct hauli_inbox *in)
{
	struct hauli_reversal all = {.left = hauli_inbox_take(in)};

	(void)hauli_reverse(&all, NULL, UINT_MAX);
	return all.oldest;
}

void hauli_inbox_keep(struct hauli_inbox *in, struct hauli_node *mark)
{
	uintptr_t empty = HAULI_INBOX_EMPTY;

	mark->next = NULL;
	atomic_compare_exchange_strong_explicit(&in->head, &empty, (uintptr_t)mark,
		memory_order_relaxed /* publishes nothing */,
		memory_order_relaxed /* nodes are there */);
}

void hauli_inbox_was_woken(struct hauli_inbox *in)
{
	in->owed += in->sleeps;
	in->sleeps = false;
}

struct hauli_node *hauli_inbox_replace(struct hauli_inbox *in, struct hauli_node *mark)
{
	uintptr_t head = atomic_load_explicit(&in->head, memory_order_relaxed /* only a guess */);

	mark->next = NULL; /* as it is if the mark is there already: it is the oldest */
	/* A kind of sleep stays: it is the owner's. */
	while (head > HAULI_INBOX_STATES && head != (uintptr_t)mark)
		if (atomic_compare_exchange_weak_explicit(&in->head, &head, (uintptr_t)mark,
			    memory_order_acq_rel, /* inbox.E1 inbox.E5:R */
			    memory_order_relaxed /* a new guess */))
			return (struct hauli_node *)head;
	return NULL;
}

bool hauli_inbox_try_sleep(struct hauli_inbox *in, enum hauli_inbox_state how)
{
	uintptr_t empty = HAULI_INBOX_EMPTY;

	in->sleeps = atomic_compare_exchange_strong_explicit(&in->head, &empty, how,
		memory_order_release /* inbox.E2:R inbox.E6:R */,
		memory_order_relaxed /* drain follows */);
	return in->sleeps;
}

bool hauli_inbox_is_asleep(const struct hauli_inbox *in)
{
	uintptr_t head =
		atomic_load_explicit(&in->head, memory_order_relaxed /* the waiter loops */);

	return hauli_inbox_state_sleeps(head);
}

bool hauli_inbox_has_slept(const struct hauli_inbox *in)
{
	return atomic_load_explicit(&in->head, memory_order_acquire /* inbox.E6:A */) ==
		HAULI_INBOX_ASLEEP;
}

void hauli_inbox_wait(struct hauli_inbox *in, const struct timespec *until)
{
	syscall(SYS_futex, &in->head, FUTEX_WAIT_BITSET_PRIVATE, HAULI_INBOX_ASLEEP, until, NULL,
		FUTEX_BITSET_MATCH_ANY);
}

void hauli_inbox_wake(struct hauli_inbox *in)
{
	syscall(SYS_futex, &in->head, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}
