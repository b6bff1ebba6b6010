/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mode csum: recomputes the checksums of IPv4, UDP, TCP and SCTP, each in software or by the device
 * that sends. Checksums of fragments, a UDP checksum of 0 (none), and what is not complete stay.
 */
#include "csum.h"

#include <errno.h>
#include <string.h>

#include <haul-dpdk/port_info.h> /* with the names of offloads */

#include <rte_net.h>
#include <rte_sctp.h>
#include <rte_tcp.h>
#include <rte_udp.h>

#include "checksum.h"
#include "conc/word.h"
#include "edit.h"
#include "headers.h"
#include "modes.h"
#include "options.h"

#define L3_LEN_MAX RTE_LEN2MASK(RTE_MBUF_L3_LEN_BITS, unsigned)

enum counter { BAD_IP, BAD_L4, COUNTERS };

const struct haul_app_counter fwd_csum_counters[] = {
	[BAD_IP] = {.name = "bad_ip_csum"},
	[BAD_L4] = {.name = "bad_l4_csum"},
	{.name = NULL},
};
static bool counts;

/* What the user has set for packets that a port sends. */
static struct setting {
	struct hauli_u8_owned hw; /* bits: layers that the port's device computes. Main thread */
	uint8_t asked; /* hw, if the device has it. Main thread */
	bool keeps_macs;
} settings[HAUL_APP_PORTS_MAX];

#define BIT(layer) ((uint8_t)(1u << (layer)))

const uint64_t fwd_csum_offloads[FWD_CSUM_LAYERS] = {
	[FWD_CSUM_IP] = RTE_ETH_TX_OFFLOAD_IPV4_CKSUM,
	[FWD_CSUM_UDP] = RTE_ETH_TX_OFFLOAD_UDP_CKSUM,
	[FWD_CSUM_TCP] = RTE_ETH_TX_OFFLOAD_TCP_CKSUM,
	[FWD_CSUM_SCTP] = RTE_ETH_TX_OFFLOAD_SCTP_CKSUM,
};

int fwd_csum_set(unsigned port, enum fwd_csum_layer layer, bool hw)
{
	if (port >= HAUL_APP_PORTS_MAX || layer >= FWD_CSUM_LAYERS)
		return -EINVAL;
	if (hw)
		settings[port].asked |= BIT(layer);
	else
		settings[port].asked &= (uint8_t)~BIT(layer);
	hauli_u8_owned_set(&settings[port].hw, settings[port].asked);
	return 0;
}

bool fwd_csum_is_hw(unsigned port, enum fwd_csum_layer layer)
{
	return port < HAUL_APP_PORTS_MAX && layer < FWD_CSUM_LAYERS &&
		(hauli_u8_owned_get(&settings[port].hw) & BIT(layer));
}

void fwd_csum_set_offloads(unsigned port, uint64_t offloads)
{
	uint8_t hw = 0;

	for (unsigned i = 0; i < FWD_CSUM_LAYERS; i++)
		if (offloads & fwd_csum_offloads[i])
			hw |= BIT(i);
	hauli_u8_owned_set(&settings[port].hw, hw & settings[port].asked);
}

int fwd_csum_set_macs(unsigned port, bool on)
{
	if (port >= HAUL_APP_PORTS_MAX)
		return -EINVAL;
	settings[port].keeps_macs = !on;
	return 0;
}

/* Wrong checksums found in a burst. */
struct found {
	uint32_t bad[COUNTERS];
};

static inline void check_ip4(struct rte_ipv4_hdr *ip, struct found *found)
{
	uint16_t sum = fwd_ip4_sum(ip);

	if (likely(sum == 0xffff))
		return;
	found->bad[BAD_IP]++;
	ip->hdr_checksum = 0;
	ip->hdr_checksum = (uint16_t)~fwd_ip4_sum(ip);
}

/* Returns the checksum over len bytes that is to replace the one given. */
static inline rte_be16_t checked_l4(const struct rte_mbuf *pkt, const struct fwd_headers *h,
	uint16_t len, rte_be16_t given, struct found *found)
{
	uint16_t sum = fwd_l4_sum(pkt, h, len);

	if (likely(sum == 0xffff))
		return given;
	found->bad[BAD_L4]++;
	/* Without the one given, in the arithmetic of this sum. */
	return (uint16_t)~haul_sum_fold((uint64_t)sum + (uint16_t)~given);
}

