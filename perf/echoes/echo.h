/* SPDX-License-Identifier: BSD-3-Clause */
/* What the servers of perf/echo share: each echoes what it reads on any number of TCP connections,
 * on one thread, until it is killed. */
#ifndef PERF_ECHO_H
#define PERF_ECHO_H

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define ECHO_BUFFER 4096
#define ECHO_FDS_MAX 65536

static inline void echo_die(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

/* All descriptors that the process may have. */
static inline void echo_raise_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		echo_die("getrlimit");
	limit.rlim_cur = limit.rlim_max < ECHO_FDS_MAX ? limit.rlim_max : ECHO_FDS_MAX;
	if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
		echo_die("setrlimit");
}

/* A replies waits for no acknowledgement of the one before. */
static inline void echo_no_delay(int fd)
{
	int on = 1;

	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

/* Listens on a port of the loopback interface that the kernel chooses, and prints its number. */
static inline int echo_listen(int flags)
{
	struct sockaddr_in at = {.sin_family = AF_INET};
	socklen_t len = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);

	signal(SIGPIPE, SIG_IGN);
	echo_raise_limit();
	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || bind(fd, (struct sockaddr *)&at, len) < 0 || listen(fd, 4096) < 0 ||
		getsockname(fd, (struct sockaddr *)&at, &len) < 0)
		echo_die("listen");
	echo_no_delay(fd); /* accepted sockets inherit it */
	printf("%d\n", ntohs(at.sin_port));
	fflush(stdout);
	return fd;
}

#endif
