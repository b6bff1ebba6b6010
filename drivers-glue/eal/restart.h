/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A second try after EAL's start has failed. A process can start EAL only once, so the program is
 * executed again, in the same process, from its main().
 */
#ifndef HAULI_EAL_RESTART_H
#define HAULI_EAL_RESTART_H

#include <stdbool.h>
#include <stddef.h>

/* The descriptors that the program had open before the start. */
struct hauli_restart {
	size_t n;
	bool *open; /* indexed by descriptor */
};

/* True if this program was executed again. */
bool hauli_restart_was(void);

/* Call before the start. 0, or -errno: a restart will not be possible. Call hauli_restart_fini() in
 * any case. */
int hauli_restart_init(struct hauli_restart *r);
void hauli_restart_fini(struct hauli_restart *r);

/* Call after a failed start. Returns only on error: -errno. Closes descriptors opened since. */
int hauli_restart(struct hauli_restart *r);

#endif
