/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses as the kernel's sockets have them. */
#ifndef DNS_TCP_ADDRESS_H
#define DNS_TCP_ADDRESS_H

#include <haul/build.h>
#include <sys/socket.h>

/* Returns the length of the address, or 0 if addr is none. */
socklen_t dns_tcp_to_kernel(
	struct sockaddr_storage *to, const struct haul_addr *addr, uint16_t port);

/* Of an address of IPv4 or IPv6. */
struct haul_addr dns_tcp_from_kernel(const struct sockaddr_storage *from, uint16_t *port);

#endif
