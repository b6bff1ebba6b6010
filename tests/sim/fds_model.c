/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Simulated descriptors against the kernel's: random calls that do not wait, each on a simulated
 * object and on a real one, have the same results, errors, data and events.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include "sim/fds/socket.h"
#include "sim/world.h"
#include "support/stress.h"
#include "support/suite.h"

#define STEPS 20000
#define NUMBERS 16
#define MOST 20000 /* bytes of a call */
#define MEMBERS 64
#define FAR 512 /* from a simulated object's number to its real one's */

/* One by a simulated call, one by the kernel's. */
struct two {
	long sim, real;
};

enum what { NOTHING, COUNTER, SET, PIPE, STREAM, PACKETS, UDP };

static struct {
	struct hauli_random random;
	struct {
		enum what what;
		struct two fd;
	} numbers[NUMBERS];
	uint64_t step;
	bool is_unordered; /* the events that one call returns */
} s;

static struct hauli_random *const random_of = &s.random;

static unsigned below(unsigned n)
{
	return hauli_random_below(random_of, n);
}

static long result(long n)
{
	return n < 0 ? -errno : n;
}

static void check(const char *call, struct two n)
{
	if (n.sim != n.real)
		ck_abort_msg("step %" PRIu64 ": %s: %ld, of the kernel %ld", s.step, call, n.sim,
			n.real);
}

#define BOTH(call, by_sim, by_kernel)                                                        \
	(__extension__({                                                                     \
		struct two both_;                                                            \
                                                                                             \
		both_.sim = result(by_sim);                                                  \
		both_.real = result(by_kernel);                                              \
		if (both_.sim < 0 || both_.real < 0 || !strchr("+", call[strlen(call) - 1])) \
			check(call, both_);                                                  \
		both_;                                                                       \
	}))

static unsigned any(void)
{
	return below(NUMBERS);
}

/* A member of an epoll set is known by its number also when that has been closed and another one is
 * open: a simulated number that comes again has a real one that comes again. */
static long place(struct two fd)
{
	bool closes = syscall(SYS_fcntl, fd.real, F_GETFD) & FD_CLOEXEC;
	long at = syscall(SYS_dup3, fd.real, fd.sim + FAR, closes ? O_CLOEXEC : 0);

	ck_assert_int_eq(at, fd.sim + FAR);
	ck_assert_int_eq(syscall(SYS_close, fd.real), 0);
	return at;
}

static void keep(enum what what, struct two fd)
{
	unsigned i = any();

	if (fd.sim < 0)
		return;
	fd.real = place(fd);
	if (s.numbers[i].what != NOTHING)
		(void)BOTH("close", close((int)s.numbers[i].fd.sim),
			syscall(SYS_close, s.numbers[i].fd.real));
	s.numbers[i].what = what;
	s.numbers[i].fd = fd;
}

static void make_counter(void)
{
	static const unsigned begins[] = {0, 0, 1, 7, UINT32_MAX};
	unsigned n = begins[below(5)];
	int flags = EFD_NONBLOCK | (below(3) ? 0 : EFD_SEMAPHORE) | (below(20) ? 0 : 3);

	keep(COUNTER, BOTH("eventfd+", eventfd(n, flags), syscall(SYS_eventfd2, n, flags)));
}

static void make_set(void)
{
	int flags = below(20) ? EPOLL_CLOEXEC : 5;

	keep(SET, BOTH("epoll_create1+", epoll_create1(flags), syscall(SYS_epoll_create1, flags)));
}

static void keep_pair(enum what what, const int sim[2], const int real[2], long made)
{
	if (made != 0)
		return;
	for (unsigned i = 0; i < 2; i++)
		keep(what, (struct two){sim[i], real[i]});
}

static void make_pipe(void)
{
	int sim[2], real[2], flags = O_NONBLOCK | (below(4) ? 0 : O_DIRECT) | (below(20) ? 0 : 1);

	keep_pair(PIPE, sim, real,
		BOTH("pipe2", pipe2(sim, flags), syscall(SYS_pipe2, real, flags)).sim);
}

