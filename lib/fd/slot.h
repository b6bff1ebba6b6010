/* SPDX-License-Identifier: BSD-3-Clause */
/* The waiters of each file descriptor of the process. The argument is in slot.c. */
#ifndef HAULI_FD_SLOT_H
#define HAULI_FD_SLOT_H

#include <haul/fd.h>

#include "base/cacheline.h"
#include "conc/fence.h"
#include "conc/gate.h"
#include "sync/waitq.h"

/* What a call waits for. */
enum hauli_fd_dir {
	HAULI_FD_IN,
	HAULI_FD_OUT,
};

/* All zero: nobody waits. Its memory is never freed. By direction, the coroutines of all carriers;
 * the value of each word is changed when haul_fd_close() closes the descriptor. */
struct hauli_fd_slot {
	HAULI_LINE struct hauli_waitq q[2];
	struct hauli_u64_shared lately; /* what reads have found (call.h) */
	struct hauli_gate gate; /* of those that are between two system calls. It stays open */
};

/* Any thread. The slot of fd. NULL: there is no memory, or fd is out of range. */
struct hauli_fd_slot *hauli_fd_slot(int fd);

/* The value of q's word; another one later: the descriptor was closed in between. */
static inline uint64_t hauli_fd_closes(const struct hauli_waitq *q)
{
	return hauli_waitq_value(hauli_lockword_get(&q->word));
}

/* Owner. The kernel has told c that a call can go on: wakes the first of q that is at home there.
 * True: others at home there wait, for this value. */
bool hauli_fd_ready(struct hauli_waitq *q, const struct haul_carrier *c, uint64_t *closes);

/* Owner. True if a coroutine at home on c waits in q. */
bool hauli_fd_waits(struct hauli_waitq *q, const struct haul_carrier *c);

/* Any thread. Until hauli_fd_leave() the system calls of this thread on the descriptor find one
 * file, or a dead one if haul_fd_close() closes it meanwhile. */
static inline void hauli_fd_enter(struct hauli_fd_slot *slot)
{
	(void)hauli_gate_enter(&slot->gate);
	hauli_fence_full();
}

static inline void hauli_fd_leave(struct hauli_fd_slot *slot)
{
	hauli_gate_leave(&slot->gate);
}

/* Any thread. Changes the value, and wakes all that wait, with -EBADF. */
void hauli_fd_wake_all(struct hauli_waitq *q);

#endif
