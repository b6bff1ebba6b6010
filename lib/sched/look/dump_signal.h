/* SPDX-License-Identifier: BSD-3-Clause */
/* The threads of haul_dump_on_signal(). */
#ifndef HAULI_SCHED_LOOK_DUMP_SIGNAL_H
#define HAULI_SCHED_LOOK_DUMP_SIGNAL_H

/* The number of threads that haul_dump_on_signal() has started, which wake no coroutine. Any
 * thread. */
unsigned hauli_dump_threads(void);

#endif
