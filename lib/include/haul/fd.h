/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls on file descriptors that suspend the calling coroutine instead of its thread: sockets,
 * pipes, files and whatever poll(2) knows, of the kernel. The carrier goes on meanwhile, with other
 * coroutines and its poller.
 *
 * They are the calls of POSIX, with a deadline at the end, as in haul/sync.h. The descriptors are
 * ordinary ones, with or without O_NONBLOCK. Each call returns what the system call returns, or an
 * error as a negative number:
 *	-EAGAIN     it would have had to wait, and the deadline is 0
 *	-ETIMEDOUT  the deadline, or that of an enclosing scope, has passed, and nothing was done
 *	-ECANCELED  the caller is cancelled (haul_cancel()), and nothing was done
 *	-EBADF      the descriptor is not open, or haul_fd_close() has closed it meanwhile
 *	-EMFILE     the descriptor is HAUL_FDS_MAX or above
 *	-ENOMEM     no memory, or no descriptors, for waiting
 *	-ENOTSUP    it has to wait, and the runtime has virtual time
 *	-ENOBUFS    of files, with epoll: too many calls wait for a thread (haul/offload.h)
 * and those of the system call; never -EINTR. What was transferred is reported, also if the
 * deadline has passed by then. Memory that the caller gives is used only until the call returns. A
 * call that needs no wait is done even if the deadline has passed; but a cancelled caller gets
 * -ECANCELED, unless the deadline is 0.
 *
 * They are called by a coroutine, but not in a burst handler; with deadline 0 by any thread, as far
 * as the call does not touch a disk. A coroutine that was stolen waits at home.
 *
 * How a carrier waits: by an io_uring of its own, opened by the first call that waits, and if the
 * kernel refuses that by epoll (haul_runtime_opts.fds). While calls wait, a poller that spins looks
 * at two words in memory in each cycle; with epoll it makes a system call each poll_interval_ns.
 * It takes a few descriptors, which a program must not close by closefrom(3) or close_range(2)
 * while a runtime runs: calls would fail, or wait for ever.
 */
#ifndef HAUL_FD_H
#define HAUL_FD_H

#include <poll.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <haul/base.h>
#include <haul/sync.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HAUL_FDS_MAX (1 << 22)

/*
 * read(2) and so on. A transfer may be shorter than asked for, and 0 is the end of input. Files are
 * read and written at their position, or with pread and pwrite at `offset`.
 * haul_fd_write, haul_fd_writev: raise SIGPIPE as write(2) does, unless the program ignores it.
 */
HAUL_API ssize_t haul_fd_read(int fd, void *buf, size_t len, uint64_t deadline) HAUL_SUSPENDS;
HAUL_API ssize_t haul_fd_write(
	int fd, const void *buf, size_t len, uint64_t deadline) HAUL_SUSPENDS;
HAUL_API ssize_t haul_fd_readv(
	int fd, const struct iovec *iov, int n, uint64_t deadline) HAUL_SUSPENDS;
HAUL_API ssize_t haul_fd_writev(
	int fd, const struct iovec *iov, int n, uint64_t deadline) HAUL_SUSPENDS;
HAUL_API ssize_t haul_fd_pread(
	int fd, void *buf, size_t len, off_t offset, uint64_t deadline) HAUL_SUSPENDS;
HAUL_API ssize_t haul_fd_pwrite(
	int fd, const void *buf, size_t len, off_t offset, uint64_t deadline) HAUL_SUSPENDS;

/*
 * recv(2) and so on, for sockets. flags: MSG_; with MSG_DONTWAIT the deadline is 0. They raise no
 * SIGPIPE.
 */
HAUL_API ssize_t haul_fd_recv(
	int fd, void *buf, size_t len, int flags, uint64_t deadline) HAUL_SUSPENDS;
HAUL_API ssize_t haul_fd_send(
	int fd, const void *buf, size_t len, int flags, uint64_t deadline) HAUL_SUSPENDS;
HAUL_API ssize_t haul_fd_recvfrom(int fd, void *buf, size_t len, int flags, struct sockaddr *addr,
	socklen_t *addrlen, uint64_t deadline) HAUL_SUSPENDS;
HAUL_API ssize_t haul_fd_sendto(int fd, const void *buf, size_t len, int flags,
	const struct sockaddr *addr, socklen_t addrlen, uint64_t deadline) HAUL_SUSPENDS;
HAUL_API ssize_t haul_fd_recvmsg(
	int fd, struct msghdr *msg, int flags, uint64_t deadline) HAUL_SUSPENDS;
HAUL_API ssize_t haul_fd_sendmsg(
	int fd, const struct msghdr *msg, int flags, uint64_t deadline) HAUL_SUSPENDS;

/*
 * haul_fd_accept: as accept4(2); returns the new descriptor, which is the caller's. flags:
 *     SOCK_NONBLOCK, SOCK_CLOEXEC. Sets O_NONBLOCK of fd, since another process may take the
 *     connection first.
 * haul_fd_connect: returns 0 once the connection stands. After -ETIMEDOUT or -ECANCELED close the
 *     socket: the kernel may still connect it.
 * haul_fd_close: closes fd, and ends the calls of other coroutines that wait for it: they return
 *     -EBADF. Does not suspend. Any thread. A descriptor for which others may wait is closed by
 *     this call only: after close(2), or dup2(2) onto it, they would wait until their deadlines.
 */
HAUL_API int haul_fd_accept(int fd, struct sockaddr *addr, socklen_t *addrlen, int flags,
	uint64_t deadline) HAUL_SUSPENDS;
HAUL_API int haul_fd_connect(
	int fd, const struct sockaddr *addr, socklen_t addrlen, uint64_t deadline) HAUL_SUSPENDS;
HAUL_API int haul_fd_close(int fd);

/*
 * haul_fd_open: as open(2), and sets O_CLOEXEC; returns the descriptor, which is the caller's.
 *     deadline 0: -EAGAIN, unless the kernel has all names of the path in memory, and nothing is to
 *     be created or truncated.
 * haul_fd_fsync: as fsync(2). deadline 0: always -EAGAIN.
 * A call that has begun to work on a disk when its deadline passes ends when the disk has answered.
 */
HAUL_API int haul_fd_open(
	const char *path, int flags, mode_t mode, uint64_t deadline) HAUL_SUSPENDS;
HAUL_API int haul_fd_fsync(int fd, uint64_t deadline) HAUL_SUSPENDS;

/*
 * haul_fd_wait: waits until fd is ready for one of `events`, POLLIN, POLLOUT or both, and returns
 *     what poll(2) says of it, POLLERR and POLLHUP too: a positive number. Another coroutine may
 *     take what was there before the caller does.
 */
HAUL_API int haul_fd_wait(int fd, short events, uint64_t deadline) HAUL_SUSPENDS;

/*
 * Cases of haul_select(): err of the case is what the call would have returned, so it is negative
 * for an error and else what was transferred, or the new descriptor. Any thread makes cases. That
 * does not suspend.
 */
HAUL_API struct haul_case haul_case_fd(int fd, short events);
HAUL_API struct haul_case haul_case_fd_read(int fd, void *buf, size_t len);
HAUL_API struct haul_case haul_case_fd_accept(int fd, int flags);

#ifdef __cplusplus
}
#endif

#endif
