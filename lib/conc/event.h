/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An event that happens once and that one plain thread waits for. It may lie on the stack of a
 * waiter that does not give up: set() touches it for the last time with its store; the wake that
 * follows gives the kernel an address only.
 *
 *	E1  what was written before set before what follows wait: release store, acquire load.
 */
#ifndef HAULI_CONC_EVENT_H
#define HAULI_CONC_EVENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hauli_event {
	_Atomic uint32_t set; /* who makes it happen */
};

static inline void hauli_event_init(struct hauli_event *e)
{
	atomic_init(&e->set, 0);
}

void hauli_event_set(struct hauli_event *e);

/* Whether it has happened when CLOCK_MONOTONIC reaches *until; NULL: waits for ever. Who gives up
 * leaves it where it is: it may still happen. */
struct timespec;
bool hauli_event_wait_until(struct hauli_event *e, const struct timespec *until);

static inline void hauli_event_wait(struct hauli_event *e)
{
	(void)hauli_event_wait_until(e, NULL);
}

#endif
