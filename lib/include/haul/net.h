/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets as coroutines see them: what a received packet is, how it becomes its own reply, and
 * where to send. A responder is
 *
 *	struct haul_pkt pkt;
 *	enum haul_verdict v = haul_net_parse(&pkt, mbuf);
 *
 *	if (v == HAUL_NET_OK)
 *		v = haul_net_answer(&nif, &pkt);
 *	if (v == HAUL_NET_OK)
 *		... send mbuf: it is the reply now ...
 *
 * and a responder of another protocol puts its own step between the two, or in place of the second.
 *
 * Functions whose name begins with haul_net_, haul_arp_, haul_nd_, haul_icmp_ or haul_udp_ work on
 * memory only: any thread, no suspension, no allocation, the mbuf stays the caller's. They never
 * look beyond the packet's data, whatever is in it. The packet's memory must be the caller's alone
 * to write (no clones). A packet of several segments needs its headers in the first one.
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

/* The addresses that one answers for. */
struct haul_net_if {
	uint8_t mac[6];
	uint8_t ip4[4]; /* as on the wire; all zero: speaks no IPv4 */
	uint8_t ip4_prefix;
	uint8_t ip6[16]; /* all zero: speaks no IPv6 */
	uint8_t ip6_prefix;
};

/*
 * Sets the address from text: "10.0.0.1/24", "fd00::1/64". 0; -EINVAL (not an address with a prefix
 * length); -EADDRNOTAVAIL (no host can have it: a multicast, loopback, unspecified or IPv4-mapped
 * IPv6 address, the network's own address or its broadcast address). On an error nif is unchanged.
 */
HAUL_API int haul_net_set_ip4(struct haul_net_if *nif, const char *text);
HAUL_API int haul_net_set_ip6(struct haul_net_if *nif, const char *text);

enum haul_verdict {
	HAUL_NET_OK,
	HAUL_NET_MALFORMED, /* breaks its protocol's rules: a length, a checksum, an address */
	HAUL_NET_NOT_FOR_US, /* well formed, to another address */
	HAUL_NET_UNSUPPORTED, /* well formed, but not handled here: a fragment, TCP, ... */
};

enum haul_proto {
	HAUL_PROTO_OTHER, /* IP with another upper protocol, which was not looked at */
	HAUL_PROTO_ARP,
	HAUL_PROTO_ND, /* an ICMPv6 neighbour solicitation */
	HAUL_PROTO_ICMP,
	HAUL_PROTO_ICMP6, /* any other ICMPv6 */
	HAUL_PROTO_UDP,
	HAUL_PROTOS,
};
HAUL_API const char *haul_proto_name(enum haul_proto proto); /* "arp", "nd", ... */

/* A packet that was found to be well formed. The pointers lead into the mbuf. */
struct haul_pkt {
	struct rte_mbuf *mbuf;
	enum haul_proto proto;
	uint8_t ip_version; /* 4, 6; 0: not IP */
	uint8_t ip_proto; /* number of the upper protocol, behind options and extension headers */
	struct rte_ether_hdr *eth; /* a VLAN tag may follow it */
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
	uint8_t *payload; /* behind the l4 header (OTHER: where it would be) */
	uint16_t payload_len; /* contiguous when the mbuf is of one segment */
};

/*
 * Finds out what mbuf holds and fills *pkt. Every length is checked against the data, and the
 * checksums of IPv4, ICMP, ICMPv6 and UDP are verified (a UDP checksum of zero passes over IPv4
 * and is malformed over IPv6). Ethernet's padding is cut off the mbuf. One VLAN tag, IPv4 options
 * and IPv6 hop-by-hop, destination and used-up routing headers are passed over.
 * OK; MALFORMED; UNSUPPORTED: not ARP or IP, a second VLAN tag, a fragment, a source route, an IPv6
 * option that asks to be discarded when unknown, headers spread over segments. *pkt is valid
 * after OK only.
 */
HAUL_API enum haul_verdict haul_net_parse(struct haul_pkt *pkt, struct rte_mbuf *mbuf);

