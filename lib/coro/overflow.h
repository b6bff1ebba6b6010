/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A coroutine that runs over its stack ends the program: first with one line that names it, its
 * stack size and the option to change, then by the signal that it caused. An overrun is a fault in
 * the coroutine's guard, or any fault while the stack pointer is less than 1 MiB below its stack.
 * Every other fault goes to the handler of SIGSEGV or SIGBUS that was installed before. Without one
 * the program ends by the signal, as it does by SIGFPE, SIGILL and SIGABRT. Before each of these
 * ends, a function is called (hauli_overflow_on_crash()).
 */
#ifndef HAULI_CORO_OVERFLOW_H
#define HAULI_CORO_OVERFLOW_H

#include <signal.h>

#include "coro/stack.h"

/* Returns the coroutine that runs on the calling thread, or NULL. Called in a signal handler. */
typedef const struct hauli_co *hauli_running_fn(void);

/*
 * install() watches the stacks of arena; running must be the same for all arenas. 0, or -ENOSPC: 64
 * arenas are watched already. remove() must come before the arena is destroyed; the last one
 * restores the signals' earlier handlers. Any thread.
 */
int hauli_overflow_install(struct hauli_stacks *arena, hauli_running_fn *running);
void hauli_overflow_remove(struct hauli_stacks *arena);

/* The handler calls explain(sig, ucontext), which may print a line, at each fault that is not an
 * overrun. It returns true if it has. A later call replaces explain. Any thread. */
typedef bool hauli_explain_fn(int sig, const void *uc);
void hauli_overflow_explain_others(hauli_explain_fn *explain);

/* In a signal handler, on a thread that has caused sig by a fault, abort() or raise(), and is about
 * to end the program by it. uc: ucontext_t. told: explain() has printed why. */
typedef void hauli_crash_fn(int sig, const siginfo_t *info, const void *uc, bool told);

/* Sets that function. A later call replaces it. Any thread. */
void hauli_overflow_on_crash(hauli_crash_fn *crashes);

/* For each thread that runs coroutines: the alternate stack that the handler runs on, as the
 * faulting one is used up. A thread that has one already keeps it. If there is no memory for it, an
 * overrun ends the program without the line. */
void hauli_overflow_thread_init(void);
void hauli_overflow_thread_fini(void);

#endif
