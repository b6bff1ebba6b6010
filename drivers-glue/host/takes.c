/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets that are the host's. A handler calls haul_host_takes() first, and most of its packets are
 * not the host's: a look at the headers' types comes before the parsing, which sums up the packet.
 *
 * What claims to come from one of the host's addresses is counted, and not used (RFC 5227, 2.4: the
 * host announces its address again, once in ten seconds at most).
 */
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>

#include <rte_arp.h>
#include <rte_icmp.h>
#include <rte_ip.h>
#include <rte_udp.h>

#include "base/assert.h"
#include "host/announce.h"
#include "host/detect.h"
#include "host/flows.h"
#include "host/nd_message.h"
#include "host/reply.h"
#include "io/state.h"
#include "net/dpdk.h"
#include "net/pkt.h"

#define DEFEND_EVERY (10 * HAUL_S)

/* A packet that is looked at. */
struct look {
	struct haul_host *host;
	struct haul_io *io;
	struct haul_rx *rx;
	struct hauli_host_port *port;
	const struct hauli_routes *routes;
	struct haul_pkt pkt;
};

static bool consume(struct look *l)
{
	haul_drop(l->rx, &l->pkt.mbuf, 1, HAUL_DROP_CONSUMED);
	return true;
}

/* Turns the packet into its answer, and sends it. */
static bool answer(struct look *l, const struct haul_net_if *nif)
{
	if (haul_net_answer(nif, &l->pkt) != HAUL_NET_OK)
		return false;
	hauli_u64_shared_add(&l->port->answered, 1);
	/* Several segments: it may have come in fragments. */
	if (l->pkt.mbuf->nb_segs > 1 && l->port->mtu)
		hauli_host_reply_in_fragments(
			l->io, l->rx, &l->pkt, l->port->mtu, l->port->segments);
	else
		hauli_host_reply(l->io, l->rx, l->pkt.mbuf);
	return true;
}

static const struct hauli_own *own_of(const struct look *l, struct hauli_ip ip)
{
	return hauli_routes_own(l->routes, l->rx->port, ip);
}

/* Another host claims an address of ours. */
static bool defend(struct look *l, const struct hauli_own *own)
{
	uint64_t now = haul_now();
	uint64_t last = hauli_u64_shared_get(&l->port->defended_at);

	hauli_u64_shared_add(&l->port->duplicates, 1);
	if (last == 0 || now - last >= DEFEND_EVERY) {
		hauli_u64_shared_set(&l->port->defended_at, now);
		pthread_mutex_lock(&l->host->lock);
		hauli_host_announce(l->host, own, 1);
		pthread_mutex_unlock(&l->host->lock);
		haul_event_set(&l->host->wake);
	}
	return consume(l);
}

static bool is_to_us(const struct look *l)
{
	return !memcmp(&l->pkt.eth->dst_addr, l->port->mac, 6);
}

/* True if the packet shows that another host has an address that is being checked. */
static bool claims(struct look *l, struct hauli_ip ip)
{
	return memcmp(&l->pkt.eth->src_addr, l->port->mac, 6) != 0 &&
		hauli_detect_claims(l->host, l->rx->port, ip);
}

static bool take_arp(struct look *l)
{
	static const struct hauli_ip any4 = {0, HAULI_IP4_MAPPED};
	const struct rte_arp_ipv4 *data = &l->pkt.arp->arp_data;
	struct hauli_ip from = hauli_ip4(&data->arp_sip), to = hauli_ip4(&data->arp_tip);
	bool reply = l->pkt.arp->arp_opcode == rte_cpu_to_be_16(RTE_ARP_OP_REPLY);
	const uint8_t *mac = data->arp_sha.addr_bytes;
	const struct hauli_own *own = own_of(l, from);

	if (!memcmp(mac, l->port->mac, 6))
		return false; /* our own, come back */
	if (own)
		return defend(l, own);
	if (claims(l, from) || (hauli_ip_equal(from, any4) && claims(l, to)))
		return consume(l);
	own = own_of(l, to);
	if (reply || hauli_ip_equal(from, to)) {
		bool solicited = reply && own && is_to_us(l);

		hauli_neigh_answer(l->port->neighbours, from, mac, solicited, true, haul_now());
		return solicited && consume(l);
	}
	hauli_neigh_asks(l->port->neighbours, from, mac, haul_now());
	return own && answer(l, &own->nif);
}

/* A neighbour solicitation, which the parser has checked. */
static bool take_solicitation(struct look *l)
{
	struct hauli_ip from = hauli_ip6(hauli_ip6_src(l->pkt.ip6));
	const struct hauli_own *own;
	struct hauli_nd_message nd;
	uint8_t mac[6];

	if (!hauli_nd_read(&nd, &l->pkt))
		return false;
	own = own_of(l, nd.target);
	/* Another host checks the address at the same time. */
	if (!own && (from.hi | from.lo) == 0 && claims(l, nd.target))
		return consume(l);
	if (!own)
		return false;
	if (nd.source)
		memcpy(mac, nd.source, 6);
	if (!answer(l, &own->nif))
		return false;
	if (nd.source)
		hauli_neigh_asks(l->port->neighbours, from, mac, haul_now());
	return true;
}

