/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HAULI_FD_CONNECTION_H
#define HAULI_FD_CONNECTION_H

#include "fd/slot.h"

/* accept4(2) that does not block. slot: of fd. */
int hauli_fd_accept(
	struct hauli_fd_slot *slot, int fd, struct sockaddr *addr, socklen_t *addrlen, int flags);

#endif
