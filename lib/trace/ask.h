/* SPDX-License-Identifier: BSD-3-Clause */
/* What asks for a file of the timelines: limits that carriers look at, and the semaphore of the
 * thread that writes the file (look/trace_files.c). */
#ifndef HAULI_TRACE_ASK_H
#define HAULI_TRACE_ASK_H

#include "trace/timeline.h"

/* In ticks; UINT64_MAX: no limit. Set by haul_trace_to(). */
struct hauli_trace_limits {
	struct hauli_u64_shared slice, gap;
	struct hauli_u8_shared drops; /* 1: a drop asks */
};
extern struct hauli_trace_limits hauli_trace_limits;

/* Asks for a file, unless one was asked for in the last second, or nobody writes any. t: the
 * calling carrier's timeline, which gets an event, or NULL. Also in a signal handler. */
void hauli_trace_ask(struct hauli_timeline *t, enum haul_trace_why why);

/* The thread that writes files: from begin() on asks come to it; it waits for one, and lets the
 * next one come. wait() returns false after wake(), of any thread. */
void hauli_trace_asks_begin(void);
void hauli_trace_asks_wake(void);
bool hauli_trace_asks_wait(enum haul_trace_why *why);
void hauli_trace_asks_next(void);

#endif
