/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The way back from a failed start of EAL, which a process has only one of: the program begins
 * anew, in the same process, from its main().
 */
#ifndef HAULI_GLUE_RESTART_H
#define HAULI_GLUE_RESTART_H

#include <stdbool.h>
#include <stddef.h>

/* What the program had open before the start. */
struct hauli_restart {
	size_t n;
	bool *open; /* by descriptor */
};

/* True in a program that has begun anew. */
bool hauli_restart_was(void);

/* Before the start. 0, or -errno: there is no way back. hauli_restart_fini() in any case. */
int hauli_restart_init(struct hauli_restart *r);
void hauli_restart_fini(struct hauli_restart *r);

/* After it has failed. Returns only if it cannot: -errno. Descriptors opened since are closed. */
int hauli_restart(struct hauli_restart *r);

#endif
