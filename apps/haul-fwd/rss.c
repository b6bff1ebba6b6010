/* SPDX-License-Identifier: BSD-3-Clause */
#include "rss.h"

#include <string.h>

#include <haul-dpdk/port_info.h>

#define ALL                                                                                        \
	(RTE_ETH_RSS_ETH | RTE_ETH_RSS_VLAN | RTE_ETH_RSS_IP | RTE_ETH_RSS_TCP | RTE_ETH_RSS_UDP | \
		RTE_ETH_RSS_SCTP | RTE_ETH_RSS_L2_PAYLOAD | RTE_ETH_RSS_L2TPV3 | RTE_ETH_RSS_ESP | \
		RTE_ETH_RSS_AH | RTE_ETH_RSS_PFCP | RTE_ETH_RSS_GTPU | RTE_ETH_RSS_ECPRI |         \
		RTE_ETH_RSS_MPLS | RTE_ETH_RSS_L2TPV2)

/* First the functions, one bit each, then names of several. */
static const struct {
	const char *name;
	uint64_t functions;
} names[] = {
	{"ipv4", RTE_ETH_RSS_IPV4},
	{"ipv4-frag", RTE_ETH_RSS_FRAG_IPV4},
	{"ipv4-tcp", RTE_ETH_RSS_NONFRAG_IPV4_TCP},
	{"ipv4-udp", RTE_ETH_RSS_NONFRAG_IPV4_UDP},
	{"ipv4-sctp", RTE_ETH_RSS_NONFRAG_IPV4_SCTP},
	{"ipv4-other", RTE_ETH_RSS_NONFRAG_IPV4_OTHER},
	{"ipv6", RTE_ETH_RSS_IPV6},
	{"ipv6-frag", RTE_ETH_RSS_FRAG_IPV6},
	{"ipv6-tcp", RTE_ETH_RSS_NONFRAG_IPV6_TCP},
	{"ipv6-udp", RTE_ETH_RSS_NONFRAG_IPV6_UDP},
	{"ipv6-sctp", RTE_ETH_RSS_NONFRAG_IPV6_SCTP},
	{"ipv6-other", RTE_ETH_RSS_NONFRAG_IPV6_OTHER},
	{"l2-payload", RTE_ETH_RSS_L2_PAYLOAD},
	{"ipv6-ex", RTE_ETH_RSS_IPV6_EX},
	{"ipv6-tcp-ex", RTE_ETH_RSS_IPV6_TCP_EX},
	{"ipv6-udp-ex", RTE_ETH_RSS_IPV6_UDP_EX},
	{"port", RTE_ETH_RSS_PORT},
	{"vxlan", RTE_ETH_RSS_VXLAN},
	{"geneve", RTE_ETH_RSS_GENEVE},
	{"nvgre", RTE_ETH_RSS_NVGRE},
	{"gtpu", RTE_ETH_RSS_GTPU},
	{"eth", RTE_ETH_RSS_ETH},
	{"s-vlan", RTE_ETH_RSS_S_VLAN},
	{"c-vlan", RTE_ETH_RSS_C_VLAN},
	{"esp", RTE_ETH_RSS_ESP},
	{"ah", RTE_ETH_RSS_AH},
	{"l2tpv3", RTE_ETH_RSS_L2TPV3},
	{"pfcp", RTE_ETH_RSS_PFCP},
	{"pppoe", RTE_ETH_RSS_PPPOE},
	{"ecpri", RTE_ETH_RSS_ECPRI},
	{"mpls", RTE_ETH_RSS_MPLS},
	{"ipv4-chksum", RTE_ETH_RSS_IPV4_CHKSUM},
	{"l4-chksum", RTE_ETH_RSS_L4_CHKSUM},
	{"l2tpv2", RTE_ETH_RSS_L2TPV2},
	{"all", ALL},
	{"none", 0},
	{"ip", RTE_ETH_RSS_IP},
	{"udp", RTE_ETH_RSS_UDP},
	{"tcp", RTE_ETH_RSS_TCP},
	{"sctp", RTE_ETH_RSS_SCTP},
	{"vlan", RTE_ETH_RSS_VLAN},
	{"tunnel", RTE_ETH_RSS_TUNNEL},
};

bool fwd_rss_functions(const char *name, uint64_t *functions)
{
	for (unsigned i = 0; i < RTE_DIM(names); i++) {
		if (strcmp(names[i].name, name) != 0)
			continue;
		*functions = names[i].functions;
		return true;
	}
	return false;
}

const char *fwd_rss_name(uint64_t function)
{
	for (unsigned i = 0; i < RTE_DIM(names); i++)
		if (names[i].functions == function)
			return names[i].name;
	return NULL;
}
