/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HAULI_SCHED_LOOK_TRACE_FILES_H
#define HAULI_SCHED_LOOK_TRACE_FILES_H

#include <stdbool.h>

/* True if haul_trace_to() has said that a crash writes a file. Also in a signal handler. */
bool hauli_trace_is_on_crash(void);

/* In a signal handler, after a crash: writes the file, if so. By one thread of the process, which
 * ends the program then. */
void hauli_trace_on_crash(void);

/* 1 if haul_trace_to() has started its thread, which wakes no coroutine; else 0. Any thread. */
unsigned hauli_trace_threads(void);

#endif
