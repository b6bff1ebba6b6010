/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and writes. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "sim/fds/table.h"
#include "sim/real.h"
#include "sim/world.h"

static ssize_t try_read(struct hauli_sim_file *f, void *to)
{
	return f->kind->read(f, to);
}

static ssize_t try_write(struct hauli_sim_file *f, void *from)
{
	return f->kind->write(f, from);
}

static ssize_t do_read(struct hauli_sim_file *f, const struct iovec *iov, int n, bool waits)
{
	struct hauli_sim_bytes to;
	int failed;

	if ((f->flags & O_ACCMODE) == O_WRONLY)
		return -EBADF;
	if (n < 0 || n > IOV_MAX || !f->kind->read)
		return -EINVAL;
	failed = f->kind->fails ? f->kind->fails(f, false) : 0;
	if (failed)
		return failed;
	to = hauli_sim_bytes(iov, (size_t)n);
	return hauli_sim_file_try(
		f, HAULI_SIM_IN, hauli_sim_file_until(f, HAULI_SIM_IN, waits), try_read, &to);
}

static ssize_t do_write(struct hauli_sim_file *f, const struct iovec *iov, int n, bool waits)
{
	uint64_t until = hauli_sim_file_until(f, HAULI_SIM_OUT, waits);
	struct hauli_sim_bytes from;
	struct hauli_sim_watch hold;
	int failed;
	ssize_t done, sum = 0;

	if ((f->flags & O_ACCMODE) == O_RDONLY)
		return -EBADF;
	if (n < 0 || n > IOV_MAX || !f->kind->write)
		return -EINVAL;
	failed = f->kind->fails ? f->kind->fails(f, true) : 0;
	if (failed)
		return failed;
	from = hauli_sim_bytes(iov, (size_t)n);
	hauli_sim_hold(&hold, f);
	do {
		done = hauli_sim_file_try(f, HAULI_SIM_OUT, until, try_write, &from);
		sum += done > 0 ? done : 0;
	} while (done > 0 && f->kind->is_stream && until && from.left);
	if (done == -EPIPE && sum == 0 && f->kind->is_stream)
		(void)raise(SIGPIPE);
	hauli_sim_let_go(&hold);
	return sum ? sum : done;
}

/* Of a vector without bytes nothing is asked of the file. */
static ssize_t read_vector(struct hauli_sim_file *f, const struct iovec *iov, int n, bool waits)
{
	bool may_read = (f->flags & O_ACCMODE) != O_WRONLY && f->kind->read;

	if (may_read && n >= 0 && n <= IOV_MAX && hauli_sim_bytes(iov, (size_t)n).left == 0)
		return 0;
	return do_read(f, iov, n, waits);
}

static ssize_t write_vector(struct hauli_sim_file *f, const struct iovec *iov, int n, bool waits)
{
	bool may_write = (f->flags & O_ACCMODE) != O_RDONLY && f->kind->write;

	if (may_write && n >= 0 && n <= IOV_MAX && hauli_sim_bytes(iov, (size_t)n).left == 0)
		return 0;
	return do_write(f, iov, n, waits);
}

HAULI_SIM_REPLACED ssize_t read(int fd, void *buf, size_t n)
{
	struct iovec iov = {buf, n};
	ssize_t done;
	struct hauli_sim_file *f = hauli_sim_fds_enter(NULL, fd, NULL);

	if (f)
		return hauli_sim_fds_result(do_read(f, &iov, 1, true));
	done = HAULI_SIM_REAL(read)(fd, buf, n);
	hauli_sim_fds_passed();
	return done;
}

HAULI_SIM_REPLACED ssize_t readv(int fd, const struct iovec *iov, int n)
{
	ssize_t done;
	struct hauli_sim_file *f = hauli_sim_fds_enter(NULL, fd, NULL);

	if (f)
		return hauli_sim_fds_result(read_vector(f, iov, n, true));
	done = HAULI_SIM_REAL(readv)(fd, iov, n);
	hauli_sim_fds_passed();
	return done;
}

HAULI_SIM_REPLACED ssize_t write(int fd, const void *buf, size_t n)
{
	struct iovec iov = {(void *)buf, n};
	ssize_t done;
	struct hauli_sim_file *f = hauli_sim_fds_enter(NULL, fd, NULL);

	if (f)
		return hauli_sim_fds_result(do_write(f, &iov, 1, true));
	done = HAULI_SIM_REAL(write)(fd, buf, n);
	hauli_sim_fds_passed();
	return done;
}

