/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mode l3fwd: routes IPv4 and IPv6 by the longest prefix, with one lookup per burst for each. It
 * verifies the IPv4 header, decrements TTL or hop limit, and sets the MAC addresses. It has no
 * address of its own: ARP and neighbour discovery, VLAN tags and all but IP are unsupported.
 */
#include "l3fwd.h"

#include <string.h>

#include "../route.h"
#include "checksum.h"
#include "edit.h"
#include "modes.h"
#include "options.h"

#define CHUNK 64 /* packets of a lookup */

enum {
	DROP_NO_ROUTE = HAUL_DROP_OWN,
	DROP_TTL,
};

static struct fwd_routes *routes;
static struct fwd_fib fib;

/* Packets of a chunk, by what is to become of them. */
struct chunk {
	struct rte_mbuf *pkts[CHUNK];
	uint16_t n;
	uint64_t hops[CHUNK];
};

static inline struct rte_ipv4_hdr *ip4_of(const struct rte_mbuf *pkt)
{
	return rte_pktmbuf_mtod_offset(pkt, struct rte_ipv4_hdr *, RTE_ETHER_HDR_LEN);
}

static inline struct rte_ipv6_hdr *ip6_of(const struct rte_mbuf *pkt)
{
	return rte_pktmbuf_mtod_offset(pkt, struct rte_ipv6_hdr *, RTE_ETHER_HDR_LEN);
}

/* Return the drop reason of a packet that is not to be routed, or -1. RFC 1812, 5.2.2 and 5.3.1. */
static inline int refuse_ip4(const struct rte_mbuf *pkt)
{
	const struct rte_ipv4_hdr *ip = ip4_of(pkt);
	unsigned len = (ip->version_ihl & 0xf) * 4;
	unsigned total;

	if (unlikely(pkt->data_len < RTE_ETHER_HDR_LEN + sizeof(*ip) || ip->version_ihl >> 4 != 4 ||
		    len < sizeof(*ip) || pkt->data_len < RTE_ETHER_HDR_LEN + len))
		return HAUL_DROP_MALFORMED;
	total = rte_be_to_cpu_16(ip->total_length);
	if (unlikely(total < len || RTE_ETHER_HDR_LEN + total > pkt->pkt_len ||
		    fwd_ip4_sum(ip) != 0xffff))
		return HAUL_DROP_MALFORMED;
	if (unlikely(ip->time_to_live <= 1))
		return DROP_TTL;
	/* Groups and the limited broadcast. */
	return unlikely((ip->dst_addr & RTE_BE32(0xe0000000)) == RTE_BE32(0xe0000000))
		? (int)DROP_NO_ROUTE
		: -1;
}

static inline bool is_link_local(const uint8_t *ip6)
{
	return ip6[0] == 0xfe && (ip6[1] & 0xc0) == 0x80;
}

static inline int refuse_ip6(const struct rte_mbuf *pkt)
{
	const struct rte_ipv6_hdr *ip = ip6_of(pkt);
	const uint8_t *src = (const uint8_t *)&ip->src_addr, *dst = (const uint8_t *)&ip->dst_addr;

	if (unlikely(pkt->data_len < RTE_ETHER_HDR_LEN + sizeof(*ip) ||
		    (ip->vtc_flow & RTE_BE32(0xf0000000)) != RTE_BE32(0x60000000) ||
		    RTE_ETHER_HDR_LEN + sizeof(*ip) + rte_be_to_cpu_16(ip->payload_len) >
			    pkt->pkt_len))
		return HAUL_DROP_MALFORMED;
	if (unlikely(ip->hop_limits <= 1))
		return DROP_TTL;
	return unlikely(dst[0] == 0xff || is_link_local(dst) || is_link_local(src))
		? (int)DROP_NO_ROUTE
		: -1;
}

static inline void edit(struct rte_mbuf *pkt, const struct fwd_hop *hop, bool is_ip4)
{
	memcpy(rte_pktmbuf_mtod(pkt, void *), hop->macs, sizeof(hop->macs));
	if (is_ip4) {
		struct rte_ipv4_hdr *ip = ip4_of(pkt);
		uint32_t sum = ip->hdr_checksum + RTE_BE16(0x0100); /* RFC 1624 */

		ip->time_to_live--;
		ip->hdr_checksum = (uint16_t)(sum + (sum >= 0xffff));
	} else {
		ip6_of(pkt)->hop_limits--;
	}
}

