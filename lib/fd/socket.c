/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls on sockets. */
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/assert.h"
#include "coro/fiber.h"
#include "fd/call.h"
#include "sched/state/traced.h"

/* libc's calls are points where a thread can be cancelled, which costs two locked operations each.
 * A sanitizer has to see them, though. */
#if HAULI_ASAN || HAULI_TSAN
#define RECV_(fd, buf, len, flags) recv(fd, buf, len, flags)
#define SEND_(fd, buf, len, flags) send(fd, buf, len, flags)
#else
#define RECV_(fd, buf, len, flags) syscall(SYS_recvfrom, fd, buf, len, flags, NULL, NULL)
#define SEND_(fd, buf, len, flags) syscall(SYS_sendto, fd, buf, len, flags, NULL, 0)
#endif

/* A system call, which the carrier's timeline has. */
#define TRACED(how, fd, call)                                    \
	({                                                       \
		struct haul_carrier *here = hauli_here();        \
		uint64_t began = hauli_traced_call_begins(here); \
		ssize_t got = call;                              \
                                                                 \
		hauli_traced_call(here, how, fd, began);         \
		got;                                             \
	})
#define RECV(fd, buf, len, flags) TRACED(HAUL_TRACE_RECEIVES, fd, RECV_(fd, buf, len, flags))
#define SEND(fd, buf, len, flags) TRACED(HAUL_TRACE_SENDS, fd, SEND_(fd, buf, len, flags))

/* One for each system call: `call` does not block. */
#define TRY(dir, call)                                                            \
	do {                                                                      \
		uint64_t until = flags & MSG_DONTWAIT ? 0 : deadline;             \
		struct hauli_fd_call this;                                        \
		ssize_t n = hauli_fd_call_begin(&this, __func__, fd, dir, until); \
                                                                                  \
		if (hauli_unlikely(n != 0))                                       \
			return n;                                                 \
		flags |= MSG_DONTWAIT | MSG_NOSIGNAL;                             \
		do                                                                \
			n = call;                                                 \
		while (hauli_unlikely(n < 0) && hauli_fd_call_again(&this, &n));  \
		return n;                                                         \
	} while (0)

/* Waits until recv() can be made again, and makes it. */
static __attribute__((noinline)) ssize_t recv_later(
	struct hauli_fd_call *call, void *buf, size_t len, int flags, ssize_t n)
{
	if (n < 0 && hauli_fd_errno() == EAGAIN)
		hauli_fd_call_in_vain(call);
	while (n < 0 && hauli_fd_call_again(call, &n))
		n = RECV(call->fd, buf, len, flags);
	return n;
}

ssize_t haul_fd_recv(int fd, void *buf, size_t len, int flags, uint64_t deadline)
{
	uint64_t until = flags & MSG_DONTWAIT ? 0 : deadline;
	struct hauli_fd_call call;
	ssize_t n = hauli_fd_call_begin(&call, __func__, fd, HAULI_FD_IN, until);
	bool tried = true;

	if (hauli_unlikely(n != 0))
		return n;
	if (flags == 0 && hauli_fd_call_waits_first(&call)) {
		n = hauli_fd_call_wait_first(&call);
		if (n)
			return n;
		tried = false;
	}
	flags |= MSG_DONTWAIT | MSG_NOSIGNAL;
	n = RECV(fd, buf, len, flags);
	if (hauli_unlikely(n < 0)) {
		n = recv_later(&call, buf, len, flags, n);
		tried = false;
	}
	if (n > 0 && flags == (MSG_DONTWAIT | MSG_NOSIGNAL))
		hauli_fd_call_has_read(&call, (size_t)n, len, tried);
	return n;
}

ssize_t haul_fd_send(int fd, const void *buf, size_t len, int flags, uint64_t deadline)
{
	TRY(HAULI_FD_OUT, SEND(fd, buf, len, flags));
}

ssize_t haul_fd_recvfrom(int fd, void *buf, size_t len, int flags, struct sockaddr *addr,
	socklen_t *addrlen, uint64_t deadline)
{
	TRY(HAULI_FD_IN,
		TRACED(HAUL_TRACE_RECEIVES, fd, recvfrom(fd, buf, len, flags, addr, addrlen)));
}

ssize_t haul_fd_sendto(int fd, const void *buf, size_t len, int flags, const struct sockaddr *addr,
	socklen_t addrlen, uint64_t deadline)
{
	TRY(HAULI_FD_OUT, TRACED(HAUL_TRACE_SENDS, fd, sendto(fd, buf, len, flags, addr, addrlen)));
}

ssize_t haul_fd_recvmsg(int fd, struct msghdr *msg, int flags, uint64_t deadline)
{
	TRY(HAULI_FD_IN, TRACED(HAUL_TRACE_RECEIVES, fd, recvmsg(fd, msg, flags)));
}

ssize_t haul_fd_sendmsg(int fd, const struct msghdr *msg, int flags, uint64_t deadline)
{
	TRY(HAULI_FD_OUT, TRACED(HAUL_TRACE_SENDS, fd, sendmsg(fd, msg, flags)));
}
