/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One coroutine as this floor knows it: a context and the stack that belongs to it. Who runs
 * when is the scheduler's business; it embeds this struct as the first field of its own.
 */
#ifndef HAULI_CORO_CORO_H
#define HAULI_CORO_CORO_H

#include <stdbool.h>
#include <stddef.h>

#include "coro/switch.h"

struct hauli_co {
	struct hauli_ctx ctx;
	const char *name;
	struct hauli_fiber *fiber; /* what a sanitizer wants to know; NULL without one */
	uint32_t stack_bytes; /* the guard is right below them. 0: a thread's own stack */
	uint16_t stack_chunk; /* of the arena */
	uint8_t stack_class;
	bool stack_canary; /* no guard: looked at when the stack is put back */
};

/* Stands for the calling thread's own stack, so that it can be switched from and back to. */
void hauli_co_init_thread(struct hauli_co *co);
void hauli_co_fini_thread(struct hauli_co *co);

#include "coro/fiber.h"

_Static_assert(sizeof(struct hauli_co) == 56, "leaves eight bytes of a line to the scheduler");

/*
 * Makes co begin with entry(pass) when it is first switched to, on the stack_bytes below hi. The
 * first thing that entry does is hauli_fiber_arrived(co); it ends by hauli_co_end().
 */
static inline void hauli_co_prepare(struct hauli_co *co, void *hi, void (*entry)(void *pass))
{
	hauli_ctx_prepare(&co->ctx, hi, entry);
	hauli_fiber_prepare(co, hi);
}

/* Suspends from, goes on in to; returns what is passed by the switch that comes back. */
static inline __attribute__((always_inline)) void *hauli_co_switch(
	struct hauli_co *from, struct hauli_co *to, void *pass)
{
	hauli_fiber_leave(from, to);
	pass = hauli_switch(&from->ctx, &to->ctx, pass);
	hauli_fiber_arrived(from);
	return pass;
}

/* The last switch out of from: its stack may be used again as soon as to runs. */
static inline __attribute__((always_inline, noreturn)) void hauli_co_end(
	struct hauli_co *from, struct hauli_co *to, void *pass)
{
	hauli_fiber_end(from, to);
	hauli_switch(&from->ctx, &to->ctx, pass);
	__builtin_unreachable();
}

#endif
