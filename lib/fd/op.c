/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Promise: what the kernel has done is what the call returns, and the kernel uses neither the
 * operation nor the caller's memory when the call has returned.
 *
 * The kernel is the server of the call's block (sched/wait/block.c), by its one completion, which
 * the home takes in. A call whose wait ends otherwise asks the kernel to end the operation early,
 * and waits for the completion in any case. Its result decides: the kernel has ended the operation
 * before it did anything (ECANCELED, EINTR), so the call returns why its wait ended; or it has not.
 * An operation that the kernel interrupts unasked begins again.
 * The completion of the cancel tells nothing, and may come after the call has returned: it has the
 * operation's address no more. A later operation at the same address is submitted after the cancel,
 * which the kernel has finished by then.
 *
 * Models: tests/model/fd_op.c, fd_op_cancel.c, fd_op_lasts.c; fds_stop.c, fds_stop_poll.c: the last
 * call against the stop. Tests: tests/unit/fd.c, fd_rare.c, tests/stress/fds.c.
 */
#include "fd/op.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "fd/open.h"
#include "offload/offload.h"
#include "sched/state/self.h"
#include "sched/wait/suspend.h"

static const char *const what[] = {
	[HAULI_FD_OP_READ] = "a read of file",
	[HAULI_FD_OP_WRITE] = "a write of file",
	[HAULI_FD_OP_OPEN] = "the opening of file",
	[HAULI_FD_OP_FSYNC] = "the fsync of file",
};

/* On a thread that may block. */
static void do_op(void *arg)
{
	struct hauli_fd_op *op = arg;
	ssize_t n = -1;

	switch (op->kind) {
	case HAULI_FD_OP_READ:
		n = preadv2(op->fd, op->iov, op->n, op->offset, 0);
		break;
	case HAULI_FD_OP_WRITE:
		n = pwritev2(op->fd, op->iov, op->n, op->offset, 0);
		break;
	case HAULI_FD_OP_OPEN:
		n = open(op->path, op->flags, op->mode);
		break;
	case HAULI_FD_OP_FSYNC:
		n = fsync(op->fd);
		break;
	}
	op->result = n < 0 ? -errno : (int)n;
}

/* Without io_uring. The deadline is that of the queue for a thread. */
static int offload(struct hauli_fd_op *op, uint64_t deadline)
{
	const struct hauli_offload o = {.fn = do_op,
		.arg = op,
		.what = what[op->kind],
		.object = (const void *)(intptr_t)op->fd};
	int err = hauli_offload(&o, deadline);

	return err ? err : op->result;
}

/* The kernel has ended the operation before it did anything. An open that waits gives errors that
 * no system call returns: ERESTARTSYS and its like. */
static bool was_interrupted(int result)
{
	return result == -EINTR || (result <= -512 && result >= -516);
}

int hauli_fd_op(struct hauli_fd_op *op, uint64_t deadline)
{
	struct haul_coro *me = hauli_here()->current;
	struct haul_carrier *c = hauli_go_on_at_home(hauli_here(), me);
	int err = hauli_fds_open(c);

	if (err)
		return err;
	if (hauli_fds_of(c)->kind != &hauli_fd_uring)
		return offload(op, deadline);
	for (;;) {
		hauli_block_init(&op->block, me, deadline, true);
		op->block.what = what[op->kind];
		op->block.object = (const void *)(intptr_t)op->fd;
		hauli_uring_begin(c, op);
		err = hauli_block_wait(&op->block);
		if (!err && !was_interrupted(op->result))
			return op->result;
		c = hauli_go_on_at_home(hauli_here(), me);
		if (err)
			break;
	}
	hauli_uring_cancel(c, op);
	hauli_block_wait_served(&op->block);
	return op->result == -ECANCELED || was_interrupted(op->result) ? err : op->result;
}
