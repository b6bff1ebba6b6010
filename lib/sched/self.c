/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which carrier this thread is.
 *
 * The only thread-local of haul, behind a function that is never inlined and that the compiler
 * must take to have effects: else it may keep the variable's address, or its value, over a switch
 * after which the coroutine goes on in another thread (gcc and clang do so at -O2 -fPIC).
 */
#include "sched/carrier.h"

static __thread struct haul_carrier *self __attribute__((tls_model("initial-exec")));

__attribute__((noinline)) struct haul_carrier *hauli_self(void)
{
	struct haul_carrier *c = self;

	asm volatile("" : "+r"(c) : : "memory");
	return c;
}

void hauli_self_set(struct haul_carrier *c)
{
	self = c;
}

struct haul_carrier *haul_carrier_self(void)
{
	return hauli_self();
}

struct haul_coro *haul_self(void)
{
	struct haul_carrier *c = hauli_self();

	return c ? c->current : NULL;
}
