/* SPDX-License-Identifier: BSD-3-Clause */
#include "coro/fiber.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/assert.h"

static struct hauli_fiber *new_fiber(void)
{
	struct hauli_fiber *f = calloc(1, sizeof(*f));

	HAUL_BUG_ON(!f);
	return f;
}

struct hauli_fiber *hauli_fiber_of_thread(void)
{
	struct hauli_fiber *f = new_fiber();
	pthread_attr_t attr;
	void *lo;

	HAUL_BUG_ON(pthread_getattr_np(pthread_self(), &attr) != 0);
	HAUL_BUG_ON(pthread_attr_getstack(&attr, &lo, &f->size) != 0);
	f->lo = lo;
	f->of_thread = true;
	pthread_attr_destroy(&attr);
#if HAULI_TSAN
	f->tsan = __tsan_get_current_fiber();
#endif
	return f;
}

struct hauli_fiber *hauli_fiber_renew(struct hauli_fiber *f, void *lo, size_t size)
{
	if (!f)
		f = new_fiber();
	f->lo = lo;
	f->size = size;
	f->fake = NULL;
#if HAULI_ASAN
	/* Frames that never returned have left red zones. */
	__asan_unpoison_memory_region(lo, size);
#endif
#if HAULI_TSAN
	if (f->tsan) /* renewed before, and its coroutine never ran to its end */
		__tsan_destroy_fiber(f->tsan);
	f->tsan = __tsan_create_fiber(0);
#endif
	return f;
}

void hauli_fiber_free(struct hauli_fiber *f)
{
#if HAULI_TSAN
	if (f && f->tsan && !f->of_thread)
		__tsan_destroy_fiber(f->tsan);
#endif
	free(f);
}