static void make_sockets(void)
{
	static const int types[] = {SOCK_STREAM, SOCK_SEQPACKET, SOCK_DGRAM, SOCK_RDM};
	int sim[2], real[2], type = types[below(20) ? below(3) : 3];
	int family = below(20) ? AF_UNIX : AF_INET, how = type | SOCK_NONBLOCK;

	keep_pair(type == SOCK_STREAM ? STREAM : PACKETS, sim, real,
		BOTH("socketpair", socketpair(family, how, 0, sim),
			syscall(SYS_socketpair, family, how, 0, real))
			.sim);
}

static void closes(void)
{
	unsigned i = any();

	if (below(3))
		return;
	(void)BOTH("close", s.numbers[i].what ? close((int)s.numbers[i].fd.sim) : 0,
		s.numbers[i].what ? syscall(SYS_close, s.numbers[i].fd.real) : 0);
	s.numbers[i].what = NOTHING;
	s.numbers[i].fd = (struct two){-1, -1};
}

static void duplicates(void)
{
	unsigned i = any();

	if (s.numbers[i].what == NOTHING)
		return;
	keep(s.numbers[i].what,
		BOTH("dup+", dup((int)s.numbers[i].fd.sim),
			syscall(SYS_dup, s.numbers[i].fd.real)));
}

static void puts_in_place(void)
{
	unsigned i = any(), j = any();

	if (s.numbers[i].what == NOTHING || s.numbers[j].what == NOTHING || i == j)
		return;
	(void)BOTH("dup3+", dup3((int)s.numbers[i].fd.sim, (int)s.numbers[j].fd.sim, O_CLOEXEC),
		syscall(SYS_dup3, s.numbers[i].fd.real, s.numbers[j].fd.real, O_CLOEXEC));
	s.numbers[j].what = s.numbers[i].what;
}

static size_t draw_len(void)
{
	switch (below(4)) {
	case 0:
		return 8;
	case 1:
		return below(20);
	case 2:
		return 4096 - 3 + below(6);
	default:
		return below(MOST);
	}
}

static struct iovec *split(struct iovec v[3], char *at, size_t len)
{
	size_t a = below(2) ? len : below((unsigned)len + 1), b = below((unsigned)(len - a) + 1);

	v[0] = (struct iovec){at, a};
	v[1] = (struct iovec){at + a, b};
	v[2] = (struct iovec){at + a + b, len - a - b};
	return v;
}

static void reads(void)
{
	static char sim[MOST], real[MOST];
	struct two fd = s.numbers[any()].fd;
	size_t len = draw_len();
	struct iovec v[3], w[3];
	struct two n;

	split(v, sim, len);
	for (unsigned i = 0; i < 3; i++)
		w[i] = (struct iovec){real + ((char *)v[i].iov_base - sim), v[i].iov_len};
	if (below(2))
		n = BOTH(
			"read", read((int)fd.sim, sim, len), syscall(SYS_read, fd.real, real, len));
	else
		n = BOTH("readv", readv((int)fd.sim, v, 3), syscall(SYS_readv, fd.real, w, 3));
	if (n.sim > 0 && memcmp(sim, real, (size_t)n.sim) != 0)
		ck_abort_msg("step %" PRIu64 ": other data", s.step);
}

static void writes(void)
{
	static char data[MOST];
	unsigned i = any();
	struct two fd = s.numbers[i].fd;
	size_t len = draw_len();
	struct iovec v[3];

	if (s.numbers[i].what == COUNTER && len > 8)
		len = 8; /* more is an error since Linux 6.9 */
	if (s.numbers[i].what >= STREAM)
		len = 1 + len % 300; /* not all kernels count empty ones */
	for (size_t at = 0; at < len; at += 1 + below(100))
		data[at] = (char)below(256);
	if (len == 8 && below(10))
		*(uint64_t *)data = below(2) ? below(5) : UINT64_MAX - below(3);
	split(v, data, len);
	/* The kernel takes each part for a write of its own where a file has no writev(). */
	if (s.numbers[i].what == COUNTER || below(2))
		(void)BOTH("write", write((int)fd.sim, data, len),
			syscall(SYS_write, fd.real, data, len));
	else
		(void)BOTH("writev", writev((int)fd.sim, v, 3), syscall(SYS_writev, fd.real, v, 3));
}

