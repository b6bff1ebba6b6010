/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A coroutine that runs over its stack ends the program with one line that names it, its stack
 * size and the option to change, and then by the signal that it caused: when it touches its guard,
 * or anything else that must not be touched with a stack pointer that has left its stack by less
 * than 1 MiB. Every other fault goes to whoever handled SIGSEGV and SIGBUS before.
 */
#ifndef HAULI_CORO_OVERFLOW_H
#define HAULI_CORO_OVERFLOW_H

#include "coro/stack.h"

/* The coroutine that runs on the calling thread, or NULL. Called in a signal handler. */
typedef const struct hauli_co *hauli_running_fn(void);

/*
 * Watches the stacks of arena; running is the same for all. Any thread. 0, or -ENOSPC when too many
 * are watched already. remove comes before the arena is destroyed; the last one gives the signals
 * back.
 */
int hauli_overflow_install(struct hauli_stacks *arena, hauli_running_fn *running);
void hauli_overflow_remove(struct hauli_stacks *arena);

/* True if co, which may be any address, is the head of a slot of a watched arena. Any thread. */
bool hauli_overflow_watches(const struct hauli_co *co);

/* explain(sig, ucontext) is called at every other fault of the program's own, in the handler, and
 * may print a line. Any thread; the last one counts. */
void hauli_overflow_explain_others(void (*explain)(int sig, const void *uc));

/* The stack that the handler runs on, as the faulting one is used up: for the calling thread, which
 * switches to coroutines. A thread that has one already keeps it. Without memory for one an
 * overflow ends the program all the same, only without the line. */
void hauli_overflow_thread_init(void);
void hauli_overflow_thread_fini(void);

#endif
