/* SPDX-License-Identifier: BSD-3-Clause */
#include "tcp_listen.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <unistd.h>

#include "tcp_address.h"

enum { PORT = 53, BACKLOG = 1024 };

/* Digits only, up to the end. */
static int parse_port(const char *text, uint16_t *port)
{
	unsigned value = 0;
	const char *s = text;

	for (; *s >= '0' && *s <= '9' && value <= UINT16_MAX; s++)
		value = 10 * value + (unsigned)(*s - '0');
	if (s == text || *s != '\0' || value > UINT16_MAX)
		return -EINVAL;
	*port = (uint16_t)value;
	return 0;
}

/* ADDR, ADDR:PORT of IPv4, [ADDR], [ADDR]:PORT */
static int parse(const char *text, struct haul_addr *addr, uint16_t *port)
{
	const char *end, *after;
	char copy[HAUL_ADDR_TEXT];
	bool has_brackets = *text == '[';

	*port = PORT;
	if (!has_brackets && haul_addr_parse(addr, text) == 0)
		return 0;
	text += has_brackets;
	end = strchr(text, has_brackets ? ']' : ':');
	if (!end || (size_t)(end - text) >= sizeof(copy))
		return -EINVAL;
	memcpy(copy, text, (size_t)(end - text));
	copy[end - text] = '\0';
	if (haul_addr_parse(addr, copy) < 0 || addr->version != (has_brackets ? 6 : 4))
		return -EINVAL;
	after = end + has_brackets;
	if (*after == '\0' && has_brackets)
		return 0;
	return *after == ':' ? parse_port(after + 1, port) : -EINVAL;
}

static const char *remedy(int error)
{
	switch (error) {
	case -EADDRINUSE:
		return "; another program listens there: ss -ltnp names it";
	case -EADDRNOTAVAIL:
		return "; no interface has this address: ip address add";
	case -EACCES:
		return "; ports below 1024 are for root, or CAP_NET_BIND_SERVICE";
	default:
		return "";
	}
}

static int open_socket(const struct haul_addr *addr, uint16_t *port)
{
	struct sockaddr_storage kernel;
	socklen_t length = dns_tcp_to_kernel(&kernel, addr, *port);
	int fd = socket(kernel.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	/* [::] leaves IPv4 to a socket of its own. */
	if (addr->version == 6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
	/* Connections inherit it: answers do not wait for each other. */
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (bind(fd, (struct sockaddr *)&kernel, length) != 0 || listen(fd, BACKLOG) != 0 ||
		getsockname(fd, (struct sockaddr *)&kernel, &length) != 0) {
		int error = -errno;

		close(fd);
		return error;
	}
	dns_tcp_from_kernel(&kernel, port);
	return fd;
}

int dns_tcp_take(int fd, uint16_t *port)
{
	struct sockaddr_storage kernel;
	socklen_t length = sizeof(kernel);
	int on = 1;

	/* As open_socket() does. */
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (getsockname(fd, (struct sockaddr *)&kernel, &length) != 0)
		return -errno;
	dns_tcp_from_kernel(&kernel, port);
	return fd;
}

int dns_tcp_listen(const char *text, uint16_t *port, char *errbuf, size_t errlen)
{
	struct haul_addr addr;
	int fd;

	if (parse(text, &addr, port) < 0) {
		snprintf(errbuf, errlen,
			"%s: give an address, or one with a port: 10.0.0.1:53, [fd00::1]:53", text);
		return -EINVAL;
	}
	fd = open_socket(&addr, port);
	if (fd < 0)
		snprintf(errbuf, errlen, "%s: %s%s", text, strerror(-fd), remedy(fd));
	return fd;
}
