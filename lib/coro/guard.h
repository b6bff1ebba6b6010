/* SPDX-License-Identifier: BSD-3-Clause */
/* Guards: inaccessible memory below each stack, by the best means that the kernel has. */
#ifndef HAULI_CORO_GUARD_H
#define HAULI_CORO_GUARD_H

#include "coro/stack.h"

/*
 * No frame of glibc, and hardly any of a PMD, is larger, so none steps over the guard. gcc expects
 * this size on aarch64 (-fstack-clash-protection). It takes address space, and 120 bytes of page
 * tables more than a guard of one page.
 */
#define HAULI_GUARD_BYTES ((size_t)64 << 10)

struct hauli_guards {
	size_t page, size; /* of the kernel's, and of a guard: whole pages */
	long mappings_left; /* how many mprotect may still use up */
	bool asked; /* for this kind by name: no notice */
	_Atomic(enum hauli_guard) kind; /* what the next guard is made by */
};

/* 0, or -EOPNOTSUPP when MADVISE is asked for by name and the kernel has it not. */
int hauli_guards_init(struct hauli_guards *g, enum hauli_guard kind);

/* Guards what begins at lo. False: there is no way left, the slot has a canary. Goes down to the
 * next kind when one fails. One thread at a time. */
bool hauli_guard_set(struct hauli_guards *g, char *lo);

/* True if the canary, where there is one in place of a guard, has been overwritten. */
bool hauli_guard_broken(const struct hauli_co *co);

#endif
