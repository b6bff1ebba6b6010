/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations that the kernel does as a whole, as those on disks: a call waits until it has ended,
 * also after its deadline, since the kernel uses the caller's memory until then. */
#ifndef HAULI_FD_OP_H
#define HAULI_FD_OP_H

#include "fd/uring.h"

/* The running coroutine does op. Returns its result, -ETIMEDOUT or -ECANCELED. */
int hauli_fd_op(struct hauli_fd_op *op, uint64_t deadline);

#endif
