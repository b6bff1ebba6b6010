/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a carrier's sleep, on the futex or in its poller's wait. */
#ifndef HAULI_SCHED_STEAL_SLEEP_H
#define HAULI_SCHED_STEAL_SLEEP_H

#include "sched/state/carrier.h"

/*
 * Owner, without work, before it falls asleep until `at`, in ticks. True: after some spinning there
 * is a message, or something in the injector. It does nothing else than a carrier that is awake, so
 * pushers find it awake, and what it has not seen keeps it from falling asleep afterwards.
 */
bool hauli_sleep_spin(struct haul_carrier *c, uint64_t at);

/* Owner, after hauli_inbox_try_sleep() and before it runs anything. Marks the carrier awake,
 * handles its messages, and checks the injector, since the waker may have put coroutines there. */
void hauli_sleep_end(struct haul_carrier *c);

/* Owner. The same, of a poller that has parked (haul_poller_try_park()). */
void hauli_sleep_end_parked(struct haul_carrier *c);

/* Owner. Waits until no waker is between its push and the end of its wake-up call. After that, what
 * the call uses may be freed. */
void hauli_sleep_quiesce(struct haul_carrier *c);

#endif
