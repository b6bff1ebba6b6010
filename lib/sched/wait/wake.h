/* SPDX-License-Identifier: BSD-3-Clause */
/* Waking a coroutine at its home. */
#ifndef HAULI_SCHED_WAIT_WAKE_H
#define HAULI_SCHED_WAIT_WAKE_H

#include "sched/state/carrier.h"

/* Owner, the home. Makes co, which another coroutine, the poller or mail has woken, ready. */
void hauli_wake_here(struct haul_carrier *c, struct haul_coro *co);
/* The same, to run after all others in every case: one of many that are woken at once. */
void hauli_wake_last_here(struct haul_carrier *c, struct haul_coro *co);

#endif
