/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits that end when another coroutine or thread serves them, at a deadline, or by a cancel: by
 * which, the home of the waiting coroutine decides once (block.c). The objects of lib/sync are
 * built on them.
 */
#ifndef HAULI_SCHED_WAIT_BLOCK_H
#define HAULI_SCHED_WAIT_BLOCK_H

#include "sched/state/carrier.h"

/* Values of hauli_block.what for two kinds of objects, known by the address. A mutex begins with a
 * word: the address of the coroutine that holds it, and flags in the lowest bits. A scope, which
 * waits for its children, begins with its extent. */
extern const char hauli_block_mutex[], hauli_block_children[];
#define HAULI_BLOCK_MUTEX_FLAGS UINT64_C(3)

/* Where hauli_block.object is no address, it is a number below this. */
#define HAULI_BLOCK_NUMBERS (1 << 22)

/* A wait; lies on the stack of its coroutine. */
struct hauli_block {
	struct haul_coro *co;
	uint8_t kind; /* HAULI_CORO_BLOCKED, and HAULI_CORO_CANCELLABLE or not */
	/* for a dump: what it waits for, such as "mutex", and which: an object's address, or a
	 * descriptor's number; or NULL */
	const char *what;
	const void *object;
	struct hauli_u32_published served; /* set by the home */
};

/*
 * The running coroutine, on carrier c, begins a public call that may wait. Returns 0; or, if
 * cancellable and it is cancelled, yields and returns -ECANCELED. Ends the program with an error
 * line if it may not suspend.
 */
int hauli_block_check_slow(
	struct haul_carrier *c, struct haul_coro *me, const char *call, bool cancellable);

static inline int hauli_block_check(
	struct haul_carrier *c, struct haul_coro *me, const char *call, bool cancellable)
{
	if (hauli_likely(!hauli_coro_needs_slow_path(me)))
		return 0;
	return hauli_block_check_slow(c, me, call, cancellable);
}

/* Call before a server can find b. The caller sets what and object. deadline: on haul_now()'s
 * clock, or HAUL_FOREVER. */
void hauli_block_init(
	struct hauli_block *b, struct haul_coro *me, uint64_t deadline, bool cancellable);

/* Suspends b's coroutine, the running one, until the wait ends. Returns 0 if it was served,
 * -ETIMEDOUT or -ECANCELED. */
int hauli_block_wait(struct hauli_block *b);

/* For a coroutine whose wait has ended otherwise but that a server has taken out of its list:
 * suspends until the server's request has arrived. So the server may use the coroutine until
 * then. */
void hauli_block_wait_served(struct hauli_block *b);

/* The home, for a co that has come home to block: begins the wait. False: it has ended already. */
bool hauli_block_begin_here(struct haul_carrier *c, struct haul_coro *co);

/* The home: ends the wait of co, which blocks, or is about to. last: co runs after all that are
 * ready. */
void hauli_block_serve_here(struct haul_carrier *c, struct haul_coro *co, bool last);

#endif
