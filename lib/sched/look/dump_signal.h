/* SPDX-License-Identifier: BSD-3-Clause */
/* The threads of haul_dump_on_signal(). */
#ifndef HAULI_SCHED_LOOK_DUMP_SIGNAL_H
#define HAULI_SCHED_LOOK_DUMP_SIGNAL_H

#include <stdbool.h>

/* The number of threads that haul_dump_on_signal() has started, which wake no coroutine. Any
 * thread. */
unsigned hauli_dump_threads(void);

/* True if no thread of haul can take the signal: faults, that of haul's snapshots, and those that
 * have no handler. */
bool hauli_dump_refuses(int sig);

#endif
