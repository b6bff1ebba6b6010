/* SPDX-License-Identifier: BSD-3-Clause */
/* What is said of a coroutine that is about to end the program by a signal. */
#ifndef HAULI_SCHED_CRASH_H
#define HAULI_SCHED_CRASH_H

/* Until the end of the process: a coroutine that faults or calls abort() gets a line with its name,
 * carrier and call stack before the program ends as it would have done. So does a plain thread that
 * haul has told of a mistake. Any thread. */
void hauli_crash_init(void);

#endif