/*
 * A number for the flow that mbuf belongs to, the same for both directions: of the IP addresses
 * and, where they are in reach, the ports of TCP, UDP or SCTP; of what is not IP the MAC addresses.
 * Up to two VLAN tags are passed over and do not count. All parts of a fragmented packet have the
 * same. mbuf may hold anything: nothing is verified.
 */
HAUL_API uint32_t haul_net_flow(const struct rte_mbuf *mbuf);

/*
 * Whether pkt was sent to nif, at both layers: to its MAC address, or as an ARP broadcast, or to
 * the solicited-node group of its IPv6 address; and to its IP address, or asking for it (ARP, ND).
 * OK; NOT_FOR_US; MALFORMED: it is for us, but a source address in it, at any layer, is one that no
 * other host can have.
 */
HAUL_API enum haul_verdict haul_net_for_us(
	const struct haul_net_if *nif, const struct haul_pkt *pkt);

/*
 * Turns pkt, which must be for us, into the reply to it, in place: pkt->mbuf is to be sent as it
 * is. The reply goes back the way that the request came, with its VLAN tag, without its IPv4
 * options and extension headers. pkt then describes the reply, its proto being the request's.
 * OK; UNSUPPORTED: another proto, or not a request, or the mbuf cannot be made as long (ND) or as
 * short as the reply; nothing changed.
 *
 *   haul_arp_reply         says where nif's IPv4 address is; to a probe (sender 0.0.0.0) too
 *   haul_nd_advertise      the same for IPv6: solicited, override, target link-layer address; to a
 *                          probe (sender ::) unsolicited and to all nodes
 *   haul_icmp_echo_reply   ICMP or ICMPv6 echo
 *   haul_udp_reply         addresses and ports exchanged, payload as it is in the packet
 */
HAUL_API enum haul_verdict haul_arp_reply(const struct haul_net_if *nif, struct haul_pkt *pkt);
HAUL_API enum haul_verdict haul_nd_advertise(const struct haul_net_if *nif, struct haul_pkt *pkt);
HAUL_API enum haul_verdict haul_icmp_echo_reply(
	const struct haul_net_if *nif, struct haul_pkt *pkt);
HAUL_API enum haul_verdict haul_udp_reply(const struct haul_net_if *nif, struct haul_pkt *pkt);

/*
 * Replaces the payload of a UDP packet by a copy of data, which may be a part of the packet, and
 * sets lengths and checksum. 0; -EINVAL (not UDP); -EMSGSIZE (no room in the mbuf, or it has
 * several segments): nothing changed.
 */
HAUL_API int haul_udp_set_payload(struct haul_pkt *pkt, const void *data, size_t len);

/*
 * All of it: when pkt is for us, turns it into its reply by the one of the four functions above
 * that fits its proto. OK: pkt->mbuf is the reply. Otherwise the verdict says why there is none.
 */
HAUL_API enum haul_verdict haul_net_answer(const struct haul_net_if *nif, struct haul_pkt *pkt);

/*
 * One carrier's transmit queue of one port. Buffered: the carrier's poller hands packets to the
 * NIC. A packet that was sent or dropped (haul_drop()) no longer belongs to the caller. A library
 * built with -Dchecks=true aborts with one line if the caller sends or drops it again.
 */
struct haul_txq;

/*
 * Puts a packet on the queue, which owns it afterwards. Any context on the queue's carrier, or a
 * coroutine at home there. Does not suspend. 0; -ENOBUFS (the queue is full); -EAGAIN (it is
 * not the coroutine's turn to send: it is stolen, or stolen ones come before it in its order;
 * haul_send() waits for that). On an error the packet is still the caller's.
 */
HAUL_API int haul_try_send(struct haul_txq *txq, struct rte_mbuf *pkt);

/*
 * The same, but waits for room, and for its turn where coroutines with an order are stolen
 * (haul_coro_opts.order). From a coroutine at home on the queue's carrier. A stolen coroutine
 * returns to its home to send, but not with HAUL_ORDER_ANY (haul_io_opts.order). 0; -ECANCELED: the
 * packet is still the caller's.
 */
HAUL_API int haul_send(struct haul_txq *txq, struct rte_mbuf *pkt) HAUL_SUSPENDS;

#ifdef __cplusplus
}
#endif

#endif
