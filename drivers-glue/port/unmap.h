/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Burst calls, and memory that a PMD unmaps at the same time.
 *
 * When a peer goes, memif's PMD unmaps the memory that it shared with it, on EAL's interrupt
 * thread. A poller may be in a burst call then, which reads that memory. (It need not be in it for
 * long: where threads share a CPU the poller is preempted there.) So haul has the PMD call its own
 * function instead of munmap(), which first waits until no poller is in a burst call that began
 * before. Later ones return at once, because the PMD marks the connection as down before it unmaps:
 *
 *	poller                             interrupt thread
 *	calls is odd                       connection is down
 *	light fence (fence.E1)             heavy fence (fence.E1)
 *	connection is down? -> return      calls is odd? -> wait until it has changed
 *	reads the memory                   munmap()
 *	calls is even
 *
 * A DPDK that is linked statically cannot be changed so.
 */
#ifndef HAULI_PORT_UNMAP_H
#define HAULI_PORT_UNMAP_H

#include "base/cacheline.h"
#include "conc/fence.h"
#include "conc/word.h"

/* A thread that makes burst calls. */
struct hauli_unmap_reader {
	HAULI_LINE struct hauli_u32_published calls; /* begun and ended; odd during a call */
	struct hauli_unmap_reader *next;
};

/* From now on the PMD's munmap() waits for readers. library: a part of its file's name. */
void hauli_unmap_waits(const char *library);

/* Control threads. */
void hauli_unmap_add(struct hauli_unmap_reader *r);
void hauli_unmap_remove(struct hauli_unmap_reader *r);

static inline void hauli_unmap_call_begins(struct hauli_unmap_reader *r)
{
	hauli_u32_published_set(&r->calls, hauli_u32_published_get(&r->calls) + 1);
	hauli_fence_light();
}

static inline void hauli_unmap_call_ends(struct hauli_unmap_reader *r)
{
	hauli_u32_published_set(&r->calls, hauli_u32_published_get(&r->calls) + 1);
}

#endif