static inline struct haul_txq *queue_to(const struct haul_rx *rx, uint16_t port)
{
	const struct fwd *fwd = rx->arg;

	return haul_io_txq(fwd->app->io, port, rx->carrier);
}

/* Sends packets in bursts, one to each port, in order. */
static __attribute__((noinline)) void send_by_port(
	struct haul_rx *rx, struct chunk *c, const struct fwd_hop *hops)
{
	struct rte_mbuf *same[CHUNK];
	uint16_t i, n, rest;

	for (; c->n > 0; c->n = rest) {
		uint16_t port = hops[c->hops[0]].port;

		for (i = 0, n = 0, rest = 0; i < c->n; i++) {
			if (hops[c->hops[i]].port == port) {
				same[n++] = c->pkts[i];
			} else {
				c->pkts[rest] = c->pkts[i];
				c->hops[rest++] = c->hops[i];
			}
		}
		haul_tx_burst(queue_to(rx, port), same, n);
	}
}

/* Edits and sends what has a route, drops the rest. */
static inline void send_routed(struct haul_rx *rx, struct chunk *c, bool is_ip4)
{
	const struct fwd_hop *hops = fwd_versions_get(&fib.hops);
	uint16_t i, n = 0, differ = 0;

	for (i = 0; i < c->n; i++) {
		if (unlikely(c->hops[i] == 0)) {
			haul_drop(rx, &c->pkts[i], 1, (enum haul_drop)DROP_NO_ROUTE);
			continue;
		}
		edit(c->pkts[i], &hops[c->hops[i]], is_ip4);
		c->pkts[n] = c->pkts[i];
		c->hops[n] = c->hops[i];
		differ |= hops[c->hops[n]].port ^ hops[c->hops[0]].port;
		n++;
	}
	c->n = n;
	if (unlikely(differ))
		send_by_port(rx, c, hops);
	else if (n > 0)
		haul_tx_burst(queue_to(rx, hops[c->hops[0]].port), c->pkts, n);
}

static void route_ip4(struct haul_rx *rx, struct chunk *c)
{
	uint32_t addrs[CHUNK];

	for (uint16_t i = 0; i < c->n; i++)
		addrs[i] = rte_be_to_cpu_32(ip4_of(c->pkts[i])->dst_addr);
	rte_fib_lookup_bulk(fib.ip4, addrs, c->hops, c->n);
	send_routed(rx, c, true);
}

static void route_ip6(struct haul_rx *rx, struct chunk *c)
{
	uint8_t addrs[CHUNK][16];

	for (uint16_t i = 0; i < c->n; i++)
		memcpy(addrs[i], &ip6_of(c->pkts[i])->dst_addr, sizeof(addrs[0]));
	rte_fib6_lookup_bulk(fib.ip6, (void *)addrs, c->hops, c->n);
	send_routed(rx, c, false);
}

static inline void route_chunk(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	struct chunk ip4, ip6;

	ip4.n = ip6.n = 0;
	for (uint16_t i = 0; i < n; i++) {
		rte_be16_t type = rte_pktmbuf_mtod(pkts[i], struct rte_ether_hdr *)->ether_type;
		bool is_ip4 = type == RTE_BE16(RTE_ETHER_TYPE_IPV4);
		struct chunk *c = is_ip4 ? &ip4 : &ip6;
		int refused = HAUL_DROP_UNSUPPORTED;

		if (likely(is_ip4))
			refused = refuse_ip4(pkts[i]);
		else if (type == RTE_BE16(RTE_ETHER_TYPE_IPV6))
			refused = refuse_ip6(pkts[i]);
		if (unlikely(refused >= 0))
			haul_drop(rx, &pkts[i], 1, (enum haul_drop)refused);
		else
			c->pkts[c->n++] = pkts[i];
	}
	if (ip4.n > 0)
		route_ip4(rx, &ip4);
	if (ip6.n > 0)
		route_ip6(rx, &ip6);
}

static void l3fwd_burst(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	uint16_t i;

	n = fwd_frames(rx, pkts, n);
	for (i = 0; i < n; i += CHUNK)
		route_chunk(rx, pkts + i, RTE_MIN((uint16_t)(n - i), CHUNK));
}

