/* SPDX-License-Identifier: BSD-3-Clause */
/* What the scheduler sees of a carrier's calls on file descriptors (lib/fd): a second source of
 * work beside its inbox. */
#ifndef HAULI_SCHED_STATE_FDS_H
#define HAULI_SCHED_STATE_FDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cacheline.h"
#include "conc/word.h"

struct haul_carrier;

/* How a carrier learns from the kernel that calls can go on: io_uring or epoll. Called by the
 * carrier's thread, but for wake(). */
struct hauli_fds_kind {
	/* Tells the kernel what is new, and makes coroutines ready whose calls can go on: a bounded
	 * number. True: there were some. */
	bool (*take)(struct haul_carrier *c);
	/* NULL: memory tells whether take() has something to do. Else when to call it and see, in
	 * ticks. */
	uint64_t (*look_at)(const struct haul_carrier *c);
	/* Blocks until take() has something to do, wake() is called, or the time `at`, in ticks;
	 * HAULI_NEVER: without a limit. */
	void (*wait)(struct haul_carrier *c, uint64_t at);
	/* Any thread. Ends a wait(), also one that begins later. */
	void (*wake)(struct haul_carrier *c);
	/* By the poller. The descriptor that is readable when take() has something to do, or -1:
	 * there is none. */
	int (*cover)(struct haul_carrier *c);
	/* By the poller, after cover(), and before it sees whether take() has something to do: what
	 * that descriptor has told is forgotten. NULL: it tells what is, not what was. */
	void (*forget)(struct haul_carrier *c);
	void (*close)(struct haul_carrier *c); /* once, when the carrier's loop has ended */
};

/* Owner, but kind is read by a thread that has ended a sleep of HAULI_INBOX_FDS_WAIT. */
struct hauli_carrier_fds {
	const struct hauli_fds_kind *kind; /* NULL: no call has waited yet */
	/* Two words that the kernel writes: there is something if the first is not `head`, or the
	 * second has one of the bits of mask. */
	const struct hauli_u32_seen *tail, *flags;
	uint32_t head, mask;
	uint32_t waits; /* the number of things that the kernel will report */
	bool tells; /* take() has something to tell the kernel */
	bool covered; /* the poller's wait ends when take() has something to do (poller.c) */
	int fd; /* that of cover(). Constant once `covered` is set */
	void *own; /* the kind's */
};

/* True if take() is to be called, by a carrier that is awake. Two words in memory decide, so a
 * carrier that spins makes no system call. */
static inline bool hauli_fds_are_due(
	const struct haul_carrier *c, const struct hauli_carrier_fds *f)
{
	if (hauli_likely(!f->kind))
		return false;
	if (hauli_likely(!f->tells && hauli_u32_seen_get(f->tail) == f->head &&
		    !(hauli_u32_seen_get(f->flags) & f->mask)))
		return false;
	return !f->kind->look_at || hauli_ticks() >= f->kind->look_at(c);
}

/* True if calls wait, and only a system call tells whether they can go on. */
static inline bool hauli_fds_are_unseen(const struct hauli_carrier_fds *f)
{
	return f->waits > 0 && f->kind->look_at;
}

#endif
