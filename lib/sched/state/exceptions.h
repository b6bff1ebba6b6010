/* SPDX-License-Identifier: BSD-3-Clause */
/* C++ exceptions of coroutines: each coroutine has its own. */
#ifndef HAULI_SCHED_STATE_EXCEPTIONS_H
#define HAULI_SCHED_STATE_EXCEPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The state that a C++ runtime keeps for each thread: Itanium C++ ABI, 2.2.2. */
struct hauli_exceptions {
	void *caught;
	unsigned uncaught;
};

/* The calling thread's state; NULL if the program has no C++. */
struct hauli_exceptions *hauli_exceptions_here(void);

/* A state with an exception. A carrier whose coroutine must not suspend points to it, so that a
 * yield takes its slow path. */
extern struct hauli_exceptions hauli_exceptions_always;

static inline bool hauli_exceptions_any(const struct hauli_exceptions *e)
{
	return ((uintptr_t)e->caught | e->uncaught) != 0; /* one test */
}

#endif
