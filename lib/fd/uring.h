/* SPDX-License-Identifier: BSD-3-Clause */
/* io_uring as a kind of polls, and its operations. */
#ifndef HAULI_FD_URING_H
#define HAULI_FD_URING_H

#include <sys/types.h>
#include <sys/uio.h>

#include "fd/poll.h"
#include "sched/wait/block.h"

extern const struct hauli_fd_kind hauli_fd_uring;

enum hauli_fd_op_kind {
	HAULI_FD_OP_READ,
	HAULI_FD_OP_WRITE,
	HAULI_FD_OP_OPEN,
	HAULI_FD_OP_FSYNC,
};

/* An operation. Lies on the stack of its coroutine. */
struct hauli_fd_op {
	enum hauli_fd_op_kind kind;
	int fd;
	union {
		struct {
			const struct iovec *iov;
			int n;
			off_t offset; /* -1: the file's position */
		};
		struct {
			const char *path;
			int flags;
			mode_t mode;
		};
	};
	struct hauli_block block;
	int result; /* as that of the system call, or -errno */
};

/* Owner, whose kind this is. Begins op; its block is served when it has ended. */
void hauli_uring_begin(struct haul_carrier *c, struct hauli_fd_op *op);

/* Owner. Asks the kernel to end op early. */
void hauli_uring_cancel(struct haul_carrier *c, struct hauli_fd_op *op);

#endif
