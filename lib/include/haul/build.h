/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets of one's own: headers in front of a payload, and the questions and announcements of ARP
 * and of neighbour discovery. A datagram is
 *
 *	struct haul_head head = {.src_mac = ..., .dst_mac = ..., .src = ..., .dst = ...};
 *	struct haul_pkt pkt;
 *	int err = haul_build_udp(&pkt, payload, &head, 5353, 53, 0);
 *
 *	if (err == 0)
 *		... send pkt.mbuf, which is payload with its headers ...
 *
 * As those of haul/net.h, all functions only work on memory: they may be called from any thread, do
 * not suspend or allocate, and the caller keeps the mbuf, on an error as it was. The caller must be
 * the only user of the memory in front of the payload.
 */
#ifndef HAUL_BUILD_H
#define HAUL_BUILD_H

#include <string.h>

#include <haul/base.h>
#include <haul/net.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An IP address. The bytes that are not used are 0, so that equal addresses are equal in memory. */
struct haul_addr {
	uint8_t version; /* 4 or 6; 0: none */
	uint8_t bytes[16]; /* in network byte order; an IPv4 address is in the first four */
};

/* Sets the address from text: "10.0.0.1", "fd00::1". Returns 0; -EINVAL (not an address): *addr is
 * unchanged. */
HAUL_API int haul_addr_parse(struct haul_addr *addr, const char *text);

/* Writes the address as text ("none" for version 0) and returns text. */
#define HAUL_ADDR_TEXT 46 /* bytes of the longest text */
HAUL_API char *haul_addr_text(const struct haul_addr *addr, char text[HAUL_ADDR_TEXT]);

