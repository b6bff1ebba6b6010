/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and writes. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
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

static ssize_t do_read(struct hauli_sim_file *f, const struct iovec *iov, int n, bool is_vector)
{
	struct hauli_sim_bytes to;

	if ((f->flags & O_ACCMODE) == O_WRONLY)
		return -EBADF;
	if (n < 0 || n > IOV_MAX || !f->kind->read)
		return -EINVAL;
	to = hauli_sim_bytes(iov, (size_t)n);
	if (to.left == 0 && is_vector)
		return 0;
	return hauli_sim_file_try(f, HAULI_SIM_IN, hauli_sim_file_until(f), try_read, &to);
}

static ssize_t do_write(struct hauli_sim_file *f, const struct iovec *iov, int n, bool is_vector)
{
	uint64_t until = hauli_sim_file_until(f);
	struct hauli_sim_bytes from;
	ssize_t done, sum = 0;

	if ((f->flags & O_ACCMODE) == O_RDONLY)
		return -EBADF;
	if (n < 0 || n > IOV_MAX || !f->kind->write)
		return -EINVAL;
	from = hauli_sim_bytes(iov, (size_t)n);
	if (from.left == 0 && is_vector)
		return 0;
	f->refs++; /* another thread may close it during a wait */
	do {
		done = hauli_sim_file_try(f, HAULI_SIM_OUT, until, try_write, &from);
		sum += done > 0 ? done : 0;
	} while (done > 0 && f->kind->is_stream && until && from.left);
	hauli_sim_file_put(f);
	if (done == -EPIPE && sum == 0)
		(void)raise(SIGPIPE);
	return sum ? sum : done;
}

HAULI_SIM_REPLACED ssize_t read(int fd, void *buf, size_t n)
{
	struct iovec iov = {buf, n};
	ssize_t done;
	int err;
	struct hauli_sim_file *f = hauli_sim_fds_enter("read", fd, &err);

	if (f)
		return hauli_sim_fds_result(err ? -err : do_read(f, &iov, 1, false));
	done = HAULI_SIM_REAL(read)(fd, buf, n);
	hauli_sim_fds_passed();
	return done;
}

HAULI_SIM_REPLACED ssize_t readv(int fd, const struct iovec *iov, int n)
{
	ssize_t done;
	int err;
	struct hauli_sim_file *f = hauli_sim_fds_enter("readv", fd, &err);

	if (f)
		return hauli_sim_fds_result(err ? -err : do_read(f, iov, n, true));
	done = HAULI_SIM_REAL(readv)(fd, iov, n);
	hauli_sim_fds_passed();
	return done;
}

HAULI_SIM_REPLACED ssize_t write(int fd, const void *buf, size_t n)
{
	struct iovec iov = {(void *)buf, n};
	ssize_t done;
	int err;
	struct hauli_sim_file *f = hauli_sim_fds_enter("write", fd, &err);

	if (f)
		return hauli_sim_fds_result(err ? -err : do_write(f, &iov, 1, false));
	done = HAULI_SIM_REAL(write)(fd, buf, n);
	hauli_sim_fds_passed();
	return done;
}

HAULI_SIM_REPLACED ssize_t writev(int fd, const struct iovec *iov, int n)
{
	ssize_t done;
	int err;
	struct hauli_sim_file *f = hauli_sim_fds_enter("writev", fd, &err);

	if (f)
		return hauli_sim_fds_result(err ? -err : do_write(f, iov, n, true));
	done = HAULI_SIM_REAL(writev)(fd, iov, n);
	hauli_sim_fds_passed();
	return done;
}
