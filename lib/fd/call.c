/* SPDX-License-Identifier: BSD-3-Clause */
#include "fd/call.h"

#include "fd/open.h"
#include "fd/poll.h"
#include "sched/wait/suspend.h"

int hauli_fd_no_slot(int fd)
{
	if (fd < 0)
		return -EBADF;
	return fd >= HAUL_FDS_MAX ? -EMFILE : -ENOMEM;
}

__attribute__((noinline)) int hauli_fd_errno(void)
{
	__asm__ volatile("");
	return errno;
}

_Static_assert(HAUL_FDS_MAX <= HAULI_BLOCK_NUMBERS, "a wait has the descriptor for its object");

static const char *const what[] = {[HAULI_FD_IN] = "input of fd", [HAULI_FD_OUT] = "room in fd"};

/* Enters the list, unless the descriptor was closed. */
static bool enter(struct hauli_fd_call *call, struct hauli_sync_wait *w)
{
	uint64_t closes = hauli_waitq_lock(call->q);
	bool same = closes == call->closes;

	if (same) {
		hauli_waitq_enter(&call->q->list, w, call->deadline, true);
		hauli_waitq_is_for(w, what[call->dir], (const void *)(intptr_t)call->fd);
	}
	hauli_waitq_unlock(call->q, closes);
	return same;
}

int hauli_fd_call_wait_with(struct hauli_fd_call *call, struct hauli_sync_wait *w)
{
	struct haul_coro *me = hauli_here()->current;
	struct haul_carrier *c = hauli_go_on_at_home(hauli_here(), me);
	int err = hauli_fds_open(c);

	if (!err)
		err = hauli_fd_poll(c, call->fd, call->dir, call->closes);
	if (err)
		/* It may be about another file, which has the number now. */
		return hauli_fd_closes(call->q) == call->closes ? err : -EBADF;
	err = enter(call, w) ? hauli_waitq_wait(call->q, w, hauli_waitq_leave) : -EBADF;
	if (hauli_unlikely(err)) {
		c = hauli_go_on_at_home(hauli_here(), me);
		hauli_fd_poll_no_more(c, call->fd, call->dir, call->closes);
	}
	return err;
}

int hauli_fd_call_wait(struct hauli_fd_call *call)
{
	struct hauli_sync_wait w;

	return hauli_fd_call_wait_with(call, &w);
}

#define TRIES_EACH 32

int hauli_fd_call_wait_first(struct hauli_fd_call *call)
{
	uint64_t lately = hauli_u64_shared_get(&call->slot->lately) + HAULI_FD_RIGHT;
	int err;

	if (lately > (TRIES_EACH + 2) * HAULI_FD_RIGHT)
		lately = HAULI_FD_RIGHT | HAULI_FD_EMPTIED;
	hauli_u64_shared_set(&call->slot->lately, lately);
	err = hauli_fd_call_wait(call);
	/* After another error the call tries, and gets it again if it has to wait. */
	return err == -EBADF || err == -ECANCELED ? err : 0;
}
