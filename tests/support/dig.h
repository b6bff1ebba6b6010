/* SPDX-License-Identifier: BSD-3-Clause */
/* A recursion that ends by running over its stack. */
#ifndef HAUL_TESTS_DIG_H
#define HAUL_TESTS_DIG_H

/* The compiler must not see that it never returns. */
static volatile int deepest = 1 << 30;

static __attribute__((noinline)) int dig(int deep)
{
	volatile char frame[100];

	frame[0] = 1;
	return deep < deepest ? dig(deep + 1) + frame[0] : frame[0];
}

#endif
