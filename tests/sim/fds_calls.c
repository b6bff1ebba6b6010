/* SPDX-License-Identifier: BSD-3-Clause */
/* What calls on descriptors do that wait, that take time, or that are on sockets of the network.
 * The same program runs in simulations and without, where the kernel has to do the same. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <unistd.h>

#include <haul/base.h>

#include "support/suite.h"

#define BYTES 100000

static void ok(long n)
{
	ck_assert_msg(n >= 0, "errno %d", errno);
}

static void fails(long n, int err)
{
	ck_assert_int_eq(n, -1);
	ck_assert_int_eq(errno, err);
}

static short events_of(int fd, short asked)
{
	struct pollfd p = {.fd = fd, .events = asked};

	ok(poll(&p, 1, 0));
	return p.revents;
}

static void arm(int fd, uint64_t ns, uint64_t every)
{
	struct itimerspec t = {{(time_t)(every / HAUL_S), (long)(every % HAUL_S)},
		{(time_t)(ns / HAUL_S), (long)(ns % HAUL_S)}};

	ok(timerfd_settime(fd, 0, &t, NULL));
}

START_TEST(timers)
{
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC), set = epoll_create1(0);
	struct epoll_event ev = {.events = EPOLLIN, .data.u32 = 7};
	uint64_t began = haul_now(), n;
	struct itimerspec left;

	ok(fd);
	arm(fd, 20 * HAUL_MS, 0);
	ok(timerfd_gettime(fd, &left));
	ck_assert(left.it_value.tv_nsec > 0 && left.it_value.tv_nsec <= 20000000);
	ck_assert_int_eq(read(fd, &n, sizeof(n)), 8);
	ck_assert_uint_eq(n, 1);
	ck_assert(haul_now() - began >= 20 * HAUL_MS);
	arm(fd, HAUL_MS, HAUL_MS);
	ok(epoll_ctl(set, EPOLL_CTL_ADD, fd, &ev));
	ck_assert_int_eq(epoll_wait(set, &ev, 1, -1), 1);
	usleep(10000); /* long for loopback, and nothing in a simulation */
	ck_assert_int_eq(read(fd, &n, sizeof(n)), 8);
	ck_assert_uint_ge(n, 10);
	arm(fd, 0, 0);
	ok(fcntl(fd, F_SETFL, O_NONBLOCK));
	fails(read(fd, &n, sizeof(n)), EAGAIN);
	ck_assert_int_eq(epoll_wait(set, &ev, 1, 2), 0);
	fails(timerfd_gettime(set, &left), EINVAL);
	close(fd);
	close(set);
}
END_TEST

START_TEST(timers_of_the_day)
{
	struct itimerspec t = {0}, old;
	uint64_t n;
	int fd = timerfd_create(CLOCK_REALTIME, 0);

	clock_gettime(CLOCK_REALTIME, &t.it_value);
	t.it_value.tv_sec--;
	ok(timerfd_settime(fd, TFD_TIMER_ABSTIME, &t, NULL));
	ck_assert_int_eq(read(fd, &n, sizeof(n)), 8);
	ck_assert_uint_eq(n, 1);
	t.it_value.tv_sec += 100;
	ok(timerfd_settime(fd, TFD_TIMER_ABSTIME, &t, NULL));
	ok(timerfd_settime(fd, 0, &(struct itimerspec){0}, &old));
	ck_assert(old.it_value.tv_sec >= 90 && old.it_value.tv_sec < 100);
	t.it_value.tv_nsec = 1000000000;
	fails(timerfd_settime(fd, 0, &t, NULL), EINVAL);
	fails(timerfd_create(CLOCK_PROCESS_CPUTIME_ID, 0), EINVAL);
	close(fd);
}
END_TEST

static void *writes_later(void *fd)
{
	usleep(5000); /* long for loopback, and nothing in a simulation */
	ok(eventfd_write((int)(intptr_t)fd, 1));
	return fd;
}

