/* SPDX-License-Identifier: BSD-3-Clause */
/* A call on a descriptor that may wait: a system call that does not block, until it has done
 * something. */
#ifndef HAULI_FD_CALL_H
#define HAULI_FD_CALL_H

#include <errno.h>

#include "base/clock.h"
#include "fd/slot.h"
#include "sched/wait/suspend.h"

struct hauli_fd_call {
	int fd;
	enum hauli_fd_dir dir;
	uint64_t deadline;
	struct hauli_fd_slot *slot; /* the descriptor's */
	struct hauli_waitq *q; /* of dir */
	uint64_t closes;
};

/* Why fd has no slot. */
int hauli_fd_no_slot(int fd);

/* A peer that is always ready must not keep the carrier from its poller and the others: true if the
 * running coroutine's batch is to end. Without a poller that may be later: the more coroutines of a
 * batch wait, the fewer system calls tell the kernel. */
static inline bool hauli_fd_call_ends_batch(struct haul_carrier *c, const struct haul_coro *me)
{
	const struct haul_coro *poller = c->poller.coro;
	uint64_t limit = poller ? c->run.poll_ticks : c->run.round_ticks;

	return me != poller && hauli_ticks() - hauli_u64_owned_get(&c->steal.batch_began) >= limit;
}

/* The call `name` begins. 0 or an error. */
static inline int hauli_fd_call_begin(struct hauli_fd_call *call, const char *name, int fd,
	enum hauli_fd_dir dir, uint64_t deadline)
{
	struct haul_carrier *c = hauli_here();
	struct haul_coro *me = c->current;
	int err = hauli_waitq_check(c, me, name, deadline);

	if (hauli_unlikely(err))
		return err;
	call->slot = hauli_fd_slot(fd);
	if (hauli_unlikely(!call->slot))
		return hauli_fd_no_slot(fd);
	if (deadline != 0 && hauli_unlikely(hauli_fd_call_ends_batch(c, me)))
		hauli_end_long_batch(c, me);
	call->fd = fd;
	call->dir = dir;
	call->deadline = deadline;
	call->q = &call->slot->q[dir];
	call->closes = hauli_fd_closes(call->q);
	return 0;
}

/* Suspends the running coroutine until the system call can be made again: 0; or returns an
 * error. */
int hauli_fd_call_wait(struct hauli_fd_call *call);
/* The same, by w, which is used until it returns. */
int hauli_fd_call_wait_with(struct hauli_fd_call *call, struct hauli_sync_wait *w);

/*
 * A read that has got less than it asked for has most likely emptied a stream, so the next one
 * would try in vain: it waits first. A wrong guess costs time only, since a poll looks at the state
 * when it begins; so a call waits first only if the last guesses were right, and each 32nd
 * tries. The slot's word is
 *	EMPTIED   the last read got less than it asked for
 *	n * RIGHT with n < 2: so many tries since then were in vain; else that and the number of
 *	    calls that have waited first
 */
#define HAULI_FD_EMPTIED UINT64_C(1)
#define HAULI_FD_RIGHT UINT64_C(2)

static inline bool hauli_fd_call_waits_first(const struct hauli_fd_call *call)
{
	uint64_t lately = hauli_u64_shared_get(&call->slot->lately);

	return (lately & HAULI_FD_EMPTIED) && lately >= 2 * HAULI_FD_RIGHT && call->deadline != 0;
}

/* Before the first try of a read. 0 or an error. */
int hauli_fd_call_wait_first(struct hauli_fd_call *call);

/* A try was in vain. */
static inline void hauli_fd_call_in_vain(const struct hauli_fd_call *call)
{
	uint64_t lately = hauli_u64_shared_get(&call->slot->lately);

	if ((lately & HAULI_FD_EMPTIED) && lately < 2 * HAULI_FD_RIGHT)
		hauli_u64_shared_set(&call->slot->lately, lately + HAULI_FD_RIGHT);
}

/* A read has returned n bytes of len. tried: it did not wait. */
static inline void hauli_fd_call_has_read(
	const struct hauli_fd_call *call, size_t n, size_t len, bool tried)
{
	uint64_t lately = hauli_u64_shared_get(&call->slot->lately);
	uint64_t now = lately & ~HAULI_FD_EMPTIED;

	if (tried && (lately & HAULI_FD_EMPTIED))
		now = 0; /* not emptied after all */
	if (n < len)
		now |= HAULI_FD_EMPTIED;
	if (now != lately)
		hauli_u64_shared_set(&call->slot->lately, now);
}

/* errno, of the thread that runs the coroutine now: the compiler must not remember where it is from
 * before a wait, which may have moved the coroutine to another thread. */
int hauli_fd_errno(void);

/* After a system call that has returned *n: true if it is to be made again. Else *n is the result
 * of the call. */
static inline bool hauli_fd_call_again(struct hauli_fd_call *call, ssize_t *n)
{
	int err;

	if (hauli_likely(*n >= 0))
		return false;
	err = hauli_fd_errno();
	if (err == EINTR)
		return true;
	if (err != EAGAIN) {
		*n = -err;
		return false;
	}
	err = call->deadline == 0 ? -EAGAIN : hauli_fd_call_wait(call);
	*n = err;
	return err == 0;
}

#endif
