/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "sim/fds/table.h"
#include "sim/real.h"

struct counter {
	struct hauli_sim_file file; /* first */
	uint64_t n;
	bool by_one; /* EFD_SEMAPHORE */
};

static ssize_t counter_read(struct hauli_sim_file *f, struct hauli_sim_bytes *to)
{
	struct counter *c = (struct counter *)f;
	uint64_t n = c->by_one ? 1 : c->n;

	if (to->left < sizeof(n))
		return -EINVAL;
	if (c->n == 0)
		return -EAGAIN;
	c->n -= n;
	hauli_sim_bytes_move(to, NULL, &n, sizeof(n));
	hauli_sim_file_changed(f, HAULI_SIM_OUT);
	return sizeof(n);
}

static ssize_t counter_write(struct hauli_sim_file *f, struct hauli_sim_bytes *from)
{
	struct counter *c = (struct counter *)f;
	struct hauli_sim_bytes at = *from; /* again after a wait */
	uint64_t n;

	if (at.left < sizeof(n))
		return -EINVAL;
	hauli_sim_bytes_move(&at, &n, NULL, sizeof(n));
	if (n == UINT64_MAX)
		return -EINVAL;
	if (n >= UINT64_MAX - c->n)
		return -EAGAIN;
	c->n += n;
	hauli_sim_file_changed(f, HAULI_SIM_IN);
	return sizeof(n);
}

static uint32_t counter_events(struct hauli_sim_file *f)
{
	const struct counter *c = (const struct counter *)f;

	return (c->n ? POLLIN : 0) | (c->n < UINT64_MAX - 1 ? POLLOUT : 0);
}

static void counter_release(struct hauli_sim_file *f)
{
	free(f);
}

static int make(unsigned n, int flags)
{
	static const struct hauli_sim_file_kind kind = {
		.read = counter_read,
		.write = counter_write,
		.events = counter_events,
		.release = counter_release,
	};
	struct counter *c;

	if (flags & ~(EFD_SEMAPHORE | EFD_CLOEXEC | EFD_NONBLOCK))
		return -EINVAL;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	hauli_sim_file_init(&c->file, &kind, O_RDWR | (flags & O_NONBLOCK));
	c->n = n;
	c->by_one = flags & EFD_SEMAPHORE;
	return hauli_sim_fds_add(&c->file, flags);
}

HAULI_SIM_REPLACED int eventfd(unsigned n, int flags)
{
	int err;

	if (!hauli_sim_fds_enter_new("eventfd", &err))
		return HAULI_SIM_REAL(eventfd)(n, flags);
	return (int)hauli_sim_fds_result(err ? -err : make(n, flags));
}

HAULI_SIM_REPLACED int eventfd_read(int fd, eventfd_t *value)
{
	return read(fd, value, sizeof(*value)) == sizeof(*value) ? 0 : -1;
}

HAULI_SIM_REPLACED int eventfd_write(int fd, eventfd_t value)
{
	return write(fd, &value, sizeof(value)) == sizeof(value) ? 0 : -1;
}