START_TEST(waits_end)
{
	int fd = eventfd(0, 0), other = eventfd(0, 0), ways;
	pthread_t thread;
	eventfd_t n;

	for (ways = 0; ways < 4; ways++) {
		struct pollfd p[] = {{.fd = other, .events = POLLIN}, {.fd = fd, .events = POLLIN}};
		struct timeval t = {.tv_sec = 10};
		fd_set in;

		FD_ZERO(&in);
		FD_SET(fd, &in);
		FD_SET(other, &in);
		pthread_create(&thread, NULL, writes_later, (void *)(intptr_t)fd);
		if (ways == 0)
			ck_assert_int_eq(poll(p, 2, -1), 1);
		else if (ways == 1)
			ck_assert_int_eq(ppoll(p, 2, &(struct timespec){10, 0}, NULL), 1);
		else if (ways == 2)
			ck_assert(select(fd + other + 1, &in, NULL, NULL, &t) == 1 &&
				FD_ISSET(fd, &in) && !FD_ISSET(other, &in) && t.tv_sec == 9);
		ok(eventfd_read(fd, &n));
		pthread_join(thread, NULL);
	}
	ck_assert_int_eq(poll(&(struct pollfd){.fd = other, .events = POLLIN}, 1, 3), 0);
	close(fd);
	close(other);
}
END_TEST

static struct sockaddr_in loopback(unsigned port)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		.sin_port = htons((uint16_t)port)};
}

static int listening(int backlog, struct sockaddr_in *addr)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t len = sizeof(*addr);

	*addr = loopback(0);
	ok(bind(fd, (struct sockaddr *)addr, len));
	ok(listen(fd, backlog));
	ok(getsockname(fd, (struct sockaddr *)addr, &len));
	ck_assert_uint_ne(addr->sin_port, 0);
	return fd;
}

static int connected(const struct sockaddr_in *to)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ok(connect(fd, (const struct sockaddr *)to, sizeof(*to)));
	return fd;
}

static void *echoes(void *listener)
{
	int fd = accept4((int)(intptr_t)listener, NULL, NULL, SOCK_CLOEXEC);
	char buf[5000];
	ssize_t n;

	while ((n = recv(fd, buf, sizeof(buf), 0)) > 0)
		ck_assert_int_eq(send(fd, buf, (size_t)n, 0), n);
	close(fd);
	return NULL;
}

/* Blocking calls, and what comes back is what went out. */
START_TEST(streams)
{
	static char out[BYTES], in[BYTES];
	struct sockaddr_in addr, peer;
	socklen_t len = sizeof(peer);
	pthread_t thread;
	int listener = listening(5, &addr), fd;

	for (unsigned i = 0; i < BYTES; i++)
		out[i] = (char)(i * 7 + i / 256);
	pthread_create(&thread, NULL, echoes, (void *)(intptr_t)listener);
	fd = connected(&addr);
	ok(getpeername(fd, (struct sockaddr *)&peer, &len));
	ck_assert(peer.sin_port == addr.sin_port);
	for (unsigned i = 0; i < BYTES; i += BYTES / 10) {
		ck_assert_int_eq(write(fd, out + i, BYTES / 10), BYTES / 10);
		ck_assert_int_eq(recv(fd, in + i, BYTES / 10, MSG_WAITALL), BYTES / 10);
	}
	ck_assert_mem_eq(in, out, BYTES);
	ok(shutdown(fd, SHUT_WR));
	ck_assert_int_eq(read(fd, in, 1), 0);
	fails(send(fd, in, 1, MSG_NOSIGNAL), EPIPE);
	pthread_join(thread, NULL);
	close(fd);
	close(listener);
}
END_TEST

static int error_of(int fd)
{
	int err = -1;
	socklen_t len = sizeof(err);

	ok(getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len));
	return err;
}

