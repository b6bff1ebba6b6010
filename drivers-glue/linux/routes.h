/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel's addresses and routes of a network interface, by rtnetlink. Blocks. */
#ifndef HAULI_LINUX_ROUTES_H
#define HAULI_LINUX_ROUTES_H

#include <stdbool.h>
#include <stdint.h>

/* An address with the length of its network's prefix; or a route: a prefix, and a gateway, which is
 * 0 if there is none. Addresses are in network order. */
struct hauli_kernel_route {
	uint8_t version; /* 4 or 6 */
	uint8_t length;
	uint8_t to[16], gateway[16];
	bool has_gateway;
};

/* Call found() for each address of the interface that is in use: not tentative, nor a duplicate;
 * for each unicast route by it in the main table, without those that follow from its addresses.
 * found() returns 0, or an error, which ends the calls. Return 0, that error, or -errno. */
int hauli_kernel_addresses(
	int index, int (*found)(const struct hauli_kernel_route *route, void *arg), void *arg);
int hauli_kernel_routes(
	int index, int (*found)(const struct hauli_kernel_route *route, void *arg), void *arg);

#endif
