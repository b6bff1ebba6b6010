/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HAULI_FD_EPOLL_H
#define HAULI_FD_EPOLL_H

#include "fd/poll.h"

extern const struct hauli_fd_kind hauli_fd_epoll;

#endif
