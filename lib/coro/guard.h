/* SPDX-License-Identifier: BSD-3-Clause */
/* Guards: inaccessible memory below each stack, made by the best means of the kernel. */
#ifndef HAULI_CORO_GUARD_H
#define HAULI_CORO_GUARD_H

#include <stdbool.h>
#include <stddef.h>

#include "conc/word.h"

/*
 * No frame of glibc, and hardly any of a PMD, is larger, so none steps over the guard. gcc expects
 * this size on aarch64 (-fstack-clash-protection). Compared with a guard of one page it costs
 * address space, and 120 more bytes of page tables.
 */
#define HAULI_GUARD_BYTES ((size_t)64 << 10)

enum hauli_guard {
	HAULI_GUARD_BEST, /* the first of the next three that the kernel supports */
	HAULI_GUARD_MADVISE,
	HAULI_GUARD_MPROTECT,
	HAULI_GUARD_CANARY,
};

struct hauli_guards {
	size_t page; /* the kernel's page size, bytes */
	size_t size; /* of a guard, bytes: whole pages */
	long mappings_left; /* that mprotect may still use */
	bool asked; /* the kind was given by name: no notice */
	struct hauli_u8_owned kind; /* enum hauli_guard: of the next guard */
};

/* 0, or -EOPNOTSUPP: kind is MADVISE and the kernel does not support it. */
int hauli_guards_init(struct hauli_guards *g, enum hauli_guard kind);

/* Makes the g->size bytes from lo a guard. When a kind fails, the next one is used from then on.
 * False: no kind is left, and the slot has a canary. One thread at a time. */
bool hauli_guard_set(struct hauli_guards *g, char *lo);

/* For a slot with a canary in place of a guard. True if the bytes right below stack_lo, the lowest
 * of the stack, were overwritten. */
bool hauli_guard_broken(const char *stack_lo);

#endif
