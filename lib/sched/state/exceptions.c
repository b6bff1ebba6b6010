/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * C++ exceptions of coroutines.
 *
 * A C++ runtime keeps, for each thread, a list of the exceptions that are being handled and a count
 * of the uncaught ones. A coroutine that suspends in a catch block, or in a destructor that runs
 * because of an exception, saves both on its stack until it continues, on any thread (suspend.c).
 * The thread has none in between. So no other coroutine sees them, and a new coroutine starts
 * without any.
 *
 * __cxa_get_globals() exists if the program, or a library that it is linked with, is C++. A library
 * loaded by dlopen() counts if it was loaded with RTLD_GLOBAL before the carriers start.
 */
#include "sched/state/exceptions.h"

__attribute__((weak)) struct hauli_exceptions *__cxa_get_globals(void);

struct hauli_exceptions hauli_exceptions_always = {.uncaught = 1};

struct hauli_exceptions *hauli_exceptions_here(void)
{
	return __cxa_get_globals ? __cxa_get_globals() : NULL;
}
