/* SPDX-License-Identifier: BSD-3-Clause */
/* What takes the place of a descriptor that is being closed. */
#ifndef HAULI_FD_DEAD_H
#define HAULI_FD_DEAD_H

/* A file on which each call fails with EBADF, or -1. It is opened before the first call waits,
 * so that a close needs no descriptor; and again if the program has closed it. */
int hauli_fd_dead_file(void);

#endif
