/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Foreign waits: a carrier's thread waits in a system call that haul did not make, so its carrier
 * runs nothing else. Looked at from another thread, and without a signal, which would end sleep(),
 * poll() and others early.
 */
#ifndef HAULI_SCHED_LOOK_FOREIGN_H
#define HAULI_SCHED_LOOK_FOREIGN_H

#include <stdbool.h>
#include <stdint.h>

#include "coro/stack.h"

struct hauli_foreign {
	uint64_t waits; /* the thread's number of voluntary context switches */
	long call; /* number of the system call */
	uintptr_t sp, pc;
};

/* True if thread tid of this process waits in a system call, interruptibly. False if it runs, is
 * ready to run, is stopped, waits for a disk or handles a page fault; or if /proc does not tell. */
bool hauli_foreign_look(uint32_t tid, struct hauli_foreign *f);

/* True if thread tid still waits as it did when f was seen, and has not run in between. */
bool hauli_foreign_still_waits(uint32_t tid, const struct hauli_foreign *f);

/* The call stack of such a thread, which runs on stack: writes at most `most` program counters,
 * innermost first. Returns their number. */
unsigned hauli_foreign_trace(uint32_t tid, const struct hauli_foreign *f,
	const struct hauli_stack *stack, void **pcs, unsigned most);

/* True for a wait in futex(2): for a lock, or for something that another thread posts. */
bool hauli_foreign_is_lock(const struct hauli_foreign *f);

/* The system call's name, such as "poll", or "a system call"; and what to do instead. */
const char *hauli_foreign_name(const struct hauli_foreign *f);
const char *hauli_foreign_remedy(const struct hauli_foreign *f);

#endif
