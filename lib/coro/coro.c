/* SPDX-License-Identifier: BSD-3-Clause */
#include "coro/coro.h"

void hauli_co_init_thread(struct hauli_co *co)
{
	*co = (struct hauli_co){.name = "-"};
	if (HAULI_ASAN || HAULI_TSAN)
		co->fiber = hauli_fiber_of_thread();
}

void hauli_co_fini_thread(struct hauli_co *co)
{
	hauli_co_fini(co);
}

void hauli_co_fini(struct hauli_co *co)
{
	hauli_fiber_free(co->fiber);
	co->fiber = NULL;
}
