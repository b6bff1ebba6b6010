/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/nd_message.h"

#include <netinet/icmp6.h>

#include <rte_ether.h>
#include <rte_icmp.h>
#include <rte_ip.h>
#include <rte_mbuf.h>

#include "net/pkt.h"

#define HEADER 16u /* bytes behind the ICMPv6 header: the target */
#define FLAGS 4 /* their offset in the ICMPv6 header */
#define FLAG_SOLICITED 0x40
#define FLAG_OVERRIDES 0x20

static bool is_address(const uint8_t *option)
{
	return option[1] == 1 &&
		rte_is_valid_assigned_ether_addr((const struct rte_ether_addr *)(option + 2));
}

/* False: an option has no length or is longer than the message. */
static bool read_options(struct hauli_nd_message *nd, const uint8_t *option, const uint8_t *end)
{
	for (; option < end; option += option[1] * 8) {
		if (end - option < 8 || option[1] == 0 || option[1] * 8 > end - option)
			return false;
		if (option[0] == ND_OPT_SOURCE_LINKADDR && is_address(option))
			nd->source = option + 2;
		if (option[0] == ND_OPT_TARGET_LINKADDR && is_address(option))
			nd->address = option + 2;
	}
	return true;
}

bool hauli_nd_read(struct hauli_nd_message *nd, const struct haul_pkt *pkt)
{
	const uint8_t *header = (const uint8_t *)pkt->icmp, *body = pkt->payload;

	*nd = (struct hauli_nd_message){0};
	if (pkt->mbuf->nb_segs != 1 || pkt->ip6->hop_limits != HAULI_ND_HOPS ||
		pkt->icmp->icmp_code != 0 || pkt->payload_len < HEADER)
		return false;
	nd->target = hauli_ip6(body);
	nd->solicited = header[FLAGS] & FLAG_SOLICITED;
	nd->overrides = header[FLAGS] & FLAG_OVERRIDES;
	return !hauli_nd_is_group(nd->target) &&
		read_options(nd, body + HEADER, body + pkt->payload_len);
}