/* What has been sent and not been read is little: when a socket is full, each kernel has its own
 * rule. */
static void sends(void)
{
	static const int all[] = {0, 0, 0, MSG_MORE, MSG_DONTWAIT, MSG_EOR};
	static char data[MOST];
	unsigned i = any();
	struct two fd = s.numbers[i].fd;
	size_t len = 1 + below(300);
	int flags = MSG_NOSIGNAL | all[below(10) ? below(3) : below(6)];

	for (size_t at = 0; at < len; at += 1 + below(100))
		data[at] = (char)below(256);
	(void)BOTH("send", send((int)fd.sim, data, len, flags),
		syscall(SYS_sendto, fd.real, data, len, flags, NULL, 0));
}

static void receives(void)
{
	static const int all[] = {0, 0, MSG_PEEK, MSG_WAITALL, MSG_DONTWAIT, MSG_TRUNC};
	static char sim[MOST], real[MOST];
	unsigned i = any();
	struct two fd = s.numbers[i].fd, n;
	size_t len = draw_len();
	struct iovec v = {sim, len}, w = {real, len};
	struct msghdr a = {.msg_iov = &v, .msg_iovlen = 1}, b = {.msg_iov = &w, .msg_iovlen = 1};
	int flags = all[below(6)];

	if (s.numbers[i].what == STREAM && flags & MSG_TRUNC)
		return; /* of Unix it has no effect, of TCP it has */
	if (below(2)) {
		n = BOTH("recvmsg", recvmsg((int)fd.sim, &a, flags),
			syscall(SYS_recvmsg, fd.real, &b, flags));
		if (n.sim >= 0)
			check("msg_flags", (struct two){a.msg_flags, b.msg_flags & ~MSG_EOR});
	} else {
		n = BOTH("recv", recv((int)fd.sim, sim, len, flags),
			syscall(SYS_recvfrom, fd.real, real, len, flags, NULL, NULL));
	}
	if (n.sim > 0 && memcmp(sim, real, (size_t)n.sim < len ? (size_t)n.sim : len) != 0)
		ck_abort_msg("step %" PRIu64 ": other data", s.step);
}

static void shuts(void)
{
	struct two fd = s.numbers[any()].fd;
	int how = below(30) ? (int)below(3) : 3;

	if (below(3) == 0)
		(void)BOTH("shutdown", shutdown((int)fd.sim, how),
			syscall(SYS_shutdown, fd.real, how));
}

static void asks_socket(void)
{
	static const int names[] = {SO_ERROR, SO_TYPE, SO_DOMAIN, SO_ACCEPTCONN, SO_PROTOCOL};
	struct two fd = s.numbers[any()].fd;
	int sim = -1, real = -1, name = names[below(5)];
	socklen_t len = sizeof(sim), real_len = len;

	(void)BOTH("getsockopt", getsockopt((int)fd.sim, SOL_SOCKET, name, &sim, &len),
		syscall(SYS_getsockopt, fd.real, SOL_SOCKET, name, &real, &real_len));
	check("an option", (struct two){sim, real});
	check("its length", (struct two){len, real_len});
}

static short draw_poll_events(void)
{
	static const short all[] = {POLLIN, POLLOUT, POLLPRI, POLLRDNORM, POLLWRNORM, POLLRDHUP};
	short events = 0;

	for (unsigned i = 0; i < 6; i++)
		events |= below(2) ? all[i] : 0;
	return events;
}