/* Returns the drop reason, or -1 with the index of the next hop. */
static int route_one(const struct rte_mbuf *pkt, rte_be16_t type, uint64_t *hop)
{
	uint32_t addr;
	int refused;

	if (type == RTE_BE16(RTE_ETHER_TYPE_IPV4)) {
		refused = refuse_ip4(pkt);
		if (refused >= 0)
			return refused;
		addr = rte_be_to_cpu_32(ip4_of(pkt)->dst_addr);
		rte_fib_lookup_bulk(fib.ip4, &addr, hop, 1);
	} else if (type == RTE_BE16(RTE_ETHER_TYPE_IPV6)) {
		refused = refuse_ip6(pkt);
		if (refused >= 0)
			return refused;
		rte_fib6_lookup_bulk(fib.ip6, (void *)&ip6_of(pkt)->dst_addr, hop, 1);
	} else {
		return HAUL_DROP_UNSUPPORTED;
	}
	return *hop == 0 ? (int)DROP_NO_ROUTE : -1;
}

static void l3fwd_packet(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	const struct fwd_hop *to;
	rte_be16_t type;
	uint64_t hop;
	int refused;

	if (!fwd_frame(rx, pkt))
		return;
	type = rte_pktmbuf_mtod(pkt, struct rte_ether_hdr *)->ether_type;
	refused = route_one(pkt, type, &hop);
	if (refused >= 0) {
		haul_drop(rx, &pkt, 1, (enum haul_drop)refused);
		return;
	}
	to = (const struct fwd_hop *)fwd_versions_get(&fib.hops) + hop;
	edit(pkt, to, type == RTE_BE16(RTE_ETHER_TYPE_IPV4));
	haul_send_or_drop(rx, queue_to(rx, to->port), pkt);
}

static int l3fwd_parsed(struct haul_app *app, struct haul_app_hooks *hooks, bool chosen)
{
	if (!fwd_mode_args.routes)
		return chosen ? haul_app_wrong(app->program, "--mode l3fwd needs --routes FILE")
			      : HAUL_APP_DONE;
	hooks->mem_mb += FWD_FIB_MEM_MB;
	return fwd_routes_read(&routes, app->program, fwd_mode_args.routes, app->nb_ports);
}

static int l3fwd_begin(struct fwd *fwd)
{
	if (routes)
		return fwd_fib_make(&fib, routes, fwd);
	haul_app_say(fwd->app->program, "mode l3fwd needs routes: start with --routes FILE");
	return HAUL_APP_FAILED;
}

static void l3fwd_attached(struct fwd *fwd, unsigned port)
{
	fwd_fib_attached(&fib, routes, fwd, port);
}

static void l3fwd_end(struct fwd *fwd)
{
	fwd_fib_free(&fib);
}

int fwd_l3fwd_reload(struct fwd *fwd)
{
	struct fwd_routes *old = routes;
	int rc;

	if (!fwd_mode_args.routes) {
		haul_app_say(fwd->app->program, "there is no file of routes: start with --routes");
		return HAUL_APP_FAILED;
	}
	rc = fwd_routes_read(&routes, fwd->app->program, fwd_mode_args.routes, fwd->app->nb_ports);
	if (rc != HAUL_APP_DONE)
		return rc;
	if (fwd->mode == &fwd_mode_l3fwd) {
		fwd_fib_free(&fib);
		rc = fwd_fib_make(&fib, routes, fwd);
	}
	if (rc == HAUL_APP_DONE) {
		fwd_routes_free(old);
		return rc;
	}
	fwd_routes_free(routes);
	routes = old;
	return fwd_fib_make(&fib, routes, fwd) == HAUL_APP_DONE ? rc : HAUL_APP_FAILED;
}

static void l3fwd_closed(void)
{
	fwd_routes_free(routes);
	routes = NULL;
}

const struct fwd_mode_ops fwd_mode_l3fwd = {
	.burst = l3fwd_burst,
	.packet = l3fwd_packet,
	.reads = true,
	.drop_names = {"no_route", "ttl_expired"},
	.parsed = l3fwd_parsed,
	.closed = l3fwd_closed,
	.begin = l3fwd_begin,
	.end = l3fwd_end,
	.attached = l3fwd_attached,
};
