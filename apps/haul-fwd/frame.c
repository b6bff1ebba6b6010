/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds frames. */
#include "frame.h"

#include <string.h>

void frame_shape_init(struct frame_shape *shape, const struct frame_options *options,
	const struct rte_ether_addr *from, const struct rte_ether_addr *to, uint16_t size,
	uint32_t flows)
{
	struct frame_headers *h = &shape->headers;
	uint16_t ip_len = (uint16_t)(size - sizeof(h->eth));

	memset(shape, 0, sizeof(*shape));
	shape->size = size;
	shape->flows = flows;
	shape->first_port = options->ports[0];
	h->eth.dst_addr = *to;
	h->eth.src_addr = *from;
	h->eth.ether_type = rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV4);
	h->ip.version_ihl = RTE_IPV4_VHL_DEF;
	h->ip.total_length = rte_cpu_to_be_16(ip_len);
	h->ip.time_to_live = 64;
	h->ip.next_proto_id = IPPROTO_UDP;
	h->ip.src_addr = options->ip[0].s_addr;
	h->ip.dst_addr = options->ip[1].s_addr;
	h->ip.hdr_checksum = rte_ipv4_cksum(&h->ip);
	h->udp.dst_port = rte_cpu_to_be_16(options->ports[1]);
	h->udp.dgram_len = rte_cpu_to_be_16((uint16_t)(ip_len - sizeof(h->ip)));
	/* The UDP checksum stays 0 (none, allowed with IPv4), so that flows differ only in a
	 * port. */
}

void frame_fill(const struct frame_shape *shape, struct rte_mbuf *pkt, uint32_t flow)
{
	struct frame_headers *h = rte_pktmbuf_mtod(pkt, struct frame_headers *);

	*h = shape->headers;
	h->udp.src_port = rte_cpu_to_be_16((uint16_t)(shape->first_port + flow));
	pkt->data_len = shape->size;
	pkt->pkt_len = shape->size;
}
