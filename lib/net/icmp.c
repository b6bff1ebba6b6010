/* SPDX-License-Identifier: BSD-3-Clause */
/* ICMP and ICMPv6 (RFC 792, RFC 4443): echo. */
#include "net/icmp.h"

#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>

#include <rte_icmp.h>

#include <haul/sum.h>

#include "net/cksum.h"
#include "net/nd.h"
#include "net/pkt.h"
#include "net/reply.h"

enum haul_verdict hauli_parse_icmp(struct haul_pkt *pkt)
{
	uint32_t off = hauli_offset(pkt, pkt->l4);
	uint16_t len = pkt->payload_len;
	enum haul_verdict v = hauli_need(pkt->mbuf, off, sizeof(*pkt->icmp));

	if (v)
		return v;
	if (hauli_sum(pkt, pkt->ip_proto, off, len) != 0xffff)
		return HAUL_NET_MALFORMED;
	pkt->proto = pkt->ip_version == 4 ? HAUL_PROTO_ICMP : HAUL_PROTO_ICMP6;
	pkt->payload += sizeof(*pkt->icmp);
	pkt->payload_len = (uint16_t)(len - sizeof(*pkt->icmp));
	if (pkt->ip_version == 6 && pkt->icmp->icmp_type == ND_NEIGHBOR_SOLICIT)
		return hauli_parse_nd(pkt);
	return HAUL_NET_OK;
}

/*
 * The checksum after a byte at an even offset changed: RFC 1624, equation 3. A result of 0 may
 * stand for a sum over zeros only, whose checksum is 0xffff. Where 0 is right, 0xffff is right,
 * too.
 */
static rte_be16_t adjust(rte_be16_t cksum, uint8_t from, uint8_t to)
{
	rte_be16_t m = rte_cpu_to_be_16((uint16_t)(from << 8));
	rte_be16_t m1 = rte_cpu_to_be_16((uint16_t)(to << 8));
	uint64_t sum = (uint16_t)~cksum + (uint16_t)~m + m1;
	uint16_t adjusted = (uint16_t)~haul_sum_fold(sum);

	return adjusted ? adjusted : 0xffff;
}

enum haul_verdict haul_icmp_echo_reply(const struct haul_net_if *nif, struct haul_pkt *pkt)
{
	uint8_t request = pkt->ip_version == 4 ? ICMP_ECHO : ICMP6_ECHO_REQUEST;
	uint8_t reply = pkt->ip_version == 4 ? ICMP_ECHOREPLY : ICMP6_ECHO_REPLY;

	if (pkt->proto != HAUL_PROTO_ICMP && pkt->proto != HAUL_PROTO_ICMP6)
		return HAUL_NET_UNSUPPORTED;
	if (pkt->icmp->icmp_type != request)
		return HAUL_NET_UNSUPPORTED;

	enum haul_verdict v = hauli_reply(nif, pkt);

	if (v)
		return v;
	/* The exchange of the addresses does not change ICMPv6's sum. */
	pkt->icmp->icmp_cksum = adjust(pkt->icmp->icmp_cksum, request, reply);
	pkt->icmp->icmp_type = reply;
	return HAUL_NET_OK;
}
