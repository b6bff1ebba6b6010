/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The switch: from one stack to another on the same thread.
 *
 * It is inlined, so that the compiler saves only live registers. It ends with a jump, so that the
 * return predictor still matches the frames of two coroutines that suspend in the same function.
 * The context holds the stack pointer, the frame pointer, the program counter and the base pointer;
 * all other registers are declared as clobbered. (The base pointer is rbx or x19. clang addresses
 * locals by it in a function with alloca() and a local of large alignment, and then ignores that
 * it is clobbered.) The compiler's call-frame information is right at all times, and a suspended
 * context unwinds from its first three words.
 *
 * Not saved: the floating-point control words (MXCSR, x87 CW; FPCR), which belong to the carrier,
 * and the signal mask. A coroutine that changes the rounding or exception mode restores it before
 * it suspends.
 */
#ifndef HAULI_CORO_SWITCH_H
#define HAULI_CORO_SWITCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hauli_ctx {
	void *sp;
	void *fp;
	void *pc;
	void *base;
};

/* hauli_switch(from, to, pass): suspends the caller in *from and resumes *to. There the switch that
 * suspended it returns pass; a new context passes it to its entry function. */
#if defined(__x86_64__)
#include "coro/switch_x86_64.h"
#elif defined(__aarch64__)
#include "coro/switch_aarch64.h"
#else
#error "haul: no switch for this CPU"
#endif

/*
 * The first switch to *ctx will call entry(pass) on the stack that ends at hi (exclusive, any
 * alignment). entry must not return.
 */
static inline void hauli_ctx_prepare(struct hauli_ctx *ctx, void *hi, void (*entry)(void *pass))
{
	void **sp = (void **)(((uintptr_t)hi & ~(uintptr_t)15) - 16);

	sp[0] = (void *)entry;
	*ctx = (struct hauli_ctx){
		.sp = sp, .fp = NULL, .pc = (void *)hauli_coro_start, .base = NULL};
}

/* True: no thread has switched to *ctx since it was prepared. A guess while one may do so. */
static inline bool hauli_ctx_is_unstarted(const struct hauli_ctx *ctx)
{
	return ctx->pc == (void *)hauli_coro_start;
}

#endif
