/* SPDX-License-Identifier: BSD-3-Clause */
#include "vlan.h"

/* Constant while pollers run. */
static struct {
	uint64_t flags; /* RTE_MBUF_F_TX_...; 0: no tag */
	uint16_t vlan, outer;
} tags[HAUL_APP_PORTS_MAX];

static haul_burst_fn *inner_burst;
static haul_packet_fn *inner_packet;
static haul_source_fn *inner_source;

void fwd_vlan_set(unsigned port, uint16_t vlan)
{
	tags[port].flags = RTE_MBUF_F_TX_VLAN;
	tags[port].vlan = vlan;
}

void fwd_vlan_set_two(unsigned port, uint16_t vlan, uint16_t outer)
{
	fwd_vlan_set(port, vlan);
	tags[port].flags |= RTE_MBUF_F_TX_QINQ;
	tags[port].outer = outer;
}

void fwd_vlan_reset(unsigned port)
{
	tags[port].flags = 0;
}

void fwd_vlan_mark(unsigned port, struct rte_mbuf **pkts, uint16_t n)
{
	if (!tags[port].flags)
		return;
	for (uint16_t i = 0; i < n; i++) {
		pkts[i]->ol_flags |= tags[port].flags;
		pkts[i]->vlan_tci = tags[port].vlan;
		pkts[i]->vlan_tci_outer = tags[port].outer;
	}
}

/* The port on which the mode sends what it receives. */
static unsigned port_to(const struct haul_rx *rx)
{
	const struct fwd *fwd = rx->arg;

	return fwd->mode->replies ? rx->port : fwd_ports(fwd)[rx->port].peer;
}

static void mark_burst(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	fwd_vlan_mark(port_to(rx), pkts, n);
	inner_burst(rx, pkts, n);
}

static void mark_packet(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	fwd_vlan_mark(port_to(rx), &pkt, 1);
	inner_packet(rx, pkt);
}

static uint16_t mark_source(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	uint16_t sent = inner_source(rx, pkts, n);

	fwd_vlan_mark(rx->port, pkts, sent);
	return sent;
}

void fwd_vlan_wrap(struct haul_io_opts *io)
{
	bool any = false;

	for (unsigned i = 0; i < HAUL_APP_PORTS_MAX; i++)
		any |= tags[i].flags != 0;
	if (!any)
		return;
	inner_burst = io->on_burst;
	inner_packet = io->on_packet;
	inner_source = io->source;
	io->on_burst = inner_burst ? mark_burst : NULL;
	io->on_packet = inner_packet ? mark_packet : NULL;
	io->source = inner_source ? mark_source : NULL;
}
