/* SPDX-License-Identifier: BSD-3-Clause */
/* An echo server as one writes it in C: level-triggered epoll, one recv() and one send() for each
 * request. */
#include <sys/epoll.h>

#include "echo.h"

#define EVENTS 512

static void add(int set, int fd)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.fd = fd};

	if (epoll_ctl(set, EPOLL_CTL_ADD, fd, &ev) < 0)
		echo_die("epoll_ctl");
}

static void accept_all(int set, int listening)
{
	int fd;

	while ((fd = accept4(listening, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0)
		add(set, fd);
}

/* A reply finds room: its client reads it before it asks again. */
static void echo(int fd)
{
	static char buf[ECHO_BUFFER];
	ssize_t n = recv(fd, buf, sizeof(buf), 0);

	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0 || send(fd, buf, (size_t)n, 0) != n)
		close(fd);
}

int main(void)
{
	static struct epoll_event events[EVENTS];
	int listening = echo_listen(SOCK_NONBLOCK), set = epoll_create1(EPOLL_CLOEXEC);

	add(set, listening);
	for (;;) {
		int n = epoll_wait(set, events, EVENTS, -1);

		for (int i = 0; i < n; i++) {
			if (events[i].data.fd == listening)
				accept_all(set, listening);
			else
				echo(events[i].data.fd);
		}
	}
}