static inline void check_udp(
	const struct rte_mbuf *pkt, const struct fwd_headers *h, struct found *found)
{
	struct rte_udp_hdr *udp = rte_pktmbuf_mtod_offset(pkt, struct rte_udp_hdr *, h->l4);
	rte_be16_t cksum;
	uint16_t len;

	if (h->l4_len < sizeof(*udp) || h->l4 + sizeof(*udp) > pkt->data_len ||
		udp->dgram_cksum == 0)
		return;
	len = rte_be_to_cpu_16(udp->dgram_len);
	if (len < sizeof(*udp) || len > h->l4_len)
		return;
	cksum = checked_l4(pkt, h, len, udp->dgram_cksum, found);
	udp->dgram_cksum = cksum ? cksum : 0xffff; /* 0 means none */
}

static inline void check_tcp(
	const struct rte_mbuf *pkt, const struct fwd_headers *h, struct found *found)
{
	struct rte_tcp_hdr *tcp = rte_pktmbuf_mtod_offset(pkt, struct rte_tcp_hdr *, h->l4);

	if (h->l4_len >= sizeof(*tcp) && h->l4 + sizeof(*tcp) <= pkt->data_len)
		tcp->cksum = checked_l4(pkt, h, h->l4_len, tcp->cksum, found);
}

static __attribute__((noinline)) void check_sctp(
	struct rte_mbuf *pkt, const struct fwd_headers *h, struct found *found)
{
	struct rte_sctp_hdr *sctp = rte_pktmbuf_mtod_offset(pkt, struct rte_sctp_hdr *, h->l4);
	rte_le32_t crc;

	if (h->l4_len < sizeof(*sctp) || h->l4 + sizeof(*sctp) > pkt->data_len)
		return;
	crc = fwd_sctp_crc(pkt, h);
	found->bad[BAD_L4] += sctp->cksum != crc;
	sctp->cksum = crc;
}

/* Returns the layer of an upper protocol, or FWD_CSUM_IP if it has no checksum that csum knows. */
static enum fwd_csum_layer layer_of(uint8_t proto)
{
	switch (proto) {
	case IPPROTO_UDP:
		return FWD_CSUM_UDP;
	case IPPROTO_TCP:
		return FWD_CSUM_TCP;
	case IPPROTO_SCTP:
		return FWD_CSUM_SCTP;
	default:
		return FWD_CSUM_IP;
	}
}

static inline void check_upper(
	struct rte_mbuf *pkt, const struct fwd_headers *h, struct found *found)
{
	if (h->proto == IPPROTO_UDP)
		check_udp(pkt, h, found);
	else if (h->proto == IPPROTO_TCP)
		check_tcp(pkt, h, found);
	else if (h->proto == IPPROTO_SCTP)
		check_sctp(pkt, h, found);
}

/* True if the upper header is complete, and is to have a checksum. */
static bool is_offloadable(const struct rte_mbuf *pkt, const struct fwd_headers *h)
{
	static const uint16_t sizes[FWD_CSUM_LAYERS] = {
		[FWD_CSUM_UDP] = sizeof(struct rte_udp_hdr),
		[FWD_CSUM_TCP] = sizeof(struct rte_tcp_hdr),
		[FWD_CSUM_SCTP] = sizeof(struct rte_sctp_hdr),
	};
	enum fwd_csum_layer layer = layer_of(h->proto);
	const struct rte_udp_hdr *udp = rte_pktmbuf_mtod_offset(pkt, void *, h->l4);

	return layer != FWD_CSUM_IP && h->l4_len >= sizes[layer] &&
		h->l4 + sizes[layer] <= pkt->data_len && h->l3_len <= L3_LEN_MAX &&
		(layer != FWD_CSUM_UDP || udp->dgram_cksum != 0);
}

