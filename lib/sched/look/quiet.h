/* SPDX-License-Identifier: BSD-3-Clause */
/* A runtime is quiet when all its carriers sleep and nothing is on its way to them (quiet.c). */
#ifndef HAULI_SCHED_LOOK_QUIET_H
#define HAULI_SCHED_LOOK_QUIET_H

#include "sched/state/carrier.h"

/* Begins and ends virtual time, or nothing if rt has none. Returns 0 or -EBUSY. */
int hauli_quiet_init(struct haul_runtime *rt);
void hauli_quiet_fini(struct haul_runtime *rt);

/*
 * Owner, ASLEEP, in a runtime that is watched. If the runtime is quiet now: virtual time jumps to
 * the next timer, and the timer's carrier is woken; or, if there is no timer and coroutines wait,
 * prints a line. True: the timer is c's, so c must not block.
 */
bool hauli_quiet_look(struct haul_carrier *c);

/* Any thread that is no carrier, before the stop. Prints a line if coroutines wait and nothing will
 * wake them. */
void hauli_quiet_tell_at_stop(struct haul_runtime *rt);

/* The watchdog of rt, now and then: also in virtual time, where a thread of the pool may have been
 * about to fall asleep when the carriers looked. Prints a line, once, if
 * coroutines wait, nothing will wake them, and all other threads wait in haul_join() without a
 * deadline. */
void hauli_quiet_watch(struct haul_runtime *rt);

#endif
