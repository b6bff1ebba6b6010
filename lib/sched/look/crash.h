/* SPDX-License-Identifier: BSD-3-Clause */
/* What is said of a coroutine that is about to end the program by a signal. */
#ifndef HAULI_SCHED_LOOK_CRASH_H
#define HAULI_SCHED_LOOK_CRASH_H

#include <haul/coro.h>

/* Until the end of the process: a coroutine that faults or calls abort() gets a line with its name,
 * carrier and call stack before the program ends as it would have done. So does a plain thread that
 * haul has told of a mistake. Any thread. */
void hauli_crash_init(void);

/* What an address is. */
enum hauli_about {
	HAULI_ABOUT_NONE, /* no coroutine of a runtime */
	HAULI_ABOUT_ENDED,
	HAULI_ABOUT_LIVES,
};

/* Before a line about a mistake that ends the program: another coroutine, which will get a line
 * with its call stack, too. role: what it is, such as "the holder". Nothing if co, which may be any
 * address, is no coroutine that lives. Any thread. */
enum hauli_about hauli_crash_about(const struct haul_coro *co, const char *role);

#endif
