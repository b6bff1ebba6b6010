/* SPDX-License-Identifier: BSD-3-Clause */
/* Yields that the compiler places (haul/placed.h). */
#ifndef HAULI_SCHED_RUN_PLACED_H
#define HAULI_SCHED_RUN_PLACED_H

struct haul_runtime;

/* Before the carriers run. Finds out whether the program has such yields. 0 or -ENOMEM. */
int hauli_placed_start(struct haul_runtime *rt);

#endif