START_TEST(nobody_listens)
{
	struct sockaddr_in addr;
	struct pollfd p = {.events = POLLOUT};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	close(listening(1, &addr)); /* now nobody has this port */
	fails(connect(fd, (struct sockaddr *)&addr, sizeof(addr)), ECONNREFUSED);
	close(fd);
	p.fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	fails(connect(p.fd, (struct sockaddr *)&addr, sizeof(addr)), EINPROGRESS);
	ck_assert_int_eq(poll(&p, 1, -1), 1);
	ck_assert_int_eq(p.revents, POLLOUT | POLLERR | POLLHUP);
	ck_assert_int_eq(error_of(p.fd), ECONNREFUSED);
	ck_assert_int_eq(error_of(p.fd), 0);
	close(p.fd);
}
END_TEST

START_TEST(a_queue_that_is_full)
{
	struct sockaddr_in addr;
	struct pollfd p = {.events = POLLOUT};
	int listener = listening(1, &addr), fds[2] = {connected(&addr), connected(&addr)};

	p.fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	fails(connect(p.fd, (struct sockaddr *)&addr, sizeof(addr)), EINPROGRESS);
	ck_assert_int_eq(poll(&p, 1, 50), 0);
	fails(connect(p.fd, (struct sockaddr *)&addr, sizeof(addr)), EALREADY);
	for (unsigned i = 0; i < 2; i++) {
		int fd = accept(listener, NULL, NULL);

		ok(fd);
		close(fd);
	}
	ck_assert_int_eq(poll(&p, 1, -1), 1); /* in a second, by the kernel */
	ck_assert_int_eq(error_of(p.fd), 0);
	ok(connect(p.fd, (struct sockaddr *)&addr, sizeof(addr)));
	fails(connect(p.fd, (struct sockaddr *)&addr, sizeof(addr)), EISCONN);
	close(p.fd);
	close(fds[0]);
	close(fds[1]);
	close(listener);
}
END_TEST

/* Both ends of a connection. */
static void connect_two(int fds[2])
{
	struct sockaddr_in addr;
	int listener = listening(1, &addr);

	fds[0] = connected(&addr);
	fds[1] = accept(listener, NULL, NULL);
	ok(fds[1]);
	close(listener);
}

START_TEST(ends_of_streams)
{
	char c = 1;
	int fds[2];

	connect_two(fds);
	close(fds[1]);
	usleep(1000); /* long for loopback, and nothing in a simulation */
	ck_assert_int_eq(
		events_of(fds[0], POLLIN | POLLOUT | POLLRDHUP), POLLIN | POLLOUT | POLLRDHUP);
	ck_assert_int_eq(send(fds[0], &c, 1, MSG_NOSIGNAL), 1); /* answered by a reset */
	usleep(1000);
	fails(send(fds[0], &c, 1, MSG_NOSIGNAL), EPIPE);
	ck_assert(events_of(fds[0], POLLIN) & POLLHUP);
	close(fds[0]);

	connect_two(fds);
	ck_assert_int_eq(send(fds[0], &c, 1, 0), 1);
	usleep(1000); /* long for loopback, and nothing in a simulation */
	close(fds[1]); /* with what it has not read */
	usleep(1000);
	ck_assert(events_of(fds[0], POLLIN) & POLLERR);
	fails(recv(fds[0], &c, 1, 0), ECONNRESET);
	ck_assert_int_eq(recv(fds[0], &c, 1, 0), 0);
	close(fds[0]);
}
END_TEST

START_TEST(a_stream_that_is_full)
{
	static char lot[BYTES];
	ssize_t n, sum = 0;
	int fds[2];

	connect_two(fds);
	ok(fcntl(fds[0], F_SETFL, O_NONBLOCK));
	while ((n = send(fds[0], lot, sizeof(lot), 0)) > 0)
		sum += n;
	fails(n, EAGAIN);
	ck_assert_int_eq(events_of(fds[0], POLLOUT), 0);
	while (sum > 0) {
		n = recv(fds[1], lot, sizeof(lot), 0);
		ck_assert_int_gt(n, 0);
		sum -= n;
	}
	ck_assert_int_eq(poll(&(struct pollfd){.fd = fds[0], .events = POLLOUT}, 1, -1), 1);
	fails(recv(fds[1], lot, 1, MSG_DONTWAIT), EAGAIN);
	close(fds[0]);
	close(fds[1]);
}
END_TEST

