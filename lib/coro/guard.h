/* SPDX-License-Identifier: BSD-3-Clause */
/* The page below a stack that must not be touched: how it is made, by what the kernel has. */
#ifndef HAULI_CORO_GUARD_H
#define HAULI_CORO_GUARD_H

#include "coro/stack.h"

struct hauli_guards {
	size_t page;
	long mappings_left; /* how many mprotect may still use up */
	bool asked; /* for this kind by name: no notice */
	_Atomic(enum hauli_guard) kind; /* what the next guard is made by */
};

/* 0, or -EOPNOTSUPP when MADVISE is asked for by name and the kernel has it not. */
int hauli_guards_init(struct hauli_guards *g, enum hauli_guard kind);

/* Guards the page at page. False: there is no way left, the slot has a canary. Goes down to the
 * next kind when one fails. One thread at a time. */
bool hauli_guard_set(struct hauli_guards *g, char *page);

/* Whether a page that stands in for a guard has been written to, as far as can be seen. */
bool hauli_guard_broken(const struct hauli_co *co);

#endif
