/* SPDX-License-Identifier: BSD-3-Clause */
/* Debuggee of coro_unwind.py: a coroutine stopped in a nested function, a coroutine suspended in
 * it, and the switches between them. No function is inlined or cloned: gdb compares names. */
#include "coro/coro.h"

#define CALLED __attribute__((noipa, noinline))
#ifdef __clang__
#undef CALLED
#define CALLED __attribute__((optnone, noinline))
#endif

struct hauli_co main_co, suspended;
static struct hauli_stack own;
static char stack[64 << 10] __attribute__((aligned(64)));

CALLED void in_a_coroutine(void);
CALLED void while_one_is_suspended(void);
CALLED int inner(int n);
CALLED int outer(int n);
CALLED void body(void *pass);

CALLED void in_a_coroutine(void)
{
	asm volatile("");
}

CALLED void while_one_is_suspended(void)
{
	asm volatile("");
}

/* A frame of its own: gdb needs call-frame information to unwind it. */
CALLED int inner(int n)
{
	volatile int frame[20] = {n};

	in_a_coroutine();
	hauli_co_switch(&suspended, &main_co, NULL);
	return frame[0] + 1;
}

CALLED int outer(int n)
{
	char *frame = __builtin_alloca(16 * (size_t)n);

	frame[0] = 1;
	asm volatile("" : "+r"(frame)); /* of unknown size: gdb finds it by the frame pointer */
	return inner(n) + frame[0];
}

CALLED void body(void *pass)
{
	hauli_co_arrived(&suspended);
	outer(7);
	hauli_co_end(&suspended, &main_co, NULL);
}

int main(void)
{
	hauli_co_init_thread(&main_co);
	own.bytes = sizeof(stack);
	hauli_co_prepare(&suspended, &own, stack + sizeof(stack), body);
	hauli_co_switch(&main_co, &suspended, NULL);
	while_one_is_suspended();
	hauli_co_switch(&main_co, &suspended, NULL);
	hauli_co_fini(&suspended);
	hauli_co_fini_thread(&main_co);
	return 0;
}
