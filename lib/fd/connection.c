/* SPDX-License-Identifier: BSD-3-Clause */
/* How connections begin, and how descriptors end. */
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <unistd.h>

#include "fd/call.h"
#include "fd/connection.h"
#include "fd/dead.h"

/* Sets O_NONBLOCK. Returns the flags from before, or -errno. */
static int unblock(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || (!(flags & O_NONBLOCK) && fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0))
		return -errno;
	return flags;
}

int hauli_fd_accept(
	struct hauli_fd_slot *slot, int fd, struct sockaddr *addr, socklen_t *addrlen, int flags)
{
	int n;

	hauli_fd_enter(slot);
	n = unblock(fd);
	if (n < 0) {
		errno = -n;
		n = -1;
	} else {
		n = accept4(fd, addr, addrlen, flags);
	}
	hauli_fd_leave(slot);
	return n;
}

int haul_fd_accept(int fd, struct sockaddr *addr, socklen_t *addrlen, int flags, uint64_t deadline)
{
	socklen_t room = addrlen ? *addrlen : 0;
	struct hauli_fd_call call;
	ssize_t n = hauli_fd_call_begin(&call, __func__, fd, HAULI_FD_IN, deadline);

	if (n != 0)
		return (int)n;
	do {
		if (addrlen)
			*addrlen = room;
		n = hauli_fd_accept(call.slot, fd, addr, addrlen, flags);
	} while (hauli_fd_call_again(&call, &n));
	return (int)n;
}

/* The kernel connects a socket that does not block. 0, -EINPROGRESS or an error. */
static int begin_connect(
	struct hauli_fd_slot *slot, int fd, const struct sockaddr *addr, socklen_t addrlen)
{
	int flags, err;

	hauli_fd_enter(slot);
	flags = err = unblock(fd);
	if (flags >= 0) {
		err = connect(fd, addr, addrlen) < 0 ? -errno : 0;
		if (!(flags & O_NONBLOCK))
			(void)fcntl(fd, F_SETFL, flags);
	}
	hauli_fd_leave(slot);
	return err == -EINTR ? -EINPROGRESS : err;
}

/* The call has waited until the socket is writable. */
static int end_connect(int fd)
{
	int err = 0;
	socklen_t len = sizeof(err);

	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len) < 0)
		return -errno;
	return -err;
}

int haul_fd_connect(int fd, const struct sockaddr *addr, socklen_t addrlen, uint64_t deadline)
{
	struct pollfd ready = {.fd = fd, .events = POLLOUT};
	struct hauli_fd_call call;
	int err = hauli_fd_call_begin(&call, __func__, fd, HAULI_FD_OUT, deadline);

	if (err)
		return err;
	err = begin_connect(call.slot, fd, addr, addrlen);
	if (err != -EINPROGRESS)
		return err;
	if (deadline == 0)
		return -EAGAIN;
	do {
		err = hauli_fd_call_wait(&call);
		if (err)
			return err;
	} while (poll(&ready, 1, 0) == 0);
	return end_connect(fd);
}

/* After the dead file. */
static void wait_for_gate(struct hauli_fd_slot *slot)
{
	hauli_fence_full();
	while (!hauli_gate_is_empty(&slot->gate))
		sched_yield();
}

int haul_fd_close(int fd)
{
	struct hauli_fd_slot *slot = hauli_fd_slot(fd);
	int dead = hauli_fd_dead_file();

	if (fcntl(fd, F_GETFD) < 0)
		return -errno;
	if (slot) {
		/* A call that finds the new value tries first, and finds the dead file. */
		hauli_u64_shared_set(&slot->lately, 0);
		if (dead >= 0)
			(void)dup3(dead, fd, O_CLOEXEC);
		hauli_fd_wake_all(&slot->q[HAULI_FD_IN]);
		hauli_fd_wake_all(&slot->q[HAULI_FD_OUT]);
		wait_for_gate(slot);
	}
	return close(fd) < 0 && errno != EINTR ? -errno : 0;
}
