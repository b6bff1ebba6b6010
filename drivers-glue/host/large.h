/* SPDX-License-Identifier: BSD-3-Clause */
/* Datagrams that are larger than the MTU of their port. */
#ifndef HAULI_HOST_LARGE_H
#define HAULI_HOST_LARGE_H

#include "host/send.h"

/*
 * Sends a datagram in fragments, whose pool is that of the io. Waits for room in the queue until
 * the deadline. Returns 0; or, and payload is the caller's, as it was, but some fragments may have
 * left: -EMSGSIZE (more than IP or HAUL_FRAGMENTS_MAX allows, or the host has no_fragments);
 * -ENOBUFS (no headroom, or the pool is empty); -ECANCELED; errors of hauli_send_on().
 */
int hauli_host_send_large(struct haul_host *host, const struct hauli_out *out,
	struct rte_mbuf *payload, uint16_t src_port, uint16_t dst_port,
	uint64_t deadline) HAUL_SUSPENDS;

#endif
