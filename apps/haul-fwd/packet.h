/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames of the generator: Ethernet, a VLAN tag perhaps, IPv4 or IPv6, UDP, TCP or a ping, a stamp,
 * zeros. Checksums are right, so that kernels take the frames.
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
	uint8_t headers[PACKET_HEADERS_MAX]; /* of size; flow and L4 checksum are 0 */
	uint8_t l3, l4, payload; /* offsets */
	uint8_t flow, checksum; /* offsets of what tells flows apart (source port, or the
				   identifier of a ping), and of the L4 checksum */
	bool ip6, has_pseudo, has_udp_len;
	uint16_t first_port; /* that of flow 0 */
	uint16_t size; /* that of most frames, whose lengths need not be written */
	uint32_t ip_sum, l4_sum; /* of the 16-bit words that are the same in all frames */
	uint64_t size_sum; /* l4_sum and the lengths in frames of size */
};

/* The flows of a sender, one after another, and the sequence number in each. */
struct packet_turn {
	uint32_t flow, from, to; /* the next one; the first one, the end */
	uint32_t sequence; /* of the next packet */
};

static inline void packet_turn_next(struct packet_turn *t)
{
	if (++t->flow == t->to) {
		t->flow = t->from;
		t->sequence++;
	}
}

/* size: of most frames; packet_fill() takes a bit longer for others. */
void packet_shape_init(struct packet_shape *shape, const struct frame_options *options,
	const struct rte_ether_addr *from, const struct rte_ether_addr *to, uint16_t size);

/* The length of the shortest frame: PACKET_MIN, or more if headers and stamp need it. */
uint16_t packet_size_min(const struct frame_options *options);

/*
 * Writes frames of a size, at least packet_size_min(), into n new buffers. Each frame has the next
 * flow of turn, which is added to the first source port or identifier and to the stamp's flow, and
 * the sequence number of turn. The other fields of their stamps are the same.
 */
void packet_fill(const struct packet_shape *restrict shape, struct rte_mbuf **pkts, uint16_t n,
	uint16_t size, struct packet_turn *turn, const struct stamp *stamp);

/* The stamp of a received frame; false: it has none. Its headers are those of packet_fill() or of
 * what a forwarder makes of it: addresses, ports, a VLAN tag and checksums are not looked at. */
bool packet_read(const struct rte_mbuf *pkt, struct stamp *stamp);

#endif
