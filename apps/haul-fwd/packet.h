/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames of the generator: Ethernet, a VLAN tag perhaps, IPv4 or IPv6, UDP or TCP, a stamp, zeros.
 * Checksums are right, so that kernels take the frames.
 */
#ifndef FWD_PACKET_H
#define FWD_PACKET_H

#include <rte_ether.h>
#include <rte_mbuf.h>

#include "frame_options.h"
#include "stamp.h"

#define PACKET_HEADERS_MAX 80
#define PACKET_MIN 60 /* of Ethernet, without FCS */

struct packet_shape {
	uint8_t headers[PACKET_HEADERS_MAX]; /* lengths and checksums are 0 */
	uint8_t l3, l4, payload; /* offsets */
	bool ip6, tcp;
	uint16_t first_port; /* the source port of flow 0 */
	uint32_t ip_sum, l4_sum; /* of the 16-bit words that are the same in all frames */
};

void packet_shape_init(struct packet_shape *shape, const struct frame_options *options,
	const struct rte_ether_addr *from, const struct rte_ether_addr *to);

/* The length of the shortest frame: PACKET_MIN, or more if headers and stamp need it. */
uint16_t packet_size_min(const struct frame_options *options);

/* Writes a frame into pkt, a new buffer. size: at least packet_size_min(). port: flow's, added to
 * the first source port. */
void packet_fill(const struct packet_shape *shape, struct rte_mbuf *pkt, uint16_t size,
	uint16_t port, const struct stamp *stamp);

/* The stamp of a received frame; false: it has none. Its headers are those of packet_fill() or of
 * what a forwarder makes of it: addresses, ports, a VLAN tag and checksums are not looked at. */
bool packet_read(const struct rte_mbuf *pkt, struct stamp *stamp);

#endif
