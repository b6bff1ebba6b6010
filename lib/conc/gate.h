/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A gate: threads pass while it is open; the thread that closes it can wait until none is inside.
 *
 * Promise: when is_quiet() returns true after close(), no thread is inside, and none will be.
 *
 * One word: twice the number of threads inside, plus the bit "closed". enter adds 2 and tests the
 * old value; close sets the bit. Both are read-modify-writes of one word: an enter before the close
 * is counted, and an enter after it sees the bit and backs out.
 *
 *	E1  a thread's accesses inside, before the code after is_quiet() or is_empty(): release in
 *	    leave, acquire in these. All later accesses are read-modify-writes, which keep the
 *	    release sequence.
 *	E2  what the thread that closed the gate has done before it opens it again, before the
 *	    accesses inside: release in open, acquire in enter.
 *
 * Model: tests/model/gate.c, gate_again.c. Stress: tests/stress/runtime.c.
 */
#ifndef HAULI_CONC_GATE_H
#define HAULI_CONC_GATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct hauli_gate {
	_Atomic uint64_t word; /* any thread */
};

static inline void hauli_gate_init(struct hauli_gate *g)
{
	atomic_init(&g->word, 0);
}

static inline void hauli_gate_leave(struct hauli_gate *g)
{
	atomic_fetch_sub_explicit(&g->word, 2, memory_order_release /* gate.E1:R */);
}

/* False: the gate is closed. After true the caller must call hauli_gate_leave(). */
static inline bool hauli_gate_enter(struct hauli_gate *g)
{
	uint64_t old = atomic_fetch_add_explicit(&g->word, 2, memory_order_acquire /* gate.E2:A */);

	if (!(old & 1))
		return true;
	hauli_gate_leave(g);
	return false;
}

static inline void hauli_gate_close(struct hauli_gate *g)
{
	atomic_fetch_or_explicit(&g->word, 1, memory_order_relaxed /* is_quiet orders */);
}

static inline bool hauli_gate_is_quiet(const struct hauli_gate *g)
{
	return atomic_load_explicit(&g->word, memory_order_acquire /* gate.E1:A */) == 1;
}

/* By the thread that has closed it, when it is quiet. */
static inline void hauli_gate_open(struct hauli_gate *g)
{
	/* not a store: a thread that was refused may be about to back out */
	atomic_fetch_and_explicit(&g->word, ~UINT64_C(1), memory_order_release /* gate.E2:R */);
}

/* True if no thread is inside, of a gate that stays open: others may enter at any time. */
static inline bool hauli_gate_is_empty(const struct hauli_gate *g)
{
	return atomic_load_explicit(&g->word, memory_order_acquire /* gate.E1:A */) == 0;
}

#endif
