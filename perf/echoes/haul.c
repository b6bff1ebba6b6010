/* SPDX-License-Identifier: BSD-3-Clause */
/* The echo server of docs/guide/descriptors.md: a coroutine for each connection, on one carrier.
 * usage: echo-haul [SPIN_NS [epoll]] */
#include <haul/fd.h>
#include <haul/haul.h>

#include "echo.h"

static int listening;

static void *serve(void *arg)
{
	int fd = (int)(intptr_t)arg;
	char buf[ECHO_BUFFER];
	ssize_t n;

	while ((n = haul_fd_recv(fd, buf, sizeof(buf), 0, HAUL_FOREVER)) > 0)
		if (haul_fd_send(fd, buf, (size_t)n, 0, HAUL_FOREVER) != n)
			break;
	(void)haul_fd_close(fd);
	return NULL;
}

static void *accept_all(void *arg)
{
	int fd;

	while ((fd = haul_fd_accept(listening, NULL, NULL, SOCK_CLOEXEC, HAUL_FOREVER)) >= 0)
		if (haul_spawn(NULL, serve, (void *)(intptr_t)fd, NULL))
			(void)haul_fd_close(fd);
	return arg;
}

int main(int argc, char **argv)
{
	struct haul_runtime_opts opts = {
		.spin_ns = argc > 1 ? strtoull(argv[1], NULL, 10) : 0,
		.fds = argc > 2 && !strcmp(argv[2], "epoll") ? HAUL_FDS_EPOLL : HAUL_FDS_BEST,
	};
	struct haul_runtime *rt;
	struct haul_coro *co;
	char why[256] = "";

	listening = echo_listen(0);
	if (haul_start(&rt, &opts, why, sizeof(why)) != 0 ||
		haul_spawn_on(haul_carrier(rt, 0), &co, accept_all, NULL, NULL) != 0) {
		fprintf(stderr, "cannot start: %s\n", why);
		return 1;
	}
	(void)haul_join(co, NULL, HAUL_FOREVER);
	return 0;
}
