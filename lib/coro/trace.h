/* SPDX-License-Identifier: BSD-3-Clause */
/* Call stacks: of a suspended context, and of what a signal has interrupted. */
#ifndef HAULI_CORO_TRACE_H
#define HAULI_CORO_TRACE_H

#include <stdio.h>

#include "coro/switch.h"

/* Loads what the unwinder needs. Before a first trace in a signal handler. The first call takes the
 * lock of the process (forks.h). */
void hauli_trace_init(void);

/*
 * The program counters of ctx, which is suspended and stays so, innermost first: addresses inside
 * the calls, so that debug information gives the lines of these. Returns their
 * number, at most `most`; 0 for a context that has not begun. May be called in a signal handler
 * with glibc from 2.35 on; before, the unwinder takes the loader's lock.
 */
unsigned hauli_trace(const struct hauli_ctx *ctx, void **pcs, unsigned most);

/* In a signal handler: the same of what uc, its ucontext_t, has interrupted. Of a throw that was
 * interrupted in the unwinder itself only the place, unless the unwinder is linked statically. */
unsigned hauli_trace_interrupted(const void *uc, void **pcs, unsigned most);

/* True if pc is where each call stack of a coroutine ends. Any context. */
bool hauli_trace_is_start(const void *pc);

/*
 * Leaves out haul's own frames: the innermost ones except the last `keep` of them, and the
 * outermost ones, which call the coroutine's function. is_own: true for an address in haul. If haul
 * is linked statically it is never true, and only the two frames in which a coroutine begins are
 * left out. A stack of own frames only stays as it is.
 */
void hauli_trace_trim(
	void *const **pcs, unsigned *n, unsigned keep, bool (*is_own)(const void *pc));

/* Leaves out haul's own frames at both ends, but the innermost one: that of the public call. */
void hauli_trace_trim_own(void *const **pcs, unsigned *n);

/* The function's name, if the program exports it, with an offset and the file; else an offset for
 * addr2line(1). A name that is too long is cut in the middle. len: at least 64. */
void hauli_trace_place(const void *pc, char *buf, size_t len);

/* A line for each, with the function's name if the program exports it; else an offset for
 * addr2line(1). Of haul's own frames at both ends only that of the public call. */
void hauli_trace_print(void *const *pcs, unsigned n, FILE *out);
/* The same in one line, without its end. */
void hauli_trace_print_line(void *const *pcs, unsigned n, FILE *out);

#endif
