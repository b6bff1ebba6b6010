/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * C++ exceptions of coroutines.
 *
 * A C++ runtime keeps, for each thread, a list of the exceptions that are being handled and a count
 * of those that are uncaught. A coroutine that suspends in a catch block, or in a destructor that
 * an exception runs, keeps both on its stack until it goes on, in whatever thread (suspend.c).
 * Meanwhile the thread has none. So no other coroutine sees them, and a new coroutine starts
 * without any.
 *
 * __cxa_get_globals() exists if the program, or a library that it is linked with, is C++. A library
 * loaded by dlopen() counts if it was loaded with RTLD_GLOBAL before the carriers start.
 */
#include "sched/exceptions.h"

__attribute__((weak)) struct hauli_exceptions *__cxa_get_globals(void);

struct hauli_exceptions *hauli_exceptions_here(void)
{
	return __cxa_get_globals ? __cxa_get_globals() : NULL;
}
