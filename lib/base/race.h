/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads that race on purpose, because any value will do. Each is in a function of its own:
 *
 *	HAULI_MAY_RACE static bool f(const struct x *x)
 *	{
 *		HAULI_RACES(x);
 *		return x->a < x->b;
 *	}
 */
#ifndef HAULI_BASE_RACE_H
#define HAULI_BASE_RACE_H

/* TSan ignores the function's accesses. */
#define HAULI_MAY_RACE __attribute__((no_sanitize("thread")))

/* Makes the compiler read through p in the function: it may read in the caller and pass the values
 * (argument promotion), and TSan does not ignore the caller. Without TSan gcc would only copy p. */
#if defined(__clang__) || defined(__SANITIZE_THREAD__)
#define HAULI_RACES(p) __asm__("" : "+r"(p))
#else
#define HAULI_RACES(p) ((void)(p))
#endif

#endif