/* True if both are the same address, or both none. */
static inline bool haul_addr_equal(const struct haul_addr *a, const struct haul_addr *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

/* The address from its bytes in network byte order, which need not be aligned. version: 4 or 6. */
static inline struct haul_addr haul_addr_from(uint8_t version, const void *bytes)
{
	struct haul_addr addr = {version, {0}};

	if (version == 4)
		memcpy(addr.bytes, bytes, 4);
	else
		memcpy(addr.bytes, bytes, 16);
	return addr;
}

/* The source of an IP packet; none of a packet that is not IP. */
static inline struct haul_addr haul_pkt_src(const struct haul_pkt *pkt)
{
	struct haul_addr none = {0, {0}};

	if (pkt->ip_version == 0)
		return none;
	return haul_addr_from(
		pkt->ip_version, (const uint8_t *)pkt->l3 + (pkt->ip_version == 4 ? 12 : 8));
}

/* The destination of an IP packet; none of a packet that is not IP. */
static inline struct haul_addr haul_pkt_dst(const struct haul_pkt *pkt)
{
	struct haul_addr none = {0, {0}};

	if (pkt->ip_version == 0)
		return none;
	return haul_addr_from(
		pkt->ip_version, (const uint8_t *)pkt->l3 + (pkt->ip_version == 4 ? 16 : 24));
}

/* What the headers of Ethernet and IP say. All that is not set is 0, and right for most packets. */
struct haul_head {
	uint8_t src_mac[6], dst_mac[6];
	uint16_t vlan; /* priority and number of a VLAN tag, as on the wire; 0: no tag */
	struct haul_addr src, dst; /* of the same version */
	uint8_t hops; /* time to live, or hop limit; 0: 64 */
	uint8_t tos; /* type of service, or traffic class */
	bool may_fragment; /* IPv4: routers may, and the caller; else it says "don't fragment" */
	uint16_t mtu; /* bytes of IP header and all behind it, at most; 0: as IP allows */
};

/* Messages of ping. */
enum haul_echo { HAUL_ECHO_REQUEST, HAUL_ECHO_REPLY };

/*
 * Puts the headers in front of a payload: Ethernet, a VLAN tag, IP, and UDP, ICMP or ICMPv6. *pkt
 * then describes the packet, as after haul_net_parse(); pkt->mbuf is payload, ready to be sent.
 * payload holds nothing but the payload, in one or several segments, the first of which may be
 * empty; its headroom (RTE_PKTMBUF_HEADROOM of a new mbuf) takes the headers, 66 bytes at most.
 *
 * offloads: checksums that the NIC computes, some of RTE_ETH_TX_OFFLOAD_IPV4_CKSUM and
 * RTE_ETH_TX_OFFLOAD_UDP_CKSUM as the port has them; others of these flags are ignored, 0 is right
 * for all ports. Flags and lengths of the mbuf are set for it. Such a packet is not one that
 * haul_net_parse() takes, as its checksums are missing.
 *
 * An IPv4 packet that may be fragmented has an identification that others cannot guess, and that
 * comes again for the same addresses and protocol only after many others. It is 0 otherwise, as
 * RFC 6864 allows.
 *
 * Returns 0; -EINVAL (src and dst are not both IPv4 or both IPv6 addresses); -EMSGSIZE (the packet
 * would be larger than head->mtu, or than IP allows); -ENOBUFS (not enough headroom). On an error
 * payload is unchanged, and *pkt is not valid.
 *
 *   haul_build_udp    a datagram
 *   haul_build_echo   an echo request or its reply, as ping sends them
 *   haul_build_ip     payload begins with the header of another upper protocol, of this number,
 *                     which the caller has completed, checksum included: pkt->proto is
 *                     HAUL_PROTO_OTHER
 */
HAUL_API int haul_build_udp(struct haul_pkt *pkt, struct rte_mbuf *payload,
	const struct haul_head *head, uint16_t src_port, uint16_t dst_port, uint64_t offloads);
HAUL_API int haul_build_echo(struct haul_pkt *pkt, struct rte_mbuf *payload,
	const struct haul_head *head, enum haul_echo type, uint16_t id, uint16_t sequence,
	uint64_t offloads);
HAUL_API int haul_build_ip(struct haul_pkt *pkt, struct rte_mbuf *payload,
	const struct haul_head *head, uint8_t proto, uint64_t offloads);

/*
 * Each writes a message about link-layer addresses into an empty mbuf, which needs headroom as
 * above and 32 bytes of tailroom. Of head, the MAC addresses, the VLAN tag, src and dst matter.
 *
 *   haul_arp_request    asks for the MAC address of dst, an IPv4 address. src 0.0.0.0: a probe,
 *                       whether dst is in use (RFC 5227)
 *   haul_nd_solicit     the same for IPv6; a probe has src ::
 *   haul_arp_announce   tells everybody that src, an IPv4 address, has the MAC address src_mac
 *                       ("gratuitous ARP")
 *   haul_nd_announce    the same for IPv6: an unsolicited advertisement with the override flag
 *
 * If dst_mac is zero, a question goes to all who could answer: to the broadcast address, or to the
 * solicited-node group of dst; else to this MAC address alone, to find out whether it still
 * answers. Announcements always go to all.
 *
 * Returns 0; -EINVAL (an address is missing or of the other version, :: or 0.0.0.0 where it is not
 * allowed, a group; or the mbuf is not empty); -ENOBUFS (no room in the mbuf). On an error the mbuf
 * is unchanged, and *pkt is not valid.
 */
HAUL_API int haul_arp_request(
	struct haul_pkt *pkt, struct rte_mbuf *mbuf, const struct haul_head *head);
HAUL_API int haul_arp_announce(
	struct haul_pkt *pkt, struct rte_mbuf *mbuf, const struct haul_head *head);
HAUL_API int haul_nd_solicit(
	struct haul_pkt *pkt, struct rte_mbuf *mbuf, const struct haul_head *head);
HAUL_API int haul_nd_announce(
	struct haul_pkt *pkt, struct rte_mbuf *mbuf, const struct haul_head *head);

#ifdef __cplusplus
}
#endif

#endif
