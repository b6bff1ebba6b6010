/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DPDK's log, read instead of shown. Between hold and release the user sees none of it (except
 * messages before DPDK ends the program); the first error is kept, because it names the cause,
 * while later errors name callers that gave up.
 */
#ifndef HAULI_EAL_LOG_H
#define HAULI_EAL_LOG_H

#include <stdbool.h>

#define HAULI_LOG_LINE 256

/* Only one hold at a time in the process; nesting is a bug. Any thread. */
void hauli_log_hold(void);

/* As above, and also holds everything printed to stdout and stderr. While other threads print, use
 * the function above. */
void hauli_log_hold_all(void);

/* Restores everything. line gets the first error (if none, the first warning) without its newline;
 * "" if there was none. */
void hauli_log_release(char line[HAULI_LOG_LINE]);

/* With verbose, held messages are shown as well. */
void hauli_log_verbose(bool verbose);

#endif
