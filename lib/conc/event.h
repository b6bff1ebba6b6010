/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An event that happens once and that one plain thread waits for. It may lie on the stack of a
 * waiter without a time limit: the store in set() is its last access to the event; the wake after
 * that only passes the address to the kernel.
 *
 *	E1  the setter's writes before set, before the code after wait: release store, acquire load.
 */
#ifndef HAULI_CONC_EVENT_H
#define HAULI_CONC_EVENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hauli_event {
	_Atomic uint32_t set; /* the setter */
};

static inline void hauli_event_init(struct hauli_event *e)
{
	atomic_init(&e->set, 0);
}

void hauli_event_set(struct hauli_event *e);

/* Waits until the event has happened (true) or CLOCK_MONOTONIC has reached *until (false). until
 * NULL: no limit. After false the memory must stay: the event may still happen. */
struct timespec;
bool hauli_event_wait_until(struct hauli_event *e, const struct timespec *until);

static inline void hauli_event_wait(struct hauli_event *e)
{
	(void)hauli_event_wait_until(e, NULL);
}

#endif
