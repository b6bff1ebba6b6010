/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The switch on aarch64 with branch target checks in the CPU. Built without a C library, because
 * the cross compiler's one is not marked for them. Ends with 0. With -DWITHOUT_LANDING_PAD it jumps
 * to a place that is no target and must die by a signal: this shows that the CPU checks.
 */
#include "coro/coro.h"

static struct hauli_co main_co, co;
static struct hauli_stack own;
static char stack[16384] __attribute__((aligned(16)));

static void entry(void *pass)
{
	for (;;)
		pass = hauli_co_switch(&co, &main_co, (char *)pass + 1);
}

static __attribute__((noreturn)) void leave(long status)
{
	register long x0 asm("x0") = status;
	register long x8 asm("x8") = 93; /* exit */

	asm volatile("svc 0" : : "r"(x0), "r"(x8));
	__builtin_unreachable();
}

__attribute__((noreturn, used)) void _start(void)
{
	char *p = NULL;

	hauli_co_prepare(&co, &own, stack + sizeof(stack), entry);
#ifdef WITHOUT_LANDING_PAD
	co.ctx.pc = (char *)co.ctx.pc + 4; /* past the landing mark */
#endif
	for (int i = 0; i < 10; i++)
		p = hauli_co_switch(&main_co, &co, p);
	leave(p != (char *)10);
}
