/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DPDK's log, read instead of shown. Between hold and release nothing of it reaches the user (but
 * what DPDK says before it ends the program); the first error is kept, because it names the cause,
 * and later errors only name callers that gave up.
 */
#ifndef HAULI_EAL_LOG_H
#define HAULI_EAL_LOG_H

#include <stdbool.h>

#define HAULI_LOG_LINE 256

/* One at a time in the process; nesting is a bug. Any thread. */
void hauli_log_hold(void);

/* The same, and also what is printed to stdout and stderr goes nowhere but here. While other
 * threads that print are running, use the one above. */
void hauli_log_hold_all(void);

/* Puts everything back. line gets the first error (if none, the first warning) without its
 * newline; "" if there was none. */
void hauli_log_release(char line[HAULI_LOG_LINE]);

/* With verbose, what is held is shown as well. */
void hauli_log_verbose(bool verbose);

#endif
