/* SPDX-License-Identifier: BSD-3-Clause */
/* The reply to a packet: dispatch by protocol. */
#include <haul/net.h>

enum haul_verdict haul_net_answer(const struct haul_net_if *nif, struct haul_pkt *pkt)
{
	enum haul_verdict v = haul_net_for_us(nif, pkt);

	if (v)
		return v;
	switch (pkt->proto) {
	case HAUL_PROTO_ARP:
		return haul_arp_reply(nif, pkt);
	case HAUL_PROTO_ND:
		return haul_nd_advertise(nif, pkt);
	case HAUL_PROTO_ICMP:
	case HAUL_PROTO_ICMP6:
		return haul_icmp_echo_reply(nif, pkt);
	case HAUL_PROTO_UDP:
		return haul_udp_reply(nif, pkt);
	default:
		return HAUL_NET_UNSUPPORTED;
	}
}
