/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A backend that answers each GET after a given delay, with a few bytes: one thread, epoll, no haul
 * but its parser. All delays are the same, so what waits is a queue.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "../../apps/haul-http/head.h"

enum { BUFFER = 4096, CONNECTIONS_MAX = 32768, EVENTS = 256 };

struct conn {
	char buf[BUFFER];
	size_t n;
	uint64_t due_ns;
	int fd;
	bool waits; /* is in the queue */
	bool closes;
};

static const char answer[] =
	"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 6\r\n\r\nhello\n";

/* By descriptor. */
static struct conn *conns[CONNECTIONS_MAX];

/* Each connection is in it once at most. */
static struct conn *queue[CONNECTIONS_MAX];
static size_t first, last;
static int epoll;
static uint64_t delay_ns;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void drop(struct conn *c)
{
	conns[c->fd] = NULL;
	close(c->fd);
	free(c);
}

/* A whole request is answered later; one at a time. False: it is wrong. */
static bool look(struct conn *c)
{
	struct http_head h;
	int rc;

	if (c->waits)
		return true;
	http_request_init(&h, NULL);
	rc = http_head_parse(&h, c->buf, c->n);
	if (rc == 0)
		return c->n < BUFFER;
	if (rc < 0 || h.framing != HTTP_NO_BODY)
		return false;
	c->n -= (size_t)rc;
	memmove(c->buf, c->buf + rc, c->n);
	c->closes = !h.keep_alive;
	c->due_ns = now_ns() + delay_ns;
	c->waits = true;
	queue[last++ % CONNECTIONS_MAX] = c;
	return true;
}

static void receive(struct conn *c)
{
	ssize_t n = BUFFER > c->n ? recv(c->fd, c->buf + c->n, BUFFER - c->n, MSG_DONTWAIT) : 0;

	if (n > 0) {
		c->n += (size_t)n;
		n = look(c) ? 1 : 0;
	} else if (n < 0 && errno == EAGAIN) {
		n = 1;
	}
	if (n > 0)
		return;
	/* A connection that waits in the queue is dropped when its turn comes. */
	if (c->waits) {
		c->closes = true;
		epoll_ctl(epoll, EPOLL_CTL_DEL, c->fd, NULL);
	} else {
		drop(c);
	}
}

static void reply(struct conn *c)
{
	ssize_t n = send(c->fd, answer, sizeof(answer) - 1, MSG_NOSIGNAL | MSG_DONTWAIT);

	c->waits = false;
	if (n != (ssize_t)sizeof(answer) - 1 || c->closes || !look(c))
		drop(c);
}

static void accept_all(int listener)
{
	for (;;) {
		int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC), on = 1;
		struct epoll_event e = {.events = EPOLLIN, .data.fd = fd};

		if (fd < 0)
			return;
		if (fd >= CONNECTIONS_MAX || !(conns[fd] = calloc(1, sizeof(struct conn)))) {
			close(fd);
			continue;
		}
		conns[fd]->fd = fd;
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e);
	}
}

static int listen_on(uint16_t port)
{
	struct sockaddr_in addr = {.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), on = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (fd < 0 || bind(fd, (struct sockaddr *)&addr, sizeof(addr)) != 0 ||
		listen(fd, 4096) != 0) {
		perror("http-backend");
		exit(1);
	}
	return fd;
}

/* NULL: until there is something. */
static const struct timespec *next_wait(struct timespec *t)
{
	uint64_t now = now_ns(), due;

	if (first == last)
		return NULL;
	due = queue[first % CONNECTIONS_MAX]->due_ns;
	due = due > now ? due - now : 0;
	*t = (struct timespec){(time_t)(due / 1000000000), (long)(due % 1000000000)};
	return t;
}

int main(int argc, char **argv)
{
	struct epoll_event e = {.events = EPOLLIN}, events[EVENTS];
	int listener;

	if (argc != 3) {
		fprintf(stderr, "usage: %s PORT DELAY_US\n", argv[0]);
		return 2;
	}
	delay_ns = strtoull(argv[2], NULL, 10) * 1000;
	/* Else each delay is 50 us longer. */
	prctl(PR_SET_TIMERSLACK, 1);
	listener = listen_on((uint16_t)atoi(argv[1]));
	epoll = epoll_create1(EPOLL_CLOEXEC);
	e.data.fd = listener;
	epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &e);
	fprintf(stderr, "http-backend: ready\n");
	for (;;) {
		struct timespec t;
		int n = epoll_pwait2(epoll, events, EVENTS, next_wait(&t), NULL);

		for (int i = 0; i < n; i++) {
			if (events[i].data.fd == listener)
				accept_all(listener);
			else if (conns[events[i].data.fd])
				receive(conns[events[i].data.fd]);
		}
		for (uint64_t now = now_ns();
			first != last && queue[first % CONNECTIONS_MAX]->due_ns <= now;)
			reply(queue[first++ % CONNECTIONS_MAX]);
	}
}
