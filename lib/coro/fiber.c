/* SPDX-License-Identifier: BSD-3-Clause */
/* Contexts that are threads, and what a sanitizer keeps for each context. */
#include <pthread.h>
#include <stdlib.h>

#include "base/assert.h"
#include "coro/coro.h"

static struct hauli_fiber *get_fiber(struct hauli_co *co)
{
	if (!co->fiber)
		co->fiber = calloc(1, sizeof(*co->fiber));
	HAUL_BUG_ON(!co->fiber);
	return co->fiber;
}

void hauli_fiber_init_thread(struct hauli_co *co)
{
	struct hauli_fiber *f = get_fiber(co);
	pthread_attr_t attr;
	void *lo;

	HAUL_BUG_ON(pthread_getattr_np(pthread_self(), &attr) != 0);
	HAUL_BUG_ON(pthread_attr_getstack(&attr, &lo, &f->size) != 0);
	f->lo = lo;
	pthread_attr_destroy(&attr);
#if HAULI_TSAN
	f->tsan = __tsan_get_current_fiber();
#endif
}

void hauli_fiber_init(struct hauli_co *co, void *hi)
{
	struct hauli_fiber *f = get_fiber(co);

	f->lo = (char *)hi - co->stack_bytes;
	f->size = co->stack_bytes;
	f->fake = NULL;
#if HAULI_ASAN
	/* Frames that never returned have left their red zones. */
	__asan_unpoison_memory_region(f->lo, f->size);
#endif
#if HAULI_TSAN
	if (f->tsan) /* prepared before, and never run to its end */
		__tsan_destroy_fiber(f->tsan);
	f->tsan = __tsan_create_fiber(0);
#endif
}

void hauli_fiber_free(struct hauli_co *co)
{
#if HAULI_TSAN
	if (co->fiber && co->fiber->tsan && co->stack_bytes)
		__tsan_destroy_fiber(co->fiber->tsan);
#endif
	free(co->fiber);
	co->fiber = NULL;
}

void hauli_co_init_thread(struct hauli_co *co)
{
	*co = (struct hauli_co){.name = "-"};
	if (HAULI_ASAN || HAULI_TSAN)
		hauli_fiber_init_thread(co);
}

void hauli_co_fini_thread(struct hauli_co *co)
{
	if (HAULI_ASAN || HAULI_TSAN)
		hauli_fiber_free(co);
}
