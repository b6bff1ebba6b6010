/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tells AddressSanitizer and ThreadSanitizer about stacks that they did not make.
 * A plain build contains none of it: there are no fibers, and the pointers to them are NULL.
 *
 * Everything around a switch is inlined: a function would be entered on the shadow call stack of
 * one coroutine and left on that of another.
 */
#ifndef HAULI_CORO_FIBER_H
#define HAULI_CORO_FIBER_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __has_feature
#define HAULI_HAS_FEATURE(x) __has_feature(x)
#else
#define HAULI_HAS_FEATURE(x) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || HAULI_HAS_FEATURE(address_sanitizer)
#define HAULI_ASAN 1
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#else
#define HAULI_ASAN 0
#endif

#if defined(__SANITIZE_THREAD__) || HAULI_HAS_FEATURE(thread_sanitizer)
#define HAULI_TSAN 1
#include <sanitizer/tsan_interface.h>
#else
#define HAULI_TSAN 0
#endif

struct hauli_fiber {
	const void *lo;
	size_t size;
	void *fake; /* AddressSanitizer's fake stack while suspended */
	void *tsan; /* from renew to the end; for a thread's own stack: the thread's */
	bool of_thread; /* the thread's own stack */
};

/* The fiber of the calling thread's own stack. Only with a sanitizer, as the next two. */
struct hauli_fiber *hauli_fiber_of_thread(void);

/* The fiber of a coroutine that is about to begin on this stack. f: the fiber of the stack's last
 * user, which is used again, or NULL. */
struct hauli_fiber *hauli_fiber_renew(struct hauli_fiber *f, void *lo, size_t size);

/* f may be NULL. */
void hauli_fiber_free(struct hauli_fiber *f);

/* Before stacks are unmapped: their red zones would stay for whoever maps memory there next. */
static inline void hauli_fiber_discard(void *memory, size_t bytes)
{
#if HAULI_ASAN
	__asan_unpoison_memory_region(memory, bytes);
#endif
}

/* Right before the switch. */
static inline __attribute__((always_inline)) void hauli_fiber_leave(
	struct hauli_fiber *from, const struct hauli_fiber *to)
{
#if HAULI_ASAN
	__sanitizer_start_switch_fiber(&from->fake, to->lo, to->size);
#endif
#if HAULI_TSAN
	__tsan_switch_to_fiber(to->tsan, 0);
#endif
}

/* The first thing after a switch to self, and at the head of its entry function. */
static inline __attribute__((always_inline)) void hauli_fiber_arrived(struct hauli_fiber *self)
{
#if HAULI_ASAN
	__sanitizer_finish_switch_fiber(self->fake, NULL, NULL);
#endif
}

/* Right before the last switch away from `from`. */
static inline __attribute__((always_inline)) void hauli_fiber_end(
	struct hauli_fiber *from, const struct hauli_fiber *to)
{
#if HAULI_ASAN
	__sanitizer_start_switch_fiber(NULL, to->lo, to->size);
#endif
#if HAULI_TSAN
	void *over = from->tsan;

	/* For ThreadSanitizer `to` runs from the first call on, so `from` can be destroyed. */
	from->tsan = NULL;
	__tsan_switch_to_fiber(to->tsan, 0);
	__tsan_destroy_fiber(over);
#endif
}

#endif
