/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a host's packets go. */
#ifndef HAULI_HOST_NEIGHBOUR_H
#define HAULI_HOST_NEIGHBOUR_H

#include "host/state.h"

/*
 * Where a packet to dst goes: its port, the neighbour to which it is sent, and the host's address
 * for it. On carriers. Does not suspend. Returns 0; -ENETUNREACH (no route); -EADDRNOTAVAIL (the
 * port has no address of that version); -EINVAL (a multicast, broadcast, loopback or unspecified
 * address, one of the host itself, or a link-local one that may be on several ports).
 */
int hauli_host_route(struct haul_host *host, const struct haul_addr *dst, unsigned *port,
	struct haul_addr *next_hop, struct haul_addr *src);

/*
 * haul_host_neighbour(), without its checks; *seen: where it was found; the slot may be
 * HAULI_NO_NEIGH.
 */
int hauli_host_neighbour(struct haul_host *host, unsigned port, struct hauli_ip next_hop,
	uint8_t mac[6], struct hauli_neigh_seen *seen, uint64_t deadline) HAUL_SUSPENDS;

/* A reply has come to what was sent to dst by the neighbour in a slot of the port, which is not
 * REACHABLE. On carriers. Does not suspend. */
void hauli_host_confirm(struct haul_host *host, unsigned port, uint32_t slot, struct hauli_ip dst);

/* True if addr is an address of the host on that port, or, with HAUL_ANY, on some port. On
 * carriers. Does not suspend. */
bool hauli_host_has(struct haul_host *host, unsigned port, const struct haul_addr *addr);

#endif