START_TEST(addresses)
{
	struct sockaddr_in addr, any = {.sin_family = AF_INET};
	struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	socklen_t len = sizeof(six);
	int listener = listening(5, &addr), fd = socket(AF_INET, SOCK_STREAM, 0);

	fails(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), EADDRINUSE);
	any.sin_port = addr.sin_port;
	fails(bind(fd, (struct sockaddr *)&any, sizeof(any)), EADDRINUSE);
	fails(bind(fd, (struct sockaddr *)&any, 3), EINVAL);
	fails(getpeername(fd, (struct sockaddr *)&addr, &len), ENOTCONN);
	fails(accept(fd, NULL, NULL), EINVAL);
	fails(recv(fd, &any, 1, 0), ENOTCONN);
	close(fd);
	close(listener);
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	fails(listen(fd, 1), EOPNOTSUPP);
	fails(send(fd, &any, 1, 0), EDESTADDRREQ);
	fails(shutdown(fd, SHUT_WR), ENOTCONN);
	close(fd);
	fd = socket(AF_INET6, SOCK_STREAM, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&six, sizeof(six)) < 0)
		return; /* a kernel without IPv6 */
	len = sizeof(six);
	ok(listen(fd, 1));
	ok(getsockname(fd, (struct sockaddr *)&six, &len));
	ck_assert(len == sizeof(six) && six.sin6_family == AF_INET6 && six.sin6_port);
	addr = loopback(ntohs(six.sin6_port));
	listener = socket(AF_INET, SOCK_STREAM, 0);
	fails(connect(listener, (struct sockaddr *)&addr, sizeof(addr)), ECONNREFUSED);
	close(listener);
	close(fd);
}
END_TEST

START_TEST(datagrams)
{
	int a = socket(AF_INET, SOCK_DGRAM, 0), b = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	struct sockaddr_in at = loopback(0), from;
	socklen_t len = sizeof(at);
	struct timeval t = {.tv_usec = 2000};
	char buf[10];
	struct iovec v = {buf, 2};
	struct msghdr msg = {
		.msg_name = &from, .msg_namelen = sizeof(from), .msg_iov = &v, .msg_iovlen = 1};

	ok(bind(a, (struct sockaddr *)&at, sizeof(at)));
	ok(getsockname(a, (struct sockaddr *)&at, &len));
	ck_assert_int_eq(sendto(b, "hello", 5, 0, (struct sockaddr *)&at, sizeof(at)), 5);
	ck_assert_int_eq(sendto(b, "", 0, 0, (struct sockaddr *)&at, sizeof(at)), 0);
	ck_assert_int_eq(sendto(b, "all", 3, 0, (struct sockaddr *)&at, sizeof(at)), 3);
	ck_assert_int_eq(recv(a, buf, 3, MSG_PEEK | MSG_TRUNC), 5);
	len = sizeof(from);
	ck_assert_int_eq(recvfrom(a, buf, 10, 0, (struct sockaddr *)&from, &len), 5);
	ck_assert(len == sizeof(from) && from.sin_addr.s_addr == htonl(INADDR_LOOPBACK));
	ck_assert_int_eq(recv(a, buf, 10, 0), 0);
	ck_assert_int_eq(recvmsg(a, &msg, 0), 2);
	ck_assert_int_eq(msg.msg_flags, MSG_TRUNC);
	ok(setsockopt(a, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t)));
	fails(recv(a, buf, 1, 0), EAGAIN);
	fails(sendto(b, buf, 66000, 0, (struct sockaddr *)&at, sizeof(at)), EMSGSIZE);
	ok(connect(b, (struct sockaddr *)&at, sizeof(at)));
	close(a);
	ck_assert_int_eq(send(b, "x", 1, 0), 1);
	usleep(1000); /* long for loopback, and nothing in a simulation */
	ck_assert(events_of(b, POLLIN) & POLLERR);
	fails(send(b, "x", 1, 0), ECONNREFUSED);
	fails(recv(b, buf, 1, 0), EAGAIN);
	close(b);
}
END_TEST

