/* SPDX-License-Identifier: BSD-3-Clause */
#include "net/upper.h"

#include <netinet/in.h>

#include "net/icmp.h"
#include "net/udp.h"

enum haul_verdict hauli_parse_upper(struct haul_pkt *pkt, uint32_t off, uint16_t len)
{
	pkt->l4 = (uint8_t *)pkt->eth + off;
	pkt->payload = pkt->l4;
	pkt->payload_len = len;
	if (pkt->ip_proto == IPPROTO_UDP)
		return hauli_parse_udp(pkt);
	if (pkt->ip_proto == (pkt->ip_version == 4 ? IPPROTO_ICMP : IPPROTO_ICMPV6))
		return hauli_parse_icmp(pkt);
	return HAUL_NET_OK;
}
