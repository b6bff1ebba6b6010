/* SPDX-License-Identifier: BSD-3-Clause */
/* Inputs that end where readable memory ends. */
#ifndef HAUL_TESTS_GUARDED_H
#define HAUL_TESTS_GUARDED_H

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/suite.h"

#define BED_MAX ((size_t)1 << 20)

/* A copy of the bytes whose end is that of the memory: one byte more is a crash. The copy is valid
 * until the next call. */
static inline void *bed_copy(const void *bytes, size_t n)
{
	static char *end;

	if (!end) {
		char *map = mmap(NULL, BED_MAX + (size_t)getpagesize(), PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		ck_assert_ptr_ne(map, MAP_FAILED);
		end = map + BED_MAX;
		ck_assert_int_eq(mprotect(end, (size_t)getpagesize(), PROT_NONE), 0);
	}
	ASSERT_EACH(n <= BED_MAX);
	if (n > 0)
		memcpy(end - n, bytes, n);
	return end - n;
}

#endif
