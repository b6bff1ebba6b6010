/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * epoll: a set per carrier, where io_uring is absent or forbidden. A descriptor enters the set with
 * its first poll, and stays there until it is closed, or until a poll ends without an event:
 * EPOLLONESHOT silences it when one has come. A carrier that is awake asks for events each poll
 * interval, while polls are under way.
 */
#include "fd/epoll.h"

#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "coro/fiber.h"
#include "fd/poll.h"

#define EVENTS 64

static int epoll_open(struct haul_carrier *c, struct hauli_fds *f)
{
	int err;

	f->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (f->epoll < 0)
		return -errno;
	err = hauli_fds_open_wake(f);
	if (err) {
		close(f->epoll);
		return err;
	}
	/* The word that says whether there may be something: the number of polls. */
	c->fds.tail = c->fds.flags = (const struct hauli_u32_seen *)&f->polling;
	return 0;
}

static int epoll_cover(struct haul_carrier *c)
{
	return hauli_fds_of(c)->epoll;
}

static void epoll_end_all(struct haul_carrier *c)
{
	close(hauli_fds_of(c)->epoll);
	hauli_fds_free(c);
}

static uint64_t epoll_look_at(const struct haul_carrier *c)
{
	return hauli_fds_of(c)->look_at;
}

static void count(struct haul_carrier *c, int n)
{
	c->fds.waits += (uint32_t)n;
	hauli_fds_of(c)->polling = c->fds.waits;
}

/* For TSan a call on a number that another thread opens or closes is a race, and its report ends
 * with a failed check (clang 14) if the number has just been closed. A program may close a number
 * on which a call waits (haul_fd_close()), and another thread may get it: here both are right. */
#if HAULI_TSAN
#define CTL(epoll, op, fd, ev) syscall(SYS_epoll_ctl, epoll, op, fd, ev)
#else
#define CTL(epoll, op, fd, ev) epoll_ctl(epoll, op, fd, ev)
#endif

/* Tells the kernel which polls of fd are under way. 0 or -errno. Without any it must tell nothing:
 * a poller that waits for the set would be called for an event that nobody takes. */
static int set(struct hauli_fds *f, int fd)
{
	const struct hauli_fd_polls *polls = &f->polls[fd];
	struct epoll_event ev = {.events = EPOLLONESHOT, .data.fd = fd};

	if (!polls->in[HAULI_FD_IN].number && !polls->in[HAULI_FD_OUT].number)
		return CTL(f->epoll, EPOLL_CTL_DEL, fd, NULL) == 0 ? 0 : -errno;
	if (polls->in[HAULI_FD_IN].number)
		ev.events |= EPOLLIN;
	if (polls->in[HAULI_FD_OUT].number)
		ev.events |= EPOLLOUT;
	if (CTL(f->epoll, EPOLL_CTL_MOD, fd, &ev) == 0)
		return 0;
	if (errno == ENOENT && CTL(f->epoll, EPOLL_CTL_ADD, fd, &ev) == 0)
		return 0;
	return errno == ENOSPC ? -ENOMEM : -errno; /* of the descriptors that a user may watch */
}

static int epoll_begin(struct haul_carrier *c, int fd, enum hauli_fd_dir dir)
{
	int err = set(hauli_fds_of(c), fd);

	if (!err)
		count(c, 1);
	return err;
}

/* If the file is closed by now, the kernel has forgotten it, or knows another one of this number,
 * which is not in the set. */
static void epoll_end(struct haul_carrier *c, int fd, enum hauli_fd_dir dir)
{
	struct hauli_fds *f = hauli_fds_of(c);

	f->polls[fd].in[dir].number = 0;
	(void)set(f, fd);
	count(c, -1);
}

static void handle(struct haul_carrier *c, int fd, uint32_t events)
{
	static const uint32_t ends[] = {
		[HAULI_FD_IN] = EPOLLIN | EPOLLERR | EPOLLHUP,
		[HAULI_FD_OUT] = EPOLLOUT | EPOLLERR | EPOLLHUP,
	};
	struct hauli_fds *f = hauli_fds_of(c);
	bool left = false;

	for (enum hauli_fd_dir dir = HAULI_FD_IN; dir <= HAULI_FD_OUT; dir++) {
		uint32_t number = f->polls[fd].in[dir].number;

		if (!number)
			continue;
		if (events & ends[dir]) {
			count(c, -1);
			hauli_fd_poll_ended(c, fd, dir, number);
		} else {
			left = true;
		}
	}
	if (left)
		(void)set(f, fd); /* EPOLLONESHOT has silenced both */
}

static bool epoll_take(struct haul_carrier *c)
{
	struct hauli_fds *f = hauli_fds_of(c);
	struct epoll_event events[EVENTS];
	int n = epoll_wait(f->epoll, events, EVENTS, 0);

	f->look_at = n == EVENTS ? 0 : hauli_ticks() + c->run.poll_ticks;
	for (int i = 0; i < n; i++)
		handle(c, events[i].data.fd, events[i].events);
	return n > 0;
}

static void epoll_sleep(struct haul_carrier *c, uint64_t at)
{
	struct hauli_fds *f = hauli_fds_of(c);
	struct pollfd fds[] = {{f->epoll, POLLIN, 0}, {f->wake, POLLIN, 0}};
	struct timespec left = hauli_time_until(at);
	eventfd_t woken;

	if (ppoll(fds, 2, at == HAULI_NEVER ? NULL : &left, NULL) > 0 && fds[1].revents)
		(void)eventfd_read(f->wake, &woken);
	f->look_at = 0;
}

const struct hauli_fd_kind hauli_fd_epoll = {
	.sched = {epoll_take, epoll_look_at, epoll_sleep, hauli_fds_wake, epoll_cover, NULL,
		epoll_end_all},
	.which = HAUL_FDS_EPOLL,
	.open = epoll_open,
	.begin = epoll_begin,
	.end = epoll_end,
};
