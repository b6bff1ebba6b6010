/* SPDX-License-Identifier: BSD-3-Clause */
/* Answers of a host to packets of handlers. */
#ifndef HAULI_HOST_REPLY_H
#define HAULI_HOST_REPLY_H

#include <haul-dpdk/io.h>

/* Sends an answer that was made of the packet of a handler. */
void hauli_host_reply(struct haul_io *io, struct haul_rx *rx, struct rte_mbuf *pkt) HAUL_SUSPENDS;

/* The same for an answer that may be larger than mtu bytes, or in segments that the port may not be
 * able to send. */
void hauli_host_reply_in_fragments(struct haul_io *io, struct haul_rx *rx, struct haul_pkt *pkt,
	uint16_t mtu, bool segments) HAUL_SUSPENDS;

#endif
