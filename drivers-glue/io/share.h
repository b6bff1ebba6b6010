/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a carrier spends its time: in work, in polls that find nothing, asleep. The poller's time is
 * work from the first packet that a cycle finds until a cycle finds none; while it finds none, the
 * scheduler counts the coroutines that run. The clock is read only at these changes, so a poller
 * that always finds packets, or never, does not read it.
 */
#ifndef HAULI_IO_SHARE_H
#define HAULI_IO_SHARE_H

#include "io/state.h"

/* The poller: before its first cycle, and after its last one. */
void hauli_share_begin(struct hauli_poller *p);
void hauli_share_end(struct hauli_poller *p);

/* Work begins, or ends. Call through the function below, and while p->works. */
void hauli_share_work_begins(struct hauli_poller *p);
void hauli_share_work_ends(struct hauli_poller *p);

/* Adds how the carrier of a poller spends its time. Any thread. */
void hauli_share_add(const struct hauli_poller *p, uint64_t now, struct haul_io_share *s);

/* The poller has something to do. */
static inline void hauli_share_works(struct hauli_poller *p)
{
	if (hauli_unlikely(!p->works))
		hauli_share_work_begins(p);
}

#endif
