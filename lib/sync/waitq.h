/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part that all objects of haul/sync.h share: a word with the object's value and the lock of a
 * list of waiters, first come, first served. Any thread. The argument is in sched/wait/block.c.
 */
#ifndef HAULI_SYNC_WAITQ_H
#define HAULI_SYNC_WAITQ_H

#include <errno.h>

#include <haul/sync.h>

#include "conc/lockword.h"
#include "sched/state/self.h"
#include "sched/state/wait_list.h"
#include "sched/wait/block.h"

/* Bit 0 of the word is the lock. */
#define HAULI_WAITQ_WAITERS UINT64_C(2) /* the list is not empty */
#define HAULI_WAITQ_UNIT UINT64_C(4) /* the object's value: multiples of this */

/* All zero: no waiters, value 0. */
struct hauli_waitq {
	struct hauli_lockword word;
	struct hauli_wait_list list; /* under the lock */
} __attribute__((may_alias)); /* lies in the public structs */

_Static_assert(sizeof(struct hauli_waitq) == sizeof(struct haul_mutex) &&
		sizeof(struct hauli_waitq) == sizeof(struct haul_sem),
	"what haul/sync.h reserves");

struct hauli_sync_waiter;

/* What the waits of a coroutine that waits for the first of several share (select.c). */
struct hauli_sync_first {
	struct hauli_claim claim; /* the server that takes it serves the coroutine */
	struct hauli_sync_waiter *served; /* written by that server */
};

/* What a server sees of a wait. */
struct hauli_sync_waiter {
	struct hauli_waiter waiter;
	struct hauli_sync_first *first; /* NULL: its coroutine waits for nothing else */
	void *value; /* channel: where the value is, or goes */
	int result; /* written by the server: what the call returns */
	bool taken; /* written by the server: it is in no list any more */
	bool serves_rest; /* written by the server: the coroutine serves more (serve_some()) */
};

/* A wait for one object. Lies on the stack of its coroutine. */
struct hauli_sync_wait {
	struct hauli_sync_waiter waiter;
	struct hauli_handoff handoff; /* for a mutex: it may spin before it suspends */
	struct hauli_block block;
};

/* The value, without the bits of the queue. */
static inline uint64_t hauli_waitq_value(uint64_t word)
{
	return word & ~(HAULI_WAITQ_UNIT - 1);
}

static inline uint64_t hauli_waitq_lock(struct hauli_waitq *q)
{
	return hauli_waitq_value(hauli_lockword_lock(&q->word));
}

/* Unlocks, with this value. */
static inline void hauli_waitq_unlock(struct hauli_waitq *q, uint64_t value)
{
	hauli_lockword_unlock(&q->word, value | (q->list.first ? HAULI_WAITQ_WAITERS : 0));
}

/* The running coroutine begins a call that waits, unless its deadline is 0. Errors as
 * hauli_block_check(). */
static inline int hauli_waitq_check(
	struct haul_carrier *c, struct haul_coro *me, const char *call, uint64_t deadline)
{
	return hauli_unlikely(deadline == 0) ? 0 : hauli_block_check(c, me, call, true);
}

/* Under the lock: puts w, of the running coroutine, at the end of a list. */
void hauli_sync_waiter_enter(
	struct hauli_wait_list *list, struct hauli_sync_waiter *w, struct hauli_sync_first *first);

/* The same, and sets up its block. */
void hauli_waitq_enter(struct hauli_wait_list *list, struct hauli_sync_wait *w, uint64_t deadline,
	bool cancellable);

/* After that: for a dump, what w waits for. */
static inline void hauli_waitq_is_for(
	struct hauli_sync_wait *w, const char *what, const void *object)
{
	w->block.what = what;
	w->block.object = object;
}

/*
 * Suspends the running coroutine, which has entered a list, until it is served, or until
 * leave(object, w), called under the lock of q, has taken it out after its deadline or cancel.
 * Returns the server's result, -ETIMEDOUT or -ECANCELED.
 */
int hauli_waitq_wait(struct hauli_waitq *q, struct hauli_sync_wait *w,
	void (*leave)(struct hauli_waitq *q, struct hauli_sync_waiter *w));

/* q's own list, and leave() for waiters there. */
struct hauli_wait_list *hauli_waitq_own_list(struct hauli_waitq *q);
void hauli_waitq_leave(struct hauli_waitq *q, struct hauli_sync_waiter *w);

/* Locks q, and calls leave() if no server has taken w out of the list. True: it was called. */
bool hauli_waitq_leave_if_there(struct hauli_waitq *q, struct hauli_sync_waiter *w,
	void (*leave)(struct hauli_waitq *q, struct hauli_sync_waiter *w));

/* Under the lock: takes this waiter out of the list. Returns it if the caller is to serve it; NULL:
 * another server does, or has. */
struct hauli_sync_waiter *hauli_waitq_take_this(
	struct hauli_wait_list *list, struct hauli_waiter *waiter, int result);

/* hauli_waitq_take() with a list that is not empty. */
struct hauli_sync_waiter *hauli_waitq_take_first(struct hauli_wait_list *list, int result);

/* Under the lock: takes the first that still waits out of the list; NULL: there is none. The caller
 * releases the lock, and then serves it: a wake-up is a system call. */
static inline struct hauli_sync_waiter *hauli_waitq_take(struct hauli_wait_list *list, int result)
{
	return list->first ? hauli_waitq_take_first(list, result) : NULL;
}

/* Without the lock: ends the wait of w, which may be gone on return. So may the object of the list,
 * if w was its last user. */
void hauli_waitq_serve(struct hauli_sync_waiter *w);

/*
 * The same with at most 64 of a list. The last of them serves the rest when it runs, so that many
 * waiters do not keep a carrier from its poller.
 */
struct hauli_waiter *hauli_waitq_take_some(struct hauli_wait_list *list, int result);
void hauli_waitq_serve_some(struct hauli_waiter *first);

/* An object whose waiters are all served at once. All zero: no waiters. */
struct hauli_crowd {
	struct hauli_waitq q;
	struct hauli_wait_list going; /* released, but not served yet */
} __attribute__((may_alias));

_Static_assert(sizeof(struct hauli_crowd) == sizeof(struct haul_cond) &&
		sizeof(struct hauli_crowd) == sizeof(struct haul_event),
	"what haul/sync.h reserves");

/* Waits in crowd until it is released, as hauli_waitq_wait(). The caller has entered q's list. */
int hauli_crowd_wait(struct hauli_crowd *crowd, struct hauli_sync_wait *w);

/* As leave() above, for those that wait in a crowd. */
void hauli_crowd_leave(struct hauli_waitq *q, struct hauli_sync_waiter *w);

/* The running coroutine was served, and serves the rest (hauli_waitq_serve_some()). */
void hauli_crowd_serve_rest(struct hauli_waitq *q);

/* Serves all that wait now, and unlocks with this value. The caller has the lock. */
void hauli_crowd_release(struct hauli_crowd *crowd, uint64_t value);

#endif