/* Asks the device for the checksums that it is to compute, and computes the others. */
static __attribute__((noinline)) void offload(
	struct rte_mbuf *pkt, const struct fwd_headers *h, uint8_t hw, struct found *found)
{
	static const uint64_t flags[FWD_CSUM_LAYERS] = {
		[FWD_CSUM_UDP] = RTE_MBUF_F_TX_UDP_CKSUM,
		[FWD_CSUM_TCP] = RTE_MBUF_F_TX_TCP_CKSUM,
		[FWD_CSUM_SCTP] = RTE_MBUF_F_TX_SCTP_CKSUM,
	};
	enum fwd_csum_layer layer = layer_of(h->proto);
	bool upper = h->l4 && !h->fragment && (hw & BIT(layer)) && is_offloadable(pkt, h);
	struct rte_ipv4_hdr *ip = rte_pktmbuf_mtod_offset(pkt, struct rte_ipv4_hdr *, h->l3);

	found->bad[BAD_IP] +=
		(pkt->ol_flags & RTE_MBUF_F_RX_IP_CKSUM_MASK) == RTE_MBUF_F_RX_IP_CKSUM_BAD &&
		(hw & BIT(FWD_CSUM_IP));
	found->bad[BAD_L4] += upper &&
		(pkt->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK) == RTE_MBUF_F_RX_L4_CKSUM_BAD;
	pkt->ol_flags |= h->version == 4 ? RTE_MBUF_F_TX_IPV4 : RTE_MBUF_F_TX_IPV6;
	pkt->l2_len = h->l3;
	pkt->l3_len = h->l3_len;
	if (h->version == 4 && (hw & BIT(FWD_CSUM_IP)))
		pkt->ol_flags |= RTE_MBUF_F_TX_IP_CKSUM;
	else if (h->version == 4)
		check_ip4(ip, found);
	if (upper)
		pkt->ol_flags |= flags[layer];
	else if (h->l4 && !h->fragment)
		check_upper(pkt, h, found);
	(void)rte_net_intel_cksum_prepare(pkt); /* the sum of the pseudo header; it cannot fail */
}

static inline void check(struct rte_mbuf *pkt, uint8_t hw, struct found *found)
{
	struct fwd_headers h;

	fwd_headers_find(&h, pkt);
	if (unlikely(h.version == 0))
		return;
	if (unlikely(hw)) {
		offload(pkt, &h, hw, found);
		return;
	}
	if (h.version == 4)
		check_ip4(rte_pktmbuf_mtod_offset(pkt, struct rte_ipv4_hdr *, h.l3), found);
	if (likely(h.l4 && !h.fragment))
		check_upper(pkt, &h, found);
}

static __attribute__((noinline, cold)) void count(const struct found *found)
{
	for (unsigned i = 0; counts && i < COUNTERS; i++)
		haul_app_count(i, found->bad[i]);
}

static void csum(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	const struct fwd *fwd = rx->arg;
	const struct fwd_port *port = &fwd_ports(fwd)[rx->port];
	const struct setting *set = &settings[port->peer];
	const uint8_t hw = hauli_u8_owned_get(&set->hw);
	const bool macs = !set->keeps_macs;
	struct found found = {{0}};
	uint16_t i;

	for (i = 0; i < n; i++) {
		if (macs)
			memcpy(rte_pktmbuf_mtod(pkts[i], void *), port->macs, sizeof(port->macs));
		check(pkts[i], hw, &found);
	}
	if (unlikely(found.bad[BAD_IP] | found.bad[BAD_L4]))
		count(&found);
}

static void csum_burst(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	n = fwd_frames(rx, pkts, n);
	csum(rx, pkts, n);
	haul_tx_burst(rx->peer, pkts, n);
}

static void csum_packet(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	if (!fwd_frame(rx, pkt))
		return;
	csum(rx, &pkt, 1);
	fwd_send_packet(rx, pkt);
}

static int csum_parsed(struct haul_app *app, struct haul_app_hooks *hooks, bool chosen)
{
	for (unsigned i = 0; i < HAUL_APP_PORTS_MAX; i++)
		settings[i].keeps_macs = fwd_mode_args.csum_keep_macs;
	if (chosen)
		fwd_csum_count(hooks);
	return HAUL_APP_DONE;
}

void fwd_csum_count(struct haul_app_hooks *hooks)
{
	hooks->counters = fwd_csum_counters;
	counts = true;
}

const struct fwd_mode_ops fwd_mode_csum = {
	.burst = csum_burst, .packet = csum_packet, .reads = true, .parsed = csum_parsed};
