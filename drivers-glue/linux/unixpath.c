/* SPDX-License-Identifier: BSD-3-Clause */
#include "linux/unixpath.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <haul-dpdk/port.h>

/*
 * Connecting and hanging up would harm the listener: DPDK's memif ends its program over it. But the
 * kernel also answers a socket of the wrong type, and does not connect it.
 */
int haul_port_socket_look(const char *path)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int err = 0;

	if (fd < 0)
		return -errno;
	snprintf(un.sun_path, sizeof(un.sun_path), "%s", path);
	if (connect(fd, (struct sockaddr *)&un, sizeof(un)) < 0 && errno != EPROTOTYPE)
		err = -errno;
	close(fd);
	return err;
}

void hauli_unixpath_no_sigpipe(void)
{
	struct sigaction sa;

	/* A handler of the program's own stays. */
	if (sigaction(SIGPIPE, NULL, &sa) == 0 && sa.sa_handler == SIG_DFL)
		signal(SIGPIPE, SIG_IGN);
}
