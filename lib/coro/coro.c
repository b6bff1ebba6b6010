/* SPDX-License-Identifier: BSD-3-Clause */
#include "coro/coro.h"

#include <stdlib.h>

#include "base/assert.h"

void hauli_co_init_thread(struct hauli_co *co)
{
	*co = (struct hauli_co){.name = "-"};
	if (HAULI_ASAN || HAULI_TSAN) {
		co->stack = calloc(1, sizeof(*co->stack));
		HAUL_BUG_ON(!co->stack);
		co->stack->fiber = hauli_fiber_of_thread();
	}
}

void hauli_co_fini_thread(struct hauli_co *co)
{
	if (HAULI_ASAN || HAULI_TSAN) {
		hauli_co_fini(co);
		free(co->stack);
		co->stack = NULL;
	}
}

void hauli_co_fini(struct hauli_co *co)
{
	if (HAULI_ASAN || HAULI_TSAN) {
		hauli_fiber_free(co->stack->fiber);
		co->stack->fiber = NULL;
	}
}
