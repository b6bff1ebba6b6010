/* SPDX-License-Identifier: BSD-3-Clause */
/* Deadlocks: cycles of coroutines that wait for each other, found while the program runs. */
#ifndef HAULI_SCHED_LOOK_DEADLOCK_H
#define HAULI_SCHED_LOOK_DEADLOCK_H

#include <stdio.h>

#include "sched/state/runtime.h"

struct hauli_deadlocks;

/* Finds deadlocks of rt, and prints them to out. NULL: no memory. */
struct hauli_deadlocks *hauli_deadlocks_create(const struct haul_runtime *rt, FILE *out);
void hauli_deadlocks_destroy(struct hauli_deadlocks *d);

/* Looks at some of the coroutines, for about a millisecond; the next call continues with the next
 * ones. Prints each cycle once, with its coroutines and their call stacks. True: the last coroutine
 * has been looked at, and the next call begins with the first. One thread at a time. */
bool hauli_deadlocks_look(struct hauli_deadlocks *d);

#endif
