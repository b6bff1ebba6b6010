/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The frames that txonly and --tx-first send: UDP over IPv4 between the addresses that RFC 2544
 * keeps for benchmarks, to the discard port, each flow with a source port of its own.
 */
#ifndef FWD_FRAME_H
#define FWD_FRAME_H

#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_mbuf.h>
#include <rte_udp.h>

#define FRAME_MIN 64 /* without the frame check sequence, as all sizes here */
#define FRAME_MAX 1518
#define FRAME_FLOWS_MAX 64512 /* source ports from 1024 on */

struct frame_headers {
	struct rte_ether_hdr eth;
	struct rte_ipv4_hdr ip;
	struct rte_udp_hdr udp;
} __attribute__((packed, aligned(2)));

/* What all frames of one port look like. */
struct frame_shape {
	struct frame_headers headers;
	uint16_t size;
	uint32_t flows;
};

void frame_shape_init(struct frame_shape *shape, const struct rte_ether_addr *from,
	const struct rte_ether_addr *to, uint16_t size, uint32_t flows);

/* Makes pkt, which is fresh from the pool, a frame of the flow with this number. */
void frame_fill(const struct frame_shape *shape, struct rte_mbuf *pkt, uint32_t flow);

#endif
