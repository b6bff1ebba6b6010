/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The switch: from one stack to another on the same thread.
 *
 * It is inlined, so that the compiler saves what is live and nothing else, and it leaves by a jump,
 * so that the return predictor keeps matching the frames of two coroutines that suspend in the
 * same function. Only the stack pointer, the frame pointer, the place to go on and the base pointer
 * are kept in the context; every other register is declared lost. (The base pointer, rbx or x19, is
 * what clang finds a function's locals by where there is both alloca() and a local of large
 * alignment; it takes no notice there when that register is declared lost.) The compiler's
 * call-frame information stays right throughout, and a suspended context unwinds from its first
 * three words.
 *
 * Not saved: the floating-point control words (MXCSR, x87 CW; FPCR). They belong to the
 * carrier. A coroutine that changes the rounding or exception mode puts it back before it
 * suspends. Nor is the signal mask.
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

/* hauli_switch(from, to, pass): suspends the caller in *from and goes on in *to. There, pass is
 * the value of the switch that suspended it, or the argument of the entry. */
#if defined(__x86_64__)
#include "coro/switch_x86_64.h"
#elif defined(__aarch64__)
#include "coro/switch_aarch64.h"
#else
#error "haul: no switch for this CPU"
#endif

/*
 * Makes *ctx such that the first switch to it calls entry(pass) on the stack that ends at
 * hi (exclusive, any alignment). entry must not return.
 */
static inline void hauli_ctx_prepare(struct hauli_ctx *ctx, void *hi, void (*entry)(void *pass))
{
	void **sp = (void **)(((uintptr_t)hi & ~(uintptr_t)15) - 16);

	sp[0] = (void *)entry;
	*ctx = (struct hauli_ctx){
		.sp = sp, .fp = NULL, .pc = (void *)hauli_coro_start, .base = NULL};
}

/* Whether nobody has switched to it since, if nobody does just now. */
static inline bool hauli_ctx_is_fresh(const struct hauli_ctx *ctx)
{
	return ctx->pc == (void *)hauli_coro_start;
}

#endif
