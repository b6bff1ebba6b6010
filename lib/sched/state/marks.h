/* SPDX-License-Identifier: BSD-3-Clause */
/* High-water marks of stacks, by the function that was spawned; haul_runtime_opts.stack_marks. */
#ifndef HAULI_SCHED_STATE_MARKS_H
#define HAULI_SCHED_STATE_MARKS_H

#include <stdio.h>

#include "sched/state/coroutine.h"

struct hauli_marks;

/* 0 or -ENOMEM. */
int hauli_marks_create(struct hauli_marks **marks);
void hauli_marks_destroy(struct hauli_marks *marks); /* NULL: nothing */

/* co has ended and still has its stack: does the checks of that stack. May run on that stack.
 * marks: NULL if they are off. */
void hauli_marks_check(struct hauli_marks *marks, const struct haul_coro *co);

/* Prints a line for each function, also of coroutines in the slab that have not ended. marks ==
 * NULL: nothing. Any thread. */
void hauli_marks_print(struct hauli_marks *marks, struct hauli_slab *coros, FILE *out);

#endif
