/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Addresses and routes of a host at one time: a table that never changes, built anew for each
 * change. One search says of an address what it is: the host's own, a group, or where packets to it
 * go. Works on memory only.
 */
#ifndef HAULI_HOST_ROUTE_H
#define HAULI_HOST_ROUTE_H

#include <haul/net.h>

#include "host/ip.h"

/* An address of the host. length: of its network's prefix, in bits of 128. One that others may
 * have, or do have, is in no packet; its network is reached all the same. */
struct hauli_own {
	struct hauli_ip ip;
	unsigned length, port;
	bool is_tentative, is_duplicate;
	struct haul_net_if nif; /* with this address only */
};

enum hauli_route_kind {
	HAULI_ROUTE_NONE, /* -ENETUNREACH */
	HAULI_ROUTE_GROUP, /* multicast, broadcast, loopback, ...: nothing is sent there */
	HAULI_ROUTE_OWN,
	HAULI_ROUTE_DIRECT,
	HAULI_ROUTE_GATEWAY,
	HAULI_ROUTE_AMBIGUOUS, /* link-local addresses, of which several ports have some */
};

struct hauli_route {
	struct hauli_ip to;
	unsigned length; /* in bits of 128 */
	enum hauli_route_kind kind;
	unsigned port;
	struct hauli_ip gateway;
	/* The address from which packets are sent, or, of OWN, that it is; NULL: none. Set by
	 * hauli_routes_build(). */
	const struct hauli_own *own;
};

struct hauli_routes;

/* Builds a table of n routes, added by the user, and of what follows from nb addresses. Both are
 * copied. Of routes with one prefix the first counts. NULL: no memory. */
struct hauli_routes *hauli_routes_build(
	const struct hauli_own *owns, unsigned nb, const struct hauli_route *routes, unsigned n);
void hauli_routes_free(struct hauli_routes *r);

/* The longest prefix of ip. Never NULL: kind NONE. */
const struct hauli_route *hauli_routes_find(const struct hauli_routes *r, struct hauli_ip ip);

static inline bool hauli_own_is_valid(const struct hauli_own *own)
{
	return !own->is_tentative && !own->is_duplicate;
}

/* The address of a port that is nearest to ip: in its network, or any of its version. NULL: the
 * port has none. */
const struct hauli_own *hauli_routes_source(
	const struct hauli_routes *r, unsigned port, struct hauli_ip ip);

/* The host's address ip on a port, or NULL: as hauli_routes_find() says, but faster, as each packet
 * that comes asks for it. */
const struct hauli_own *hauli_routes_own(
	const struct hauli_routes *r, unsigned port, struct hauli_ip ip);

#endif