static void polls(void)
{
	struct pollfd sim[NUMBERS], real[NUMBERS];
	struct timespec none = {0};

	for (unsigned i = 0; i < NUMBERS; i++) {
		short events = draw_poll_events();

		sim[i] = (struct pollfd){(int)s.numbers[i].fd.sim, events, 0};
		real[i] = (struct pollfd){(int)s.numbers[i].fd.real, events, 0};
		if (s.numbers[i].what == NOTHING)
			sim[i].fd = real[i].fd = -1;
	}
	(void)BOTH(
		"poll", poll(sim, NUMBERS, 0), syscall(SYS_ppoll, real, NUMBERS, &none, NULL, 0));
	for (unsigned i = 0; i < NUMBERS; i++)
		check("poll's events", (struct two){sim[i].revents, real[i].revents});
}

static void controls(void)
{
	static const uint32_t all[] = {EPOLLIN, EPOLLOUT, EPOLLRDHUP, EPOLLPRI};
	static const int ops[] = {
		EPOLL_CTL_ADD, EPOLL_CTL_ADD, EPOLL_CTL_MOD, EPOLL_CTL_DEL, EPOLL_CTL_DEL, 7};
	unsigned i = any(), j = any();
	int op = below(30) ? ops[below(4)] : ops[below(6)];
	struct epoll_event ev = {.data.u32 = (uint32_t)s.step};
	struct two n;

	if (s.numbers[i].what != SET && below(10))
		return;
	for (unsigned k = 0; k < 4; k++)
		ev.events |= below(2) ? all[k] : 0;
	ev.events |= below(4) ? 0 : EPOLLONESHOT;
	/* As an edge only what each data make one: room is told of when the kernel likes. */
	if (below(4) == 0)
		ev.events = EPOLLIN | EPOLLET;
	if (below(10) == 0)
		ev.events |= EPOLLEXCLUSIVE;
	n.sim = result(epoll_ctl((int)s.numbers[i].fd.sim, op, (int)s.numbers[j].fd.sim, &ev));
	n.real =
		result(syscall(SYS_epoll_ctl, s.numbers[i].fd.real, op, s.numbers[j].fd.real, &ev));
	/* Sets of sets: how many, the kernel has more limits for. */
	if (n.sim == 0 && n.real == -ELOOP)
		n.real = result(epoll_ctl(
			(int)s.numbers[i].fd.sim, EPOLL_CTL_DEL, (int)s.numbers[j].fd.sim, NULL));
	check("epoll_ctl", n);
}

static int compare(const void *a, const void *b)
{
	const struct epoll_event *e = a, *f = b;

	return e->data.u32 < f->data.u32 ? -1 : e->data.u32 > f->data.u32;
}

static void waits(void)
{
	struct epoll_event sim[MEMBERS], real[MEMBERS];
	unsigned i = any();
	int most = below(30) == 0 ? 0 : s.is_unordered ? MEMBERS : 1 + (int)below(MEMBERS);
	struct two n;

	if (s.numbers[i].what != SET && below(10))
		return;
	memset(sim, 0, sizeof(sim));
	memset(real, 0, sizeof(real));
	n = BOTH("epoll_wait", epoll_wait((int)s.numbers[i].fd.sim, sim, most, 0),
		syscall(SYS_epoll_pwait, s.numbers[i].fd.real, real, most, 0, NULL, 8));
	if (s.is_unordered && n.sim > 0) {
		qsort(sim, (size_t)n.sim, sizeof(sim[0]), compare);
		qsort(real, (size_t)n.sim, sizeof(sim[0]), compare);
	}
	for (long k = 0; k < n.sim; k++) {
		check("epoll_wait's data", (struct two){sim[k].data.u32, real[k].data.u32});
		check("epoll_wait's events", (struct two){sim[k].events, real[k].events});
	}
}