HAULI_SIM_REPLACED ssize_t writev(int fd, const struct iovec *iov, int n)
{
	ssize_t done;
	struct hauli_sim_file *f = hauli_sim_fds_enter(NULL, fd, NULL);

	if (f)
		return hauli_sim_fds_result(write_vector(f, iov, n, true));
	done = HAULI_SIM_REAL(writev)(fd, iov, n);
	hauli_sim_fds_passed();
	return done;
}

/*
 * Whether the kernel has a part of a file in its memory is not for a simulation to depend on: the
 * seed says so.
 */
static bool is_vain(int fd, int flags)
{
	struct stat st;

	return hauli_sim_is_on() && flags & RWF_NOWAIT && fstat(fd, &st) == 0 &&
		S_ISREG(st.st_mode) && hauli_sim_random() % 2;
}

/* With RWF_NOWAIT only on what may be asked so. */
static int without_doubt(int fd, int flags)
{
	struct stat st;

	return hauli_sim_is_on() && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? flags & ~RWF_NOWAIT
									       : flags;
}

/* With an offset; -1: that of the file, which a simulated one has not. */
static ssize_t read_at(int fd, const struct iovec *iov, int n, off_t at, int flags)
{
	ssize_t done;
	struct hauli_sim_file *f = hauli_sim_fds_enter(NULL, fd, NULL);

	if (f) {
		done = at != -1 ? -ESPIPE : read_vector(f, iov, n, !(flags & RWF_NOWAIT));
		return hauli_sim_fds_result(done);
	}
	if (is_vain(fd, flags))
		return hauli_sim_fds_result(-EAGAIN);
	done = HAULI_SIM_REAL(preadv2)(fd, iov, n, at, without_doubt(fd, flags));
	hauli_sim_fds_passed();
	return done;
}

static ssize_t write_at(int fd, const struct iovec *iov, int n, off_t at, int flags)
{
	ssize_t done;
	struct hauli_sim_file *f = hauli_sim_fds_enter(NULL, fd, NULL);

	if (f) {
		done = at != -1 ? -ESPIPE : write_vector(f, iov, n, !(flags & RWF_NOWAIT));
		return hauli_sim_fds_result(done);
	}
	if (is_vain(fd, flags))
		return hauli_sim_fds_result(-EAGAIN);
	done = HAULI_SIM_REAL(pwritev2)(fd, iov, n, at, without_doubt(fd, flags));
	hauli_sim_fds_passed();
	return done;
}

/* By both names: which one a program has depends on its _FILE_OFFSET_BITS. */
ssize_t hauli_sim_preadv2(int fd, const struct iovec *iov, int n, off_t at, int flags);
HAULI_SIM_REPLACED __typeof__(hauli_sim_preadv2) hauli_sim_preadv2 __asm__("preadv2");
ssize_t hauli_sim_preadv2(int fd, const struct iovec *iov, int n, off_t at, int flags)
{
	return read_at(fd, iov, n, at, flags);
}

ssize_t hauli_sim_preadv64v2(int fd, const struct iovec *iov, int n, off_t at, int flags);
HAULI_SIM_REPLACED __typeof__(hauli_sim_preadv64v2) hauli_sim_preadv64v2 __asm__("preadv64v2");
ssize_t hauli_sim_preadv64v2(int fd, const struct iovec *iov, int n, off_t at, int flags)
{
	return read_at(fd, iov, n, at, flags);
}

ssize_t hauli_sim_pwritev2(int fd, const struct iovec *iov, int n, off_t at, int flags);
HAULI_SIM_REPLACED __typeof__(hauli_sim_pwritev2) hauli_sim_pwritev2 __asm__("pwritev2");
ssize_t hauli_sim_pwritev2(int fd, const struct iovec *iov, int n, off_t at, int flags)
{
	return write_at(fd, iov, n, at, flags);
}

ssize_t hauli_sim_pwritev64v2(int fd, const struct iovec *iov, int n, off_t at, int flags);
HAULI_SIM_REPLACED __typeof__(hauli_sim_pwritev64v2) hauli_sim_pwritev64v2 __asm__("pwritev64v2");
ssize_t hauli_sim_pwritev64v2(int fd, const struct iovec *iov, int n, off_t at, int flags)
{
	return write_at(fd, iov, n, at, flags);
}

ssize_t __read_chk(int fd, void *buf, size_t n, size_t room);

/* What compilers call with _FORTIFY_SOURCE. */
HAULI_SIM_REPLACED ssize_t __read_chk(int fd, void *buf, size_t n, size_t room)
{
	return read(fd, buf, n);
}
