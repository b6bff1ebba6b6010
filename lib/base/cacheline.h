/* SPDX-License-Identifier: BSD-3-Clause */
/* Cache lines, and branch hints for the compiler. */
#ifndef HAULI_BASE_CACHELINE_H
#define HAULI_BASE_CACHELINE_H

#include <stddef.h>

#define HAULI_CACHE_LINE 64

/* Starts a new cache line in a struct. Put it on the first of the fields that have one writer. */
#define HAULI_LINE __attribute__((aligned(HAULI_CACHE_LINE)))

#define HAULI_ASSERT_LINE(type, field)                                \
	_Static_assert(offsetof(type, field) % HAULI_CACHE_LINE == 0, \
		#type "." #field " must start a cache line")

#define hauli_likely(x) __builtin_expect(!!(x), 1)
#define hauli_unlikely(x) __builtin_expect(!!(x), 0)

#endif
