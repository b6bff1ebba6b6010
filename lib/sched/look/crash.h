/* SPDX-License-Identifier: BSD-3-Clause */
/* The line about a coroutine that is about to end the program by a signal. */
#ifndef HAULI_SCHED_LOOK_CRASH_H
#define HAULI_SCHED_LOOK_CRASH_H

#include <haul/coro.h>

/* Until the end of the process: when a coroutine faults or calls abort(), prints a line with its
 * name, carrier and call stack before the program ends as it would have done. The same for a plain
 * thread about whose misuse haul has printed a line. Any thread. */
void hauli_crash_init(void);

/* What an address is. */
enum hauli_about {
	HAULI_ABOUT_NONE, /* no coroutine of a runtime */
	HAULI_ABOUT_ENDED,
	HAULI_ABOUT_LIVES,
};

/* Call before a line about misuse that ends the program and concerns another coroutine, co: there
 * will be a line with its call stack, too. role: what it is, such as "the holder". co may be any
 * address; there is no line if it is no coroutine that lives. Any thread. */
enum hauli_about hauli_crash_about(const struct haul_coro *co, const char *role);

#endif
