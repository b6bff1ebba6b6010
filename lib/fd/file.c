/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads and writes of any descriptor, by RWF_NOWAIT: without it a descriptor without O_NONBLOCK
 * would block the thread. Files whose data the kernel does not have in memory are read and written
 * as a whole operation (op.h).
 */
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/openat2.h>

#include "base/assert.h"
#include "base/forks.h"
#include "fd/call.h"
#include "fd/file.h"
#include "fd/op.h"

#define AT_POSITION ((off_t)-1)

/* poll(2) says of a file that it is ready, whether a read would block or not. */
static bool is_file(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && (S_ISREG(st.st_mode) || S_ISBLK(st.st_mode));
}

/* For what refuses RWF_NOWAIT, such as a terminal: by O_NONBLOCK, which two threads at a time might
 * take from each other. */
static ssize_t do_unblocked(const struct hauli_fd_op *op)
{
	ssize_t n = -1;
	int flags, err;

	hauli_process_lock();
	flags = fcntl(op->fd, F_GETFL);
	if (flags >= 0 && (flags & O_NONBLOCK || fcntl(op->fd, F_SETFL, flags | O_NONBLOCK) == 0))
		n = op->kind == HAULI_FD_OP_READ ? readv(op->fd, op->iov, op->n)
						 : writev(op->fd, op->iov, op->n);
	err = errno;
	if (flags >= 0 && !(flags & O_NONBLOCK))
		(void)fcntl(op->fd, F_SETFL, flags);
	hauli_process_unlock();
	errno = err;
	return n;
}

static ssize_t try_it(const struct hauli_fd_op *op)
{
	ssize_t n = op->kind == HAULI_FD_OP_READ
		? preadv2(op->fd, op->iov, op->n, op->offset, RWF_NOWAIT)
		: pwritev2(op->fd, op->iov, op->n, op->offset, RWF_NOWAIT);

	if (hauli_likely(n >= 0) || errno != EOPNOTSUPP)
		return n;
	if (!is_file(op->fd))
		return do_unblocked(op);
	errno = EAGAIN;
	return -1;
}

ssize_t hauli_fd_read_for_case(int fd, void *buf, size_t len)
{
	struct iovec iov = {buf, len};
	const struct hauli_fd_op op = {
		.kind = HAULI_FD_OP_READ, .fd = fd, .iov = &iov, .n = 1, .offset = AT_POSITION};
	ssize_t n = try_it(&op);

	return n < 0 && errno == EAGAIN && is_file(fd) ? read(fd, buf, len) : n;
}

static ssize_t transfer(const char *name, enum hauli_fd_op_kind kind, int fd,
	const struct iovec *iov, int n, off_t offset, uint64_t deadline)
{
	struct hauli_fd_op op = {.kind = kind, .fd = fd, .iov = iov, .n = n, .offset = offset};
	enum hauli_fd_dir dir = kind == HAULI_FD_OP_READ ? HAULI_FD_IN : HAULI_FD_OUT;
	struct hauli_fd_call call;
	ssize_t done = hauli_fd_call_begin(&call, name, fd, dir, deadline);

	if (hauli_unlikely(done != 0))
		return done;
	do {
		done = try_it(&op);
		if (hauli_unlikely(done < 0) && errno == EAGAIN && deadline != 0 && is_file(fd))
			return hauli_fd_op(&op, deadline);
	} while (hauli_unlikely(done < 0) && hauli_fd_call_again(&call, &done));
	return done;
}

ssize_t haul_fd_read(int fd, void *buf, size_t len, uint64_t deadline)
{
	struct iovec iov = {buf, len};

	return transfer(__func__, HAULI_FD_OP_READ, fd, &iov, 1, AT_POSITION, deadline);
}

ssize_t haul_fd_write(int fd, const void *buf, size_t len, uint64_t deadline)
{
	struct iovec iov = {(void *)buf, len};

	return transfer(__func__, HAULI_FD_OP_WRITE, fd, &iov, 1, AT_POSITION, deadline);
}

