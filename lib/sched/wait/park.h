/* SPDX-License-Identifier: BSD-3-Clause */
/* haul_sleep() and haul_park() at the home of a stolen coroutine. */
#ifndef HAULI_SCHED_WAIT_PARK_H
#define HAULI_SCHED_WAIT_PARK_H

#include "sched/state/carrier.h"

/* The state of a parked coroutine. */
#define HAULI_CORO_IN_PARK (HAULI_CORO_PARKED | HAULI_CORO_CANCELLABLE)

/* co has come home to wait, until timer.at. False: its wait has ended already. */
bool hauli_park_begin_here(struct haul_carrier *c, struct haul_coro *co);
bool hauli_sleep_begin_here(struct haul_carrier *c, struct haul_coro *co);

#endif
