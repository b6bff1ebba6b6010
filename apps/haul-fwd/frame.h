/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The frames that txonly and --tx-first send: UDP over IPv4 between the addresses and ports of the
 * options, with a source port for each flow.
 */
#ifndef FWD_FRAME_H
#define FWD_FRAME_H

#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_mbuf.h>
#include <rte_udp.h>

#include "frame_options.h"

#define FRAME_MIN 64 /* sizes are in bytes, without the frame check sequence */
#define FRAME_MAX 1518
#define FRAME_FLOWS_MAX 64512 /* source ports 1024 to 65535 */

struct frame_headers {
	struct rte_ether_hdr eth;
	struct rte_ipv4_hdr ip;
	struct rte_udp_hdr udp;
} __attribute__((packed, aligned(2)));

/* The common part of all frames of a port. */
struct frame_shape {
	struct frame_headers headers;
	uint16_t size;
	uint16_t first_port; /* the source port of flow 0 */
	uint32_t flows;
};

/* Sets up *shape. Of the options it takes the IPv4 addresses and the ports. */
void frame_shape_init(struct frame_shape *shape, const struct frame_options *options,
	const struct rte_ether_addr *from, const struct rte_ether_addr *to, uint16_t size,
	uint32_t flows);

/* Writes a frame of the given flow into pkt, a new buffer from the pool. flow: below
 * shape->flows. */
void frame_fill(const struct frame_shape *shape, struct rte_mbuf *pkt, uint32_t flow);

#endif
