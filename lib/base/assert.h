/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Assertions of four strengths:
 *   _Static_assert   a condition that the compiler can check
 *   HAUL_BUG_ON      a broken invariant; aborts, in release builds too
 *   HAUL_MISUSE_IF   a user's mistake that the call cannot return as an error; aborts, in release
 *                    builds too
 *   HAUL_CHECK       a broken invariant whose test is too expensive for release builds; aborts,
 *                    with -Dchecks=true only
 */
#ifndef HAULI_BASE_ASSERT_H
#define HAULI_BASE_ASSERT_H

#include <stdbool.h>

#include "base/cacheline.h"

/* Prints one line and aborts. */
__attribute__((noreturn, cold)) void hauli_bug(const char *what, const char *file, int line);

/* For a handler of SIGABRT: true if one of these functions has printed its line and aborts. */
bool hauli_has_said_why(void);
/* True if that line also names a call of haul: it is hauli_misuse()'s. */
bool hauli_has_named_call(void);

#define HAUL_BUG_ON(cond)                                     \
	do {                                                  \
		if (hauli_unlikely(cond))                     \
			hauli_bug(#cond, __FILE__, __LINE__); \
	} while (0)

/* Prints "haul: CALL(): MISTAKE" as one line and aborts. */
__attribute__((noreturn, cold, format(printf, 2, 3))) void hauli_misuse(
	const char *call, const char *mistake, ...);

/* At the head of a public function, before anything is dereferenced. */
#define HAUL_MISUSE_IF(cond, ...)                            \
	do {                                                 \
		if (hauli_unlikely(cond))                    \
			hauli_misuse(__func__, __VA_ARGS__); \
	} while (0)

#ifndef HAUL_CHECKS
#define HAUL_CHECKS 0
#endif

#define HAUL_CHECK(cond)                                              \
	do {                                                          \
		if (HAUL_CHECKS && !(cond))                           \
			hauli_bug("not: " #cond, __FILE__, __LINE__); \
	} while (0)

#endif
