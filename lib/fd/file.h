/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HAULI_FD_FILE_H
#define HAULI_FD_FILE_H

#include <sys/types.h>

/* read(2) that does not block; but a file is read at once, since it is always ready. */
ssize_t hauli_fd_read_for_case(int fd, void *buf, size_t len);

#endif
