/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A coroutine as lib/coro knows it: a context, and the stack that it has while it runs. The
 * scheduler decides when it runs, and embeds this struct as the first field of its own.
 */
#ifndef HAULI_CORO_CORO_H
#define HAULI_CORO_CORO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coro/fiber.h"
#include "coro/switch.h"

enum {
	HAULI_STACK_CANARY = 1 << 0, /* no guard: check the canary */
	HAULI_STACK_MARKED = 1 << 1, /* measure what was used (used.h) */
};

/* What is known about a stack. In the arena it is the head of a slot, right above the stack. */
struct hauli_stack {
	struct hauli_stack *next; /* of an unused stack: the next one in its set */
	struct hauli_stack *next_set; /* of the first of a full set in the arena: the next set */
	struct hauli_fiber *fiber; /* for a sanitizer; NULL without one */
	uint32_t bytes; /* right above the guard */
	uint16_t chunk; /* index in the arena */
	uint8_t cls;
	uint8_t checks; /* HAULI_STACK_: what to do when a coroutine ends; mostly 0 */
};

struct hauli_co {
	struct hauli_ctx ctx;
	const char *name;
	struct hauli_stack *stack; /* NULL: it has not begun, or has ended; or it is a thread */
};

/* co stands for the calling thread's own stack, so that the thread can switch away and back. */
void hauli_co_init_thread(struct hauli_co *co);
void hauli_co_fini_thread(struct hauli_co *co);

/* Frees a sanitizer's data for the stack of co, on which nothing will run any more. Without a
 * sanitizer: nothing. */
void hauli_co_fini(struct hauli_co *co);

_Static_assert(sizeof(struct hauli_co) == 48, "leaves 16 bytes of a line to the scheduler");

/*
 * The first switch to co will call entry(pass) on the stack, whose bytes are right below hi. entry
 * begins with hauli_co_began(co) and ends with hauli_co_end().
 */
static inline void hauli_co_prepare(
	struct hauli_co *co, struct hauli_stack *stack, void *hi, void (*entry)(void *pass))
{
	co->stack = stack;
	hauli_ctx_prepare(&co->ctx, hi, entry);
	if (HAULI_ASAN || HAULI_TSAN)
		stack->fiber =
			hauli_fiber_renew(stack->fiber, (char *)hi - stack->bytes, stack->bytes);
}

/* For a sanitizer; NULL without one. */
static inline __attribute__((always_inline)) struct hauli_fiber *hauli_co_fiber(
	const struct hauli_co *co)
{
	return HAULI_ASAN || HAULI_TSAN ? co->stack->fiber : NULL;
}

static inline __attribute__((always_inline)) void hauli_co_arrived(struct hauli_co *self)
{
	hauli_fiber_arrived(hauli_co_fiber(self));
}

/* For a function between entry and the coroutine's own: call stacks leave it out (trace.c). */
#define HAULI_AT_ONCE __attribute__((noinline, section("haul_at_once")))

/* In entry itself. Chains of frame pointers, which profilers follow, end in this frame, because
 * start_*.S begins with none: entry must not use the register for anything else. */
static inline __attribute__((always_inline)) void hauli_co_began(struct hauli_co *self)
{
	asm volatile("" : : "r"(__builtin_frame_address(0)));
	hauli_co_arrived(self);
}

/* Suspends `from` and resumes `to`. Returns what the switch back to `from` passes. */
static inline __attribute__((always_inline)) void *hauli_co_switch(
	struct hauli_co *from, struct hauli_co *to, void *pass)
{
	hauli_fiber_leave(hauli_co_fiber(from), hauli_co_fiber(to));
	pass = hauli_switch(&from->ctx, &to->ctx, pass);
	hauli_co_arrived(from);
	return pass;
}

/* The last switch away from `from`: its stack may be used again as soon as `to` runs. */
static inline __attribute__((always_inline, noreturn)) void hauli_co_end(
	struct hauli_co *from, struct hauli_co *to, void *pass)
{
	hauli_fiber_end(hauli_co_fiber(from), hauli_co_fiber(to));
	hauli_switch(&from->ctx, &to->ctx, pass);
	__builtin_unreachable();
}

#endif
