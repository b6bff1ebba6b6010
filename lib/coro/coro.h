/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A coroutine as lib/coro knows it: a context and the stack that belongs to it. The scheduler
 * decides when it runs, and embeds this struct as the first field of its own.
 */
#ifndef HAULI_CORO_CORO_H
#define HAULI_CORO_CORO_H

#include <stdbool.h>
#include <stddef.h>

#include "coro/fiber.h"
#include "coro/switch.h"

struct hauli_co {
	struct hauli_ctx ctx;
	const char *name;
	struct hauli_fiber *fiber; /* for a sanitizer; NULL without one */
	uint32_t stack_bytes; /* right above the guard; 0: a thread's own stack */
	uint16_t stack_chunk; /* index in the arena */
	uint8_t stack_class;
	bool stack_canary; /* no guard: the canary is checked when the stack is put back */
};

/* co stands for the calling thread's own stack, so that the thread can switch away and back. */
void hauli_co_init_thread(struct hauli_co *co);
void hauli_co_fini_thread(struct hauli_co *co);

/* Frees a sanitizer's data for co, which will not run any more. Without a sanitizer: nothing. */
void hauli_co_fini(struct hauli_co *co);

_Static_assert(sizeof(struct hauli_co) == 56, "leaves eight bytes of a line to the scheduler");

/*
 * The first switch to co will call entry(pass) on the stack_bytes below hi. entry begins with
 * hauli_co_arrived(co) and ends with hauli_co_end().
 */
static inline void hauli_co_prepare(struct hauli_co *co, void *hi, void (*entry)(void *pass))
{
	hauli_ctx_prepare(&co->ctx, hi, entry);
	if (HAULI_ASAN || HAULI_TSAN)
		co->fiber =
			hauli_fiber_renew(co->fiber, (char *)hi - co->stack_bytes, co->stack_bytes);
}

static inline __attribute__((always_inline)) void hauli_co_arrived(struct hauli_co *self)
{
	hauli_fiber_arrived(self->fiber);
}

/* Suspends `from` and resumes `to`. Returns what the switch back to `from` passes. */
static inline __attribute__((always_inline)) void *hauli_co_switch(
	struct hauli_co *from, struct hauli_co *to, void *pass)
{
	hauli_fiber_leave(from->fiber, to->fiber);
	pass = hauli_switch(&from->ctx, &to->ctx, pass);
	hauli_co_arrived(from);
	return pass;
}

/* The last switch away from `from`: its stack may be used again as soon as `to` runs. */
static inline __attribute__((always_inline, noreturn)) void hauli_co_end(
	struct hauli_co *from, struct hauli_co *to, void *pass)
{
	hauli_fiber_end(from->fiber, to->fiber);
	hauli_switch(&from->ctx, &to->ctx, pass);
	__builtin_unreachable();
}

#endif
