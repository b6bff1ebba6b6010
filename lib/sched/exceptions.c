/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * C++ exceptions of coroutines.
 *
 * A C++ runtime keeps the exceptions that are handled, and how many are on their way, for each
 * thread. A coroutine that suspends in a catch block, or in a destructor that an exception runs,
 * takes them with it: they lie on its stack until it goes on, in whatever thread. So nobody else
 * finds them, who begins finds none, and who suspends without any leaves none.
 *
 * __cxa_get_globals() is there when the program, or a library that it is linked with, is C++. What
 * comes by dlopen() is seen when it is there, and global, before the carriers start.
 */
#include "sched/exceptions.h"

#include "sched/carrier.h"

__attribute__((weak)) struct hauli_exceptions *__cxa_get_globals(void);

struct hauli_exceptions *hauli_exceptions_here(void)
{
	return __cxa_get_globals ? __cxa_get_globals() : NULL;
}

void hauli_suspend_with_care(struct haul_carrier *c, struct haul_coro *me, bool publish)
{
	struct hauli_exceptions mine = *c->exceptions;

	if (hauli_mark_get(&me->marks) & HAULI_MARK_NOBODY)
		hauli_may_suspend(me, "haul_yield"); /* all others have looked */
	*c->exceptions = (struct hauli_exceptions){NULL, 0};
	c->left = publish ? me : NULL;
	c = hauli_co_switch(&me->co, hauli_next(c), c);
	hauli_arrive(c);
	*c->exceptions = mine;
}
