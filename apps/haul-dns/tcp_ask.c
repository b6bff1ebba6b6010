/* SPDX-License-Identifier: BSD-3-Clause */
#include "tcp_ask.h"

#include <errno.h>
#include <haul/fd.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include "tcp_address.h"
#include "tcp_message.h"
#include "wire.h"

static int exchange(
	int fd, const uint8_t *question, size_t len, uint8_t *reply, size_t room, uint64_t deadline)
{
	uint8_t prefix[DNS_TCP_PREFIX];
	size_t n;
	int rc = dns_tcp_send(fd, question, len, deadline);

	if (rc == 0)
		rc = dns_tcp_receive(fd, prefix, DNS_TCP_PREFIX, deadline);
	if (rc < 0)
		return rc;
	n = dns_get16(prefix);
	if (n > room)
		return -EMSGSIZE;
	rc = dns_tcp_receive(fd, reply, n, deadline);
	return rc < 0 ? rc : (int)n;
}

int dns_tcp_ask(const struct haul_addr *server, uint16_t port, const uint8_t *question, size_t len,
	uint8_t *reply, size_t room, uint64_t deadline)
{
	struct sockaddr_storage addr;
	socklen_t length = dns_tcp_to_kernel(&addr, server, port);
	int on = 1, fd, rc;

	if (length == 0 || len > DNS_MESSAGE_MAX)
		return -EINVAL;
	fd = socket(addr.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	/* Else the last segment of a long question waits until the ones before it are confirmed. */
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	rc = haul_fd_connect(fd, (const struct sockaddr *)&addr, length, deadline);
	if (rc == 0)
		rc = exchange(fd, question, len, reply, room, deadline);
	haul_fd_close(fd);
	return rc;
}
