/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HAULI_SCHED_LOOK_TRACE_FILES_H
#define HAULI_SCHED_LOOK_TRACE_FILES_H

/* In a signal handler, after a crash: writes the file, if haul_trace_to() has said so. */
void hauli_trace_on_crash(void);

/* 1 if haul_trace_to() has started its thread, which wakes no coroutine; else 0. Any thread. */
unsigned hauli_trace_threads(void);

#endif