static bool take_advertisement(struct look *l)
{
	struct hauli_ip to = hauli_ip6(hauli_ip6_dst(l->pkt.ip6));
	const struct hauli_own *own;
	struct hauli_nd_message nd;

	if (!hauli_nd_read(&nd, &l->pkt) || (nd.solicited && hauli_nd_is_group(to)))
		return false;
	if (!(own_of(l, to) && is_to_us(l)) && !hauli_nd_is_all_nodes(to))
		return false;
	if (claims(l, nd.target))
		return consume(l);
	own = own_of(l, nd.target);
	if (own)
		return nd.address && memcmp(nd.address, l->port->mac, 6) ? defend(l, own)
									 : consume(l);
	hauli_neigh_answer(
		l->port->neighbours, nd.target, nd.address, nd.solicited, nd.overrides, haul_now());
	return consume(l);
}

static struct hauli_ip destination(const struct haul_pkt *pkt)
{
	return pkt->ip_version == 4 ? hauli_ip4(&pkt->ip4->dst_addr)
				    : hauli_ip6(hauli_ip6_dst(pkt->ip6));
}

static bool is_echo_request(const struct haul_pkt *pkt)
{
	return (pkt->proto == HAUL_PROTO_ICMP && pkt->icmp->icmp_type == ICMP_ECHO) ||
		(pkt->proto == HAUL_PROTO_ICMP6 && pkt->icmp->icmp_type == ICMP6_ECHO_REQUEST);
}

static bool take_ip(struct look *l)
{
	const struct hauli_own *own;

	if (l->pkt.proto == HAUL_PROTO_ICMP6 && l->pkt.icmp->icmp_type == ND_NEIGHBOR_ADVERT)
		return take_advertisement(l);
	own = is_to_us(l) ? own_of(l, destination(&l->pkt)) : NULL;
	if (!own)
		return false;
	if (is_echo_request(&l->pkt))
		return !l->host->opts.no_echo && answer(l, &own->nif);
	return hauli_flow_takes(l->host, l->rx, &l->pkt);
}

/* True if the headers of an IP packet may be those of a packet of the host. */
static bool may_be_ip(const struct haul_host *host, const uint8_t *l3, uint32_t len, bool ip6)
{
	uint32_t header = ip6 ? sizeof(struct rte_ipv6_hdr) : sizeof(struct rte_ipv4_hdr);
	uint8_t proto;

	if (len < header)
		return false;
	proto = l3[ip6 ? 6 : 9];
	if (proto == IPPROTO_TCP)
		return false;
	if (proto != IPPROTO_UDP)
		return true;
	if (!ip6)
		header = (l3[0] & 0xfU) * 4;
	return len >= header + sizeof(struct rte_udp_hdr) &&
		hauli_flows_have(host, (uint16_t)(l3[header + 2] << 8 | l3[header + 3]));
}

/* The usual answer is no, and costs no sum. */
static inline bool may_be_ours(const struct haul_host *host, const struct rte_mbuf *m)
{
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
	uint32_t len = rte_pktmbuf_data_len(m), l3 = sizeof(struct rte_ether_hdr);
	rte_be16_t type;

	if (len < l3 + sizeof(struct rte_vlan_hdr))
		return false;
	memcpy(&type, frame + 12, 2);
	if (type == rte_cpu_to_be_16(RTE_ETHER_TYPE_VLAN)) {
		l3 += sizeof(struct rte_vlan_hdr);
		memcpy(&type, frame + 16, 2);
	}
	if (type == rte_cpu_to_be_16(RTE_ETHER_TYPE_ARP))
		return true;
	if (type == rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV4))
		return may_be_ip(host, frame + l3, len - l3, false);
	return type == rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV6) &&
		may_be_ip(host, frame + l3, len - l3, true);
}

static __attribute__((noinline)) bool take(
	struct haul_host *host, struct haul_io *io, struct haul_rx *rx, struct rte_mbuf *m)
{
	struct look l = {.host = host, .io = io, .rx = rx, .port = &host->ports[rx->port]};

	if (haul_net_parse(&l.pkt, m) != HAUL_NET_OK)
		return false;
	l.routes = hauli_host_routes(host);
	if (l.pkt.proto == HAUL_PROTO_ARP)
		return take_arp(&l);
	return l.pkt.proto == HAUL_PROTO_ND ? take_solicitation(&l) : take_ip(&l);
}

bool haul_host_takes(struct haul_host *host, struct haul_rx *rx, struct rte_mbuf *pkt)
{
	struct haul_io *io;

	HAUL_MISUSE_IF(!host || !rx || !pkt, "NULL is given; give what the handler has got");
	io = hauli_host_io(host);
	return io && may_be_ours(host, pkt) && take(host, io, rx, pkt);
}
