/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets: parsing a received one, turning it into its reply, and sending. A responder is
 *
 *	struct haul_pkt pkt;
 *	enum haul_verdict v = haul_net_parse(&pkt, mbuf);
 *
 *	if (v == HAUL_NET_OK)
 *		v = haul_net_answer(&nif, &pkt);
 *	if (v == HAUL_NET_OK)
 *		... send mbuf: it is the reply now ...
 *
 * A responder of another protocol adds a step of its own between the two, or replaces the second.
 *
 * Functions named haul_net_*, haul_arp_*, haul_nd_*, haul_icmp_* and haul_udp_* only work on
 * memory: they may be called from any thread, do not suspend or allocate, and the caller keeps the
 * mbuf. They never read beyond the packet's data, whatever it contains. The caller must be the only
 * user of the packet's memory (no clones). The headers must be in the first segment.
 */
#ifndef HAUL_NET_H
#define HAUL_NET_H

#include <haul/base.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rte_mbuf;
struct rte_ether_hdr;
struct rte_arp_hdr;
struct rte_ipv4_hdr;
struct rte_ipv6_hdr;
struct rte_icmp_hdr;
struct rte_udp_hdr;

/* The addresses of an interface: a responder answers for these. */
struct haul_net_if {
	uint8_t mac[6];
	uint8_t ip4[4]; /* in network byte order; all zero: no IPv4 */
	uint8_t ip4_prefix; /* length, in bits */
	uint8_t ip6[16]; /* all zero: no IPv6 */
	uint8_t ip6_prefix; /* length, in bits */
};

/*
 * Sets the address and prefix length from text: "10.0.0.1/24", "fd00::1/64". Returns 0; -EINVAL
 * (not an address with a prefix length); -EADDRNOTAVAIL (not an address of a host, but a multicast,
 * loopback, unspecified, IPv4-mapped, network or broadcast address). On an error nif is unchanged.
 */
HAUL_API int haul_net_set_ip4(struct haul_net_if *nif, const char *text);
HAUL_API int haul_net_set_ip6(struct haul_net_if *nif, const char *text);

enum haul_verdict {
	HAUL_NET_OK,
	HAUL_NET_MALFORMED, /* violates its protocol: a wrong length, checksum or address */
	HAUL_NET_NOT_FOR_US, /* well formed, but sent to another address */
	HAUL_NET_UNSUPPORTED, /* well formed, but not handled by haul: a fragment, TCP, ... */
};

enum haul_proto {
	HAUL_PROTO_OTHER, /* IP with another upper protocol, which is not parsed */
	HAUL_PROTO_ARP,
	HAUL_PROTO_ND, /* an ICMPv6 neighbour solicitation */
	HAUL_PROTO_ICMP,
	HAUL_PROTO_ICMP6, /* any other ICMPv6 */
	HAUL_PROTO_UDP,
	HAUL_PROTOS,
};
HAUL_API const char *haul_proto_name(enum haul_proto proto); /* "arp", "nd", ... */

/* A parsed packet. The pointers point into the mbuf, and are valid as long as it is. */
struct haul_pkt {
	struct rte_mbuf *mbuf;
	enum haul_proto proto;
	uint8_t ip_version; /* 4 or 6; 0: not IP */
	uint8_t ip_proto; /* number of the upper protocol, after options and extension headers */
	struct rte_ether_hdr *eth; /* a VLAN tag may follow */
	union {
		void *l3;
		struct rte_arp_hdr *arp;
		struct rte_ipv4_hdr *ip4;
		struct rte_ipv6_hdr *ip6;
	};
	union {
		void *l4;
		struct rte_icmp_hdr *icmp;
		struct rte_udp_hdr *udp;
	};
	uint8_t *payload; /* after the l4 header (HAUL_PROTO_OTHER: the l4 header itself) */
	uint16_t payload_len; /* bytes; contiguous if the mbuf has one segment */
};

/*
 * Parses mbuf and fills *pkt. It checks every length against the data, verifies the checksums of
 * IPv4, ICMP, ICMPv6 and UDP (a UDP checksum of zero is accepted with IPv4, malformed with IPv6),
 * and trims Ethernet's padding off the mbuf. It skips one VLAN tag, IPv4 options, and IPv6 headers:
 * hop-by-hop, destination options, and routing with no segments left.
 * Returns OK; MALFORMED; UNSUPPORTED (not ARP or IP, a second VLAN tag, a fragment, a source route,
 * an unknown IPv6 option with a discard action, headers that span segments). *pkt is valid only
 * after OK.
 */
HAUL_API enum haul_verdict haul_net_parse(struct haul_pkt *pkt, struct rte_mbuf *mbuf);