ssize_t haul_fd_readv(int fd, const struct iovec *iov, int n, uint64_t deadline)
{
	return transfer(__func__, HAULI_FD_OP_READ, fd, iov, n, AT_POSITION, deadline);
}

ssize_t haul_fd_writev(int fd, const struct iovec *iov, int n, uint64_t deadline)
{
	return transfer(__func__, HAULI_FD_OP_WRITE, fd, iov, n, AT_POSITION, deadline);
}

ssize_t haul_fd_pread(int fd, void *buf, size_t len, off_t offset, uint64_t deadline)
{
	struct iovec iov = {buf, len};

	if (offset < 0)
		return -EINVAL;
	return transfer(__func__, HAULI_FD_OP_READ, fd, &iov, 1, offset, deadline);
}

ssize_t haul_fd_pwrite(int fd, const void *buf, size_t len, off_t offset, uint64_t deadline)
{
	struct iovec iov = {(void *)buf, len};

	if (offset < 0)
		return -EINVAL;
	return transfer(__func__, HAULI_FD_OP_WRITE, fd, &iov, 1, offset, deadline);
}

/* openat2(2) of what the kernel has in memory. -EAGAIN: another way is needed. */
static int open_cached(const char *path, int flags)
{
	struct open_how how = {.flags = (uint64_t)flags, .resolve = RESOLVE_CACHED};
	int fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));

	if (fd >= 0)
		return fd;
	return errno == ENOSYS || errno == EINVAL || errno == EPERM ? -EAGAIN : -errno;
}

/* -EAGAIN if an open with O_NONBLOCK does not do what one without does: that of a FIFO would not
 * wait for the other end, and would wake one that waits there. */
static int look_at_type(const char *path, int flags)
{
	int fd = open_cached(path, O_PATH | (flags & (O_CLOEXEC | O_DIRECTORY | O_NOFOLLOW)));
	struct stat st;
	bool is_plain;

	if (fd < 0)
		return fd;
	is_plain = fstat(fd, &st) == 0 && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode));
	(void)close(fd);
	return is_plain ? 0 : -EAGAIN;
}

/* Opens what needs neither a disk nor another process. -EAGAIN: another way is needed. */
static int open_at_once(const char *path, int flags)
{
	int err;
	int fd;

	if (flags & (O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY)))
		return -EAGAIN;
	if (flags & (O_NONBLOCK | O_PATH))
		return open_cached(path, flags);
	err = look_at_type(path, flags);
	if (err)
		return err;
	fd = open_cached(path, flags | O_NONBLOCK); /* another process may have a lease */
	if (fd >= 0)
		(void)fcntl(fd, F_SETFL, flags);
	return fd;
}

int haul_fd_open(const char *path, int flags, mode_t mode, uint64_t deadline)
{
	struct haul_carrier *c = hauli_here();
	struct hauli_fd_op op = {.kind = HAULI_FD_OP_OPEN,
		.fd = -1,
		.path = path,
		.flags = flags | O_CLOEXEC,
		.mode = mode};
	int err;

	HAUL_MISUSE_IF(!path, "the path is NULL");
	err = hauli_waitq_check(c, c->current, __func__, deadline);
	if (err)
		return err;
	err = open_at_once(path, op.flags);
	return err == -EAGAIN && deadline != 0 ? hauli_fd_op(&op, deadline) : err;
}

int haul_fd_fsync(int fd, uint64_t deadline)
{
	struct haul_carrier *c = hauli_here();
	struct hauli_fd_op op = {.kind = HAULI_FD_OP_FSYNC, .fd = fd};
	int err = hauli_waitq_check(c, c->current, __func__, deadline);

	if (err)
		return err;
	return deadline == 0 ? -EAGAIN : hauli_fd_op(&op, deadline);
}
