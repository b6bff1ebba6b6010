/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A completion: one plain thread waits until it is set, once; as struct completion in Linux. It may
 * lie on the stack of a waiter without a time limit: the store in set() is the last access to it;
 * the wake after that only passes the address to the kernel.
 *
 *	E1  the setter's writes before set, before the code after wait: release store, acquire load.
 */
#ifndef HAULI_CONC_COMPLETION_H
#define HAULI_CONC_COMPLETION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hauli_completion {
	_Atomic uint32_t set; /* the setter */
};

static inline void hauli_completion_init(struct hauli_completion *c)
{
	atomic_init(&c->set, 0);
}

void hauli_completion_set(struct hauli_completion *c);

/* Waits until it is set (true) or CLOCK_MONOTONIC has reached *until (false). until NULL: no limit.
 * After false the memory must stay: it may still be set. */
struct timespec;
bool hauli_completion_wait_until(struct hauli_completion *c, const struct timespec *until);

static inline void hauli_completion_wait(struct hauli_completion *c)
{
	(void)hauli_completion_wait_until(c, NULL);
}

#endif