/* Only a simulation has both kinds; without one it is all the kernel's. */
START_TEST(real_ones_beside)
{
	int real = (int)syscall(SYS_eventfd2, 0, EFD_NONBLOCK), fd = eventfd(0, EFD_NONBLOCK);
	int set = epoll_create1(0), outer = epoll_create1(0), copy;
	struct epoll_event ev = {.events = EPOLLIN, .data.u32 = 1}, got[4];
	struct pollfd p[] = {{.fd = real, .events = POLLIN}, {.fd = fd, .events = POLLIN}};
	eventfd_t n;

	ok(epoll_ctl(set, EPOLL_CTL_ADD, real, &ev));
	ev.data.u32 = 2;
	ok(epoll_ctl(set, EPOLL_CTL_ADD, fd, &ev));
	ok(epoll_ctl(outer, EPOLL_CTL_ADD, set, &ev));
	ck_assert_int_eq(epoll_wait(outer, got, 4, 0), 0);
	ok(eventfd_write(real, 1));
	ck_assert_int_eq(epoll_wait(outer, got, 4, 0), 1);
	ck_assert_int_eq(epoll_wait(set, got, 4, 0), 1);
	ck_assert_uint_eq(got[0].data.u32, 1);
	ok(eventfd_write(fd, 1));
	ck_assert_int_eq(epoll_wait(set, got, 4, 0), 2);
	ck_assert_int_eq(poll(p, 2, 0), 2);
	ok(eventfd_read(real, &n));
	ck_assert_int_eq(poll(p, 2, 0), 1);
	ck_assert_int_eq(p[0].revents, 0);
	ok(epoll_ctl(set, EPOLL_CTL_DEL, real, NULL));
	/* Each in the other's place. */
	copy = dup(fd);
	ok(dup2(real, fd));
	fails(eventfd_read(fd, &n), EAGAIN);
	ok(eventfd_read(copy, &n));
	ok(dup2(copy, real));
	ok(eventfd_write(real, 5));
	ok(eventfd_read(copy, &n));
	ck_assert_uint_eq(n, 5);
	close(real);
	close(fd);
	close(copy);
	close(set);
	close(outer);
}
END_TEST

START_TEST(numbers)
{
	struct rlimit all, few;
	int fds[2], fd = eventfd(0, 0);

	close(fd);
	ck_assert_int_eq(epoll_create1(0), fd); /* the lowest */
	ck_assert_int_eq(fcntl(fd, F_DUPFD_CLOEXEC, 100), 100);
	ck_assert_int_eq(fcntl(100, F_GETFD), FD_CLOEXEC);
	close(100);
	fails(fcntl(100, F_GETFL), EBADF);
	close(fd);
	fails(close(fd), EBADF);
	getrlimit(RLIMIT_NOFILE, &all);
	few = (struct rlimit){(rlim_t)fd + 1, all.rlim_max};
	ok(setrlimit(RLIMIT_NOFILE, &few));
	fails(pipe(fds), EMFILE);
	fd = socket(AF_UNIX, SOCK_DGRAM, 0);
	ok(fd);
	fails(eventfd(0, 0), EMFILE);
	ok(setrlimit(RLIMIT_NOFILE, &all));
	close(fd);
}
END_TEST

SUITE_MAIN("fds_calls", {timers, 1}, {timers_of_the_day, 1}, {waits_end, 1}, {streams, 1},
	{nobody_listens, 1}, {a_queue_that_is_full, 1}, {ends_of_streams, 1},
	{a_stream_that_is_full, 1}, {addresses, 1}, {datagrams, 1}, {real_ones_beside, 1},
	{numbers, 1})
