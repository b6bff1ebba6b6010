/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mode flowgen: as testpmd's, sends UDP from 10.254.0.0 to as many addresses from 10.253.0.0 on as
 * there are flows, and drops what it receives.
 */
#include <rte_udp.h>

#include "checksum.h"
#include "edit.h"
#include "modes.h"
#include "options.h"

#define FIRST RTE_IPV4(10, 253, 0, 0)

/* A frame without a destination, and the sum of its IP header. */
struct shape {
	struct frame_headers headers;
	uint64_t sum;
};
static struct shape both[2][HAUL_APP_PORTS_MAX];
static struct fwd_versions shapes;

static inline void fill(
	const struct shape *shape, struct rte_mbuf *pkt, uint16_t size, uint32_t flow)
{
	struct frame_headers *h = rte_pktmbuf_mtod(pkt, struct frame_headers *);
	rte_be32_t to = rte_cpu_to_be_32(FIRST + flow);

	*h = shape->headers;
	h->ip.dst_addr = to;
	h->ip.hdr_checksum = (uint16_t)~haul_sum_fold(shape->sum + to);
	pkt->data_len = size;
	pkt->pkt_len = size;
}

/* Each frame is in the burst "times" times. Returns their number. */
static inline uint16_t flowgen_frames(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n,
	struct rte_mbuf **frames, uint16_t times)
{
	const struct fwd *fwd = rx->arg;
	const struct shape *shape = (struct shape *)fwd_versions_get(&shapes) + rx->port;
	struct fwd_carrier *carrier = &fwd->carriers[rx->carrier];
	uint16_t size = fwd_ports(fwd)[rx->port].shape.size;
	uint32_t flows = (uint32_t)fwd_mode_args.flowgen_flows;
	uint16_t i, at = 0;

	for (i = 0; at < n; i++) {
		uint16_t refs = RTE_MIN(times, (uint16_t)(n - at));

		rte_pktmbuf_reset(frames[i]); /* in the same pass, as in txonly */
		fill(shape, frames[i], size, carrier->next_flow);
		if (refs > 1)
			rte_mbuf_refcnt_update(frames[i], (int16_t)(refs - 1));
		while (refs-- > 0) {
			pkts[at++] = frames[i];
			(void)fwd_next_flow(carrier, flows); /* as in testpmd */
		}
	}
	return at;
}

static __attribute__((noinline)) uint16_t flowgen_clones(
	struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n, uint16_t times)
{
	const struct fwd *fwd = rx->arg;
	struct rte_mbuf *frames[FWD_BURST_MAX];

	if (rte_mempool_get_bulk(fwd->pool, (void **)frames, (n + times - 1u) / times) != 0)
		return 0;
	return flowgen_frames(rx, pkts, n, frames, times);
}

static uint16_t flowgen_source(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	const struct fwd *fwd = rx->arg;
	uint16_t times = (uint16_t)(fwd_mode_args.flowgen_clones + 1);

	if (times > 1)
		return flowgen_clones(rx, pkts, n, times);
	if (rte_mempool_get_bulk(fwd->pool, (void **)pkts, n) != 0)
		return 0;
	return flowgen_frames(rx, pkts, n, pkts, 1);
}

static int flowgen_begin(struct fwd *fwd)
{
	fwd_versions_init(&shapes, both[0], both[1], sizeof(both[0]));
	for (unsigned i = 0; i < fwd->app->nb_ports; i++) {
		const struct frame_shape *like = &fwd_ports(fwd)[i].shape;
		struct frame_headers *h = &both[0][i].headers;

		*h = like->headers;
		h->ip.src_addr = rte_cpu_to_be_32(RTE_IPV4(10, 254, 0, 0));
		h->ip.dst_addr = 0;
		h->ip.hdr_checksum = 0;
		h->udp.src_port = rte_cpu_to_be_16(1000);
		h->udp.dst_port = rte_cpu_to_be_16(1001);
		both[0][i].sum = fwd_ip4_sum(&h->ip);
	}
	return HAUL_APP_DONE;
}

static void flowgen_attached(struct fwd *fwd, unsigned port)
{
	struct shape *copy = fwd_versions_copy(&shapes);

	copy[port].headers.eth.src_addr = fwd_ports(fwd)[port].mac;
	fwd_versions_show(&shapes);
}

const struct fwd_mode_ops fwd_mode_flowgen = {
	.burst = fwd_drop_burst,
	.packet = fwd_drop_packet,
	.source = flowgen_source,
	.packet_source = flowgen_source,
	.reads = true,
	.begin = flowgen_begin,
	.attached = flowgen_attached,
};