static void asks(void)
{
	unsigned i = any();
	struct two fd = s.numbers[i].fd, n;

	switch (below(3)) {
	case 0:
		(void)BOTH(
			"fcntl", fcntl((int)fd.sim, F_GETFD), syscall(SYS_fcntl, fd.real, F_GETFD));
		break;
	case 1: {
		int a = 0, b = 0;

		if (s.numbers[i].what == SET)
			break; /* EINVAL since Linux 6.9 */
		(void)BOTH("ioctl", ioctl((int)fd.sim, FIONREAD, &a),
			syscall(SYS_ioctl, fd.real, FIONREAD, &b));
		check("FIONREAD", (struct two){a, b});
		break;
	}
	default:
		n = BOTH("fcntl+", fcntl((int)fd.sim, F_GETFL),
			syscall(SYS_fcntl, fd.real, F_GETFL));
		check("flags", (struct two){n.sim & 0xc03, n.real & 0xc03});
		break;
	}
}

static void run(void (*const calls[])(void), unsigned n)
{
	hauli_random_init(random_of, stress_seed());
	hauli_sim_fds_short = 0;
	signal(SIGPIPE, SIG_IGN);
	for (unsigned i = 0; i < NUMBERS; i++)
		s.numbers[i].fd = (struct two){-1, -1};
	for (s.step = 0; s.step < STEPS; s.step++)
		calls[below(n)]();
	for (unsigned i = 0; i < NUMBERS; i++)
		if (s.numbers[i].what != NOTHING)
			(void)BOTH("close", close((int)s.numbers[i].fd.sim),
				syscall(SYS_close, s.numbers[i].fd.real));
	memset(&s, 0, sizeof(s));
}

/* Also in the order of events. */
START_TEST(counters_and_sets)
{
	static void (*const calls[])(void) = {make_counter, make_set, closes, duplicates,
		puts_in_place, reads, reads, writes, writes, polls, controls, controls, controls,
		waits, waits, asks};

	run(calls, sizeof(calls) / sizeof(calls[0]));
}
END_TEST

START_TEST(all)
{
	static void (*const calls[])(void) = {make_counter, make_set, make_pipe, make_sockets,
		closes, duplicates, puts_in_place, reads, reads, reads, writes, sends, receives,
		receives, shuts, polls, controls, controls, controls, waits, waits, asks,
		asks_socket};

	s.is_unordered = true;
	run(calls, sizeof(calls) / sizeof(calls[0]));
}
END_TEST

/* Reads from a peer of another host for ever. */
static void *reads_for_ever(void *fd)
{
	struct sockaddr_un peer = {.sun_family = AF_UNIX, .sun_path = "peer"};
	int own = socket(AF_UNIX, SOCK_STREAM, 0);
	char c;

	if (connect(own, (struct sockaddr *)&peer, sizeof(peer)) == 0)
		(void)recv(own, &c, 1, MSG_WAITALL);
	ck_abort_msg("the host lives, errno %d", errno);
	return fd;
}

/* Its descriptors are closed, and nobody waits any more for those of others. */
START_TEST(a_host_that_dies)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX, .sun_path = "peer"};
	int listener = socket(AF_UNIX, SOCK_STREAM, 0), fd, next;
	unsigned host = hauli_sim_host_new("another");
	char c = 1;

	ck_assert(bind(listener, (struct sockaddr *)&at, sizeof(at)) == 0);
	ck_assert(listen(listener, 1) == 0);
	ck_assert_ptr_nonnull(hauli_sim_start_on(host, reads_for_ever, NULL));
	fd = accept(listener, NULL, NULL);
	usleep(1000); /* long for loopback, and nothing in a simulation */
	ck_assert(hauli_sim_kill(host));
	ck_assert_int_eq(read(fd, &c, 1), 0);
	ck_assert_int_eq(send(fd, &c, 1, MSG_NOSIGNAL), -1);
	ck_assert_int_eq(errno, EPIPE);
	next = socket(AF_UNIX, SOCK_STREAM, 0);
	ck_assert_int_eq(next, listener + 1); /* the number of the dead one's */
	close(next);
	close(fd);
	close(listener);
}
END_TEST

SUITE_MAIN("fds_model", {a_host_that_dies, 1}, {counters_and_sets, 1}, {all, 1})
