/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What AddressSanitizer and ThreadSanitizer must be told about stacks that they did not make.
 * Nothing of it is left in a plain build. Included by coro.h only.
 *
 * Everything that runs around a switch is inlined: a function of its own would be entered on one
 * coroutine's shadow call stack and left on another's.
 */
#ifndef HAULI_CORO_FIBER_H
#define HAULI_CORO_FIBER_H

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
	void *tsan; /* from prepare to the end; for a thread's own stack: the thread's */
};

/* The fiber of a thread's own stack, that of a slot, and the end of either. With a sanitizer
 * only; in fiber.c. */
void hauli_fiber_init_thread(struct hauli_co *co);
void hauli_fiber_init(struct hauli_co *co, void *hi);
void hauli_fiber_free(struct hauli_co *co);

/* New memory, where stacks may have been that were unmapped: their red zones stay. */
static inline void hauli_fiber_forget(void *memory, size_t bytes)
{
#if HAULI_ASAN
	__asan_unpoison_memory_region(memory, bytes);
#endif
}

/* Before co's first switch; what the stack's last user left behind is forgotten. */
static inline void hauli_fiber_prepare(struct hauli_co *co, void *hi)
{
	if (HAULI_ASAN || HAULI_TSAN)
		hauli_fiber_init(co, hi);
}

/* Right before the switch from from to to. */
static inline __attribute__((always_inline)) void hauli_fiber_leave(
	struct hauli_co *from, struct hauli_co *to)
{
#if HAULI_ASAN
	__sanitizer_start_switch_fiber(&from->fiber->fake, to->fiber->lo, to->fiber->size);
#endif
#if HAULI_TSAN
	__tsan_switch_to_fiber(to->fiber->tsan, 0);
#endif
}

/* The first thing on self after a switch to it; at the head of its entry as well. */
static inline __attribute__((always_inline)) void hauli_fiber_arrived(struct hauli_co *self)
{
#if HAULI_ASAN
	__sanitizer_finish_switch_fiber(self->fiber->fake, NULL, NULL);
#endif
}

/* Right before the last switch out of from. */
static inline __attribute__((always_inline)) void hauli_fiber_end(
	struct hauli_co *from, struct hauli_co *to)
{
#if HAULI_ASAN
	__sanitizer_start_switch_fiber(NULL, to->fiber->lo, to->fiber->size);
#endif
#if HAULI_TSAN
	void *over = from->fiber->tsan;

	/* From the first call on this is to, as ThreadSanitizer sees it; so the other may go. */
	from->fiber->tsan = NULL;
	__tsan_switch_to_fiber(to->fiber->tsan, 0);
	__tsan_destroy_fiber(over);
#endif
}

#endif