/*
 * A hash of the flow that mbuf belongs to, equal for both directions: of the IP addresses and, if
 * the first segment holds them, the ports of TCP, UDP or SCTP; without IP, of the MAC addresses. It
 * ignores up to two VLAN tags. All fragments of a packet have the same hash. mbuf may hold
 * anything: the function verifies nothing.
 */
HAUL_API uint32_t haul_net_flow(const struct rte_mbuf *mbuf);

/*
 * Checks that pkt is addressed to nif at both layers. Ethernet: its MAC address, a broadcast (ARP),
 * or the solicited-node group of its IPv6 address. IP: its address, or a request for it (ARP, ND).
 * Returns OK; NOT_FOR_US; MALFORMED (addressed to nif, but a source address, at any layer, cannot
 * belong to another host).
 */
HAUL_API enum haul_verdict haul_net_for_us(
	const struct haul_net_if *nif, const struct haul_pkt *pkt);

/*
 * Each turns a request pkt, which must be addressed to nif, into its reply in place; pkt->mbuf is
 * then ready to be sent. The reply goes back to the sender, with the VLAN tag of the request, but
 * without its IPv4 options and IPv6 extension headers. pkt then describes the reply; pkt->proto
 * stays. Returns OK; UNSUPPORTED (another proto, not a request, or the mbuf cannot be extended (ND)
 * or trimmed to the length of the reply): pkt is unchanged.
 *
 *   haul_arp_reply         resolves nif's IPv4 address; also answers probes (sender 0.0.0.0)
 *   haul_nd_advertise      resolves nif's IPv6 address: a solicited advertisement with override
 *                          flag and target link-layer address; to a probe (sender ::) an
 *                          unsolicited one, to all nodes
 *   haul_icmp_echo_reply   answers an ICMP or ICMPv6 echo request
 *   haul_udp_reply         exchanges addresses and ports, and keeps the payload
 */
HAUL_API enum haul_verdict haul_arp_reply(const struct haul_net_if *nif, struct haul_pkt *pkt);
HAUL_API enum haul_verdict haul_nd_advertise(const struct haul_net_if *nif, struct haul_pkt *pkt);
HAUL_API enum haul_verdict haul_icmp_echo_reply(
	const struct haul_net_if *nif, struct haul_pkt *pkt);
HAUL_API enum haul_verdict haul_udp_reply(const struct haul_net_if *nif, struct haul_pkt *pkt);

/*
 * Replaces the payload of a UDP packet by a copy of data (len bytes, which may lie in the packet),
 * and sets lengths and checksum. Returns 0; -EINVAL (not UDP); -EMSGSIZE (no room in the mbuf, or
 * it has several segments). On an error pkt is unchanged.
 */
HAUL_API int haul_udp_set_payload(struct haul_pkt *pkt, const void *data, size_t len);

/*
 * Calls haul_net_for_us(), then the reply function above that matches pkt->proto. Returns OK
 * (pkt->mbuf is the reply), or the verdict that explains why there is none.
 */
HAUL_API enum haul_verdict haul_net_answer(const struct haul_net_if *nif, struct haul_pkt *pkt);

/*
 * A carrier's transmit queue of one port. It buffers packets; the carrier's poller passes them to
 * the NIC in bursts. Sending or dropping (haul_drop()) a packet gives it away: a library built with
 * -Dchecks=true aborts with one line if a program sends or drops such a packet again.
 */
struct haul_txq;

/*
 * Appends a packet to the queue, which then owns it. Called on the queue's carrier, in any context,
 * or by a coroutine whose home it is. Does not suspend. Returns 0; -ENOBUFS (the queue is full);
 * -EAGAIN (order requires a wait: the caller is stolen, or an earlier coroutine with its order key
 * is; haul_send() waits). On an error the caller keeps the packet.
 */
HAUL_API int haul_try_send(struct haul_txq *txq, struct rte_mbuf *pkt);

/*
 * Like haul_try_send(), but waits while the queue is full, and for earlier coroutines with the same
 * order key (haul_coro_opts.order_key) while these are stolen. Called by a coroutine whose home is
 * the queue's carrier. If stolen, the caller returns to its home to send, unless the ports were
 * started with HAUL_ORDER_ANY (haul_io_opts.send_order). In a burst handler the first wait ends the
 * program with a line: use haul_tx_burst() (haul-dpdk/io.h) or haul_try_send() there. Returns 0;
 * or, and the caller keeps the packet: -ECANCELED; -ETIMEDOUT (the deadline of an enclosing scope
 * has passed: haul/scope.h).
 */
HAUL_API int haul_send(struct haul_txq *txq, struct rte_mbuf *pkt) HAUL_SUSPENDS;

#ifdef __cplusplus
}
#endif

#endif
