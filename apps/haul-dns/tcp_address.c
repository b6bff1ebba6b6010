/* SPDX-License-Identifier: BSD-3-Clause */
#include "tcp_address.h"

#include <netinet/in.h>

socklen_t dns_tcp_to_kernel(
	struct sockaddr_storage *to, const struct haul_addr *addr, uint16_t port)
{
	struct sockaddr_in *four = (struct sockaddr_in *)to;
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)to;

	*to = (struct sockaddr_storage){0};
	switch (addr->version) {
	case 4:
		four->sin_family = AF_INET;
		four->sin_port = htons(port);
		memcpy(&four->sin_addr, addr->bytes, 4);
		return sizeof(*four);
	case 6:
		six->sin6_family = AF_INET6;
		six->sin6_port = htons(port);
		memcpy(&six->sin6_addr, addr->bytes, 16);
		return sizeof(*six);
	default:
		return 0;
	}
}

struct haul_addr dns_tcp_from_kernel(const struct sockaddr_storage *from, uint16_t *port)
{
	const struct sockaddr_in *four = (const struct sockaddr_in *)from;
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)from;

	if (from->ss_family == AF_INET) {
		*port = ntohs(four->sin_port);
		return haul_addr_from(4, &four->sin_addr);
	}
	*port = ntohs(six->sin6_port);
	return haul_addr_from(6, &six->sin6_addr);
}
