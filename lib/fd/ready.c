/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting until a descriptor is ready, and calls on descriptors as cases of haul_select(). */
#include <limits.h>
#include <poll.h>

#include "base/assert.h"
#include "fd/call.h"
#include "fd/connection.h"
#include "fd/file.h"
#include "fd/open.h"
#include "fd/poll.h"
#include "sync/case.h"

#define EVENTS "events %#x; give POLLIN, POLLOUT or both"

/* What poll(2) says: 0 if fd is not ready, or an error. */
static int look(int fd, short events)
{
	struct pollfd ready = {.fd = fd, .events = events};
	int n;

	do
		n = poll(&ready, 1, 0);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	return ready.revents & POLLNVAL ? -EBADF : ready.revents;
}

static bool are_events(short events)
{
	return events && !(events & ~(POLLIN | POLLOUT));
}

/* Waits for both directions, as a select of two cases. */
static int wait_both(int fd, uint64_t deadline)
{
	struct haul_case cases[] = {haul_case_fd(fd, POLLIN), haul_case_fd(fd, POLLOUT)};
	int i = haul_select(cases, 2, deadline);

	if (i < 0)
		return i;
	return cases[i].err < 0 ? cases[i].err : look(fd, POLLIN | POLLOUT);
}

int haul_fd_wait(int fd, short events, uint64_t deadline)
{
	enum hauli_fd_dir dir = events & POLLIN ? HAULI_FD_IN : HAULI_FD_OUT;
	struct hauli_fd_call call;
	int n;

	HAUL_MISUSE_IF(!are_events(events), EVENTS, (unsigned)events);
	n = hauli_fd_call_begin(&call, __func__, fd, dir, deadline);
	if (n)
		return n;
	while ((n = look(fd, events)) == 0) {
		if (deadline == 0)
			return -EAGAIN;
		if (events == (POLLIN | POLLOUT))
			return wait_both(fd, deadline);
		n = hauli_fd_call_wait(&call);
		if (n)
			return n;
	}
	return n;
}

static enum hauli_fd_dir dir_of(const struct hauli_case *cs)
{
	return cs->q == &hauli_fd_slot(cs->fd)->q[HAULI_FD_IN] ? HAULI_FD_IN : HAULI_FD_OUT;
}

/* Under the lock: the system call was made before. */
static bool try_case(struct hauli_case *cs, uint64_t *value, struct hauli_sync_waiter **other)
{
	if (*value == cs->closes)
		return false;
	cs->err = -EBADF;
	return true;
}

static int case_begins(struct hauli_case *cs, struct haul_carrier *c)
{
	int err = hauli_fds_open(c);

	if (!err)
		err = hauli_fd_poll(c, cs->fd, dir_of(cs), cs->closes);
	/* As in hauli_fd_call_wait_with(). */
	return err && hauli_fd_closes(cs->q) != cs->closes ? -EBADF : err;
}

static void case_ends(struct hauli_case *cs, struct haul_carrier *c)
{
	hauli_fd_poll_no_more(c, cs->fd, dir_of(cs), cs->closes);
}

/* The system call of a case has returned n. True: the case is done. */
static bool is_done(struct hauli_case *cs, ssize_t n)
{
	if (n < 0 && errno == EAGAIN)
		return false;
	cs->err = n < 0 ? -errno : (int)n;
	return true;
}

/* Before the system call. False: there can be none, and the case is done. */
static bool has_slot(struct hauli_case *cs)
{
	if (hauli_unlikely(!cs->q)) {
		cs->err = hauli_fd_no_slot(cs->fd);
		return false;
	}
	cs->closes = hauli_fd_closes(cs->q);
	return true;
}

static bool look_for_case(struct hauli_case *cs)
{
	if (!has_slot(cs))
		return true;
	cs->err = look(cs->fd, dir_of(cs) == HAULI_FD_IN ? POLLIN : POLLOUT);
	return cs->err != 0;
}

static bool read_for_case(struct hauli_case *cs)
{
	ssize_t n;

	if (!has_slot(cs))
		return true;
	do
		n = hauli_fd_read_for_case(cs->fd, cs->waiter.value, cs->len);
	while (n < 0 && errno == EINTR);
	return is_done(cs, n);
}

static bool accept_for_case(struct hauli_case *cs)
{
	int fd;

	if (!has_slot(cs))
		return true;
	do
		fd = hauli_fd_accept(hauli_fd_slot(cs->fd), cs->fd, NULL, NULL, (int)cs->len);
	while (fd < 0 && errno == EINTR);
	return is_done(cs, fd);
}

/* len: what `attempt` needs to know. */
static struct haul_case case_of(const struct hauli_case_kind *kind, int fd, enum hauli_fd_dir dir,
	void *value, uint32_t len)
{
	struct hauli_fd_slot *slot = hauli_fd_slot(fd);
	struct haul_case cs = hauli_case(kind, slot ? &slot->q[dir] : NULL, value);

	((struct hauli_case *)&cs)->fd = fd;
	((struct hauli_case *)&cs)->len = len;
	return cs;
}

/* The kind of case whose system call is `attempt`. */
#define KIND(attempt)                                                                          \
	{                                                                                      \
		try_case, hauli_waitq_own_list, hauli_waitq_leave, NULL, attempt, case_begins, \
			case_ends                                                              \
	}

struct haul_case haul_case_fd(int fd, short events)
{
	static const struct hauli_case_kind kind = KIND(look_for_case);

	HAUL_MISUSE_IF(events != POLLIN && events != POLLOUT,
		"events %#x; a case is for POLLIN or POLLOUT", (unsigned)events);
	return case_of(&kind, fd, events == POLLIN ? HAULI_FD_IN : HAULI_FD_OUT, NULL, 0);
}

struct haul_case haul_case_fd_read(int fd, void *buf, size_t len)
{
	static const struct hauli_case_kind kind = KIND(read_for_case);

	return case_of(&kind, fd, HAULI_FD_IN, buf, len < INT_MAX ? (uint32_t)len : INT_MAX);
}

struct haul_case haul_case_fd_accept(int fd, int flags)
{
	static const struct hauli_case_kind kind = KIND(accept_for_case);

	return case_of(&kind, fd, HAULI_FD_IN, NULL, (uint32_t)flags);
}
