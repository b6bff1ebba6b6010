/* SPDX-License-Identifier: BSD-3-Clause */
#include "grammar.h"

#include <stddef.h>
#include <string.h>

#include <rte_version.h>

#define NET(name, at, size)                     \
	{                                       \
		name, FWD_FLOW_NET, at, size, 0 \
	}
#define NET_BITS(name, at, size, bits)             \
	{                                          \
		name, FWD_FLOW_NET, at, size, bits \
	}
#define HOST(name, at, size)                     \
	{                                        \
		name, FWD_FLOW_HOST, at, size, 0 \
	}
#define HOST_BITS(name, at, size, bits)             \
	{                                           \
		name, FWD_FLOW_HOST, at, size, bits \
	}
#define SWITCH(name, at, size, bits)                  \
	{                                             \
		name, FWD_FLOW_SWITCH, at, size, bits \
	}
#define PORT(name, size)                        \
	{                                       \
		name, FWD_FLOW_PORT, 0, size, 0 \
	}
#define MAC(name, at)                        \
	{                                    \
		name, FWD_FLOW_MAC, at, 6, 0 \
	}
#define IPV4(name, at)                        \
	{                                     \
		name, FWD_FLOW_IPV4, at, 4, 0 \
	}
#define IPV6(name, at)                         \
	{                                      \
		name, FWD_FLOW_IPV6, at, 16, 0 \
	}
#define AT(name, field) offsetof(struct rte_flow_item_##name, field)
#define FIELDS(name) static const struct fwd_flow_field name[]

/* Most structs are headers as they are sent, so offsets are those of the protocol. (arp_eth_ipv4
 * and pfcp are not packed.) */
FIELDS(any) = {HOST("num", 0, 4), {0}};
FIELDS(port_id) = {PORT("id", 4), {0}};
FIELDS(mark) = {HOST("id", 0, 4), {0}};
FIELDS(eth) = {
	MAC("dst", 0), MAC("src", 6), NET("type", 12, 2), HOST_BITS("has_vlan", 14, 1, 1), {0}};
FIELDS(vlan) = {NET("tci", 0, 2), NET_BITS("pcp", 0, 2, 0xe000), NET_BITS("dei", 0, 2, 0x1000),
	NET_BITS("vid", 0, 2, 0x0fff), NET("inner_type", 2, 2), HOST_BITS("has_more_vlan", 4, 4, 1),
	{0}};
FIELDS(ipv4) = {NET("version_ihl", 0, 1), NET("tos", 1, 1), NET("length", 2, 2),
	NET("packet_id", 4, 2), NET("fragment_offset", 6, 2), NET("ttl", 8, 1), NET("proto", 9, 1),
	IPV4("src", 12), IPV4("dst", 16), {0}};
FIELDS(ipv6) = {NET_BITS("tc", 0, 4, 0x0ff00000), NET_BITS("flow", 0, 4, 0x000fffff),
	NET("length", 4, 2), NET("proto", 6, 1), NET("hop", 7, 1), IPV6("src", 8), IPV6("dst", 24),
	HOST_BITS("has_frag_ext", 40, 4, 1 << 2), {0}};
FIELDS(icmp) = {NET("type", 0, 1), NET("code", 1, 1), NET("ident", 4, 2), NET("seq", 6, 2), {0}};
FIELDS(udp) = {NET("src", 0, 2), NET("dst", 2, 2), {0}};
FIELDS(tcp) = {NET("src", 0, 2), NET("dst", 2, 2), NET("flags", 13, 1), {0}};
FIELDS(sctp) = {NET("src", 0, 2), NET("dst", 2, 2), NET("tag", 4, 4), NET("cksum", 8, 4), {0}};
FIELDS(vxlan) = {NET("vni", 4, 3), NET_BITS("flag_g", 0, 1, 0x80), NET_BITS("flag_ver", 0, 1, 0x30),
	NET_BITS("flag_i", 0, 1, 0x08), NET_BITS("flag_p", 0, 1, 0x04),
	NET_BITS("flag_b", 0, 1, 0x02), NET_BITS("flag_o", 0, 1, 0x01),
	NET_BITS("flag_d", 1, 1, 0x40), NET_BITS("flag_a", 1, 1, 0x08),
	NET("group_policy_id", 2, 2), NET("protocol", 3, 1), NET("first_rsvd", 1, 1),
	NET("second_rsvd", 2, 1), NET("third_rsvd", 3, 1), NET("last_rsvd", 7, 1), {0}};
FIELDS(e_tag) = {NET_BITS("grp_ecid_b", 2, 2, 0x3fff), {0}};
FIELDS(nvgre) = {NET("tni", 4, 3), {0}};
FIELDS(mpls) = {NET_BITS("label", 0, 3, 0xfffff0), NET_BITS("tc", 0, 3, 0x0e),
	NET_BITS("s", 0, 3, 0x01), NET("ttl", 3, 1), {0}};
FIELDS(gre) = {NET("protocol", 2, 2), NET("c_rsvd0_ver", 0, 2),
	{"c_bit", FWD_FLOW_SWITCH, 0, 1, 0x80}, {"s_bit", FWD_FLOW_SWITCH, 0, 1, 0x10},
	{"k_bit", FWD_FLOW_SWITCH, 0, 1, 0x20}, {0}};
FIELDS(gre_key) = {NET("value", 0, 4), {0}};
FIELDS(gre_option) = {NET("checksum", 0, 2), NET("key", 4, 4), NET("sequence", 8, 4), {0}};
FIELDS(fuzzy) = {HOST("thresh", 0, 4), {0}};
FIELDS(gtp) = {NET("v_pt_rsv_flags", 0, 1), NET("msg_type", 1, 1), NET("teid", 4, 4), {0}};
FIELDS(geneve) = {NET("vni", 4, 3), NET("protocol", 2, 2), NET_BITS("optlen", 0, 2, 0x3f00), {0}};
FIELDS(vxlan_gpe) = {NET("vni", 4, 3), NET("protocol", 3, 1), NET("flags", 0, 1),
	NET("rsvd0", 1, 2), NET("rsvd1", 7, 1), {0}};
FIELDS(arp) = {MAC("sha", AT(arp_eth_ipv4, sha)), IPV4("spa", AT(arp_eth_ipv4, spa)),
	MAC("tha", AT(arp_eth_ipv4, tha)), IPV4("tpa", AT(arp_eth_ipv4, tpa)), {0}};
FIELDS(ipv6_ext) = {NET("next_hdr", 0, 1), {0}};
FIELDS(ipv6_frag) = {NET("next_hdr", 0, 1), NET("frag_data", 2, 2), NET("packet_id", 4, 4), {0}};
FIELDS(icmp6) = {NET("type", 0, 1), NET("code", 1, 1), {0}};
FIELDS(icmp6_nd) = {IPV6("target_addr", 8), {0}};
FIELDS(icmp6_nd_opt) = {NET("type", 0, 1), {0}};
FIELDS(icmp6_sla) = {MAC("sla", 2), {0}};
FIELDS(icmp6_tla) = {MAC("tla", 2), {0}};
FIELDS(meta) = {HOST("data", 0, 4), {0}};
FIELDS(gtp_psc) = {NET_BITS("qfi", 2, 1, 0x3f), NET_BITS("pdu_t", 1, 1, 0xf0), {0}};
FIELDS(pppoe) = {NET("seid", 2, 2), {0}};
FIELDS(pppoe_proto_id) = {NET("proto_id", 0, 2), {0}};
FIELDS(tag) = {HOST("data", 0, 4), HOST("index", 4, 1), {0}};
FIELDS(l2tpv3oip) = {NET("session_id", 0, 4), {0}};
FIELDS(esp) = {NET("spi", 0, 4), {0}};
FIELDS(ah) = {NET("spi", 4, 4), {0}};
FIELDS(pfcp) = {NET("s_field", 0, 1), NET("seid", AT(pfcp, seid), 8), {0}};
FIELDS(integrity) = {HOST("level", 0, 4), HOST("value", 8, 8), {0}};
FIELDS(ethdev) = {PORT("ethdev_port_id", 2), {0}};
FIELDS(representor) = {PORT("port_id", 2), {0}};
FIELDS(ppp) = {NET("addr", 0, 1), NET("ctrl", 1, 1), NET("proto_id", 2, 2), {0}};
FIELDS(meter) = {{"color", FWD_FLOW_COLOR, 0, 4, 0}, {0}};
#if RTE_VERSION >= RTE_VERSION_NUM(24, 11, 0, 0)
FIELDS(routing_ext) = {
	NET("ext_type", 2, 1), NET("ext_next_hdr", 0, 1), NET("ext_seg_left", 3, 1), {0}};
FIELDS(icmp6_echo) = {NET("ident", 4, 2), NET("seq", 6, 2), {0}};
FIELDS(random_value) = {HOST("value", 0, 4), {0}};
FIELDS(ib_bth) = {
	NET("opcode", 0, 1), NET("pkey", 2, 2), NET("dst_qp", 5, 3), NET("psn", 9, 3), {0}};
FIELDS(ptype) = {HOST("packet_type", 0, 4), {0}};
FIELDS(affinity) = {HOST("affinity", 0, 1), {0}};
FIELDS(tx_queue) = {HOST("tx_queue_value", 0, 2), {0}};
#endif

#define SIZE(name) sizeof(struct rte_flow_item_##name)
#define ITEM(name, type, size, fields)                                           \
	{                                                                        \
		name, RTE_FLOW_ITEM_TYPE_##type, size, 0, FWD_FLOW_PLAIN, fields \
	}
#define HEADER(name, type, size, header, fields)                                      \
	{                                                                             \
		name, RTE_FLOW_ITEM_TYPE_##type, size, header, FWD_FLOW_PLAIN, fields \
	}

const struct fwd_flow_part fwd_flow_items[] = {
	ITEM("void", VOID, 0, NULL),
	ITEM("invert", INVERT, 0, NULL),
	ITEM("any", ANY, SIZE(any), any),
	ITEM("port_id", PORT_ID, SIZE(port_id), port_id),
	ITEM("mark", MARK, SIZE(mark), mark),
	HEADER("eth", ETH, SIZE(eth), 14, eth),
	HEADER("vlan", VLAN, SIZE(vlan), 4, vlan),
	HEADER("ipv4", IPV4, SIZE(ipv4), 20, ipv4),
	HEADER("ipv6", IPV6, SIZE(ipv6), 40, ipv6),
	HEADER("icmp", ICMP, SIZE(icmp), 8, icmp),
	HEADER("udp", UDP, SIZE(udp), 8, udp),
	HEADER("tcp", TCP, SIZE(tcp), 20, tcp),
	HEADER("sctp", SCTP, SIZE(sctp), 12, sctp),
	HEADER("vxlan", VXLAN, SIZE(vxlan), 8, vxlan),
	HEADER("e_tag", E_TAG, SIZE(e_tag), 8, e_tag),
	HEADER("nvgre", NVGRE, SIZE(nvgre), 8, nvgre),
	HEADER("mpls", MPLS, SIZE(mpls), 4, mpls),
	HEADER("gre", GRE, SIZE(gre), 4, gre),
	HEADER("gre_key", GRE_KEY, sizeof(rte_be32_t), 4, gre_key),
	ITEM("gre_option", GRE_OPTION, SIZE(gre_opt), gre_option),
	ITEM("fuzzy", FUZZY, SIZE(fuzzy), fuzzy),
	HEADER("gtp", GTP, SIZE(gtp), 8, gtp),
	HEADER("gtpc", GTPC, SIZE(gtp), 8, gtp),
	HEADER("gtpu", GTPU, SIZE(gtp), 8, gtp),
	HEADER("geneve", GENEVE, SIZE(geneve), 8, geneve),
	HEADER("vxlan-gpe", VXLAN_GPE, SIZE(vxlan_gpe), 8, vxlan_gpe),
	ITEM("arp_eth_ipv4", ARP_ETH_IPV4, SIZE(arp_eth_ipv4), arp),
	ITEM("ipv6_ext", IPV6_EXT, SIZE(ipv6_ext), ipv6_ext),
	HEADER("ipv6_frag_ext", IPV6_FRAG_EXT, SIZE(ipv6_frag_ext), 8, ipv6_frag),
	HEADER("icmp6", ICMP6, SIZE(icmp6), 4, icmp6),
	HEADER("icmp6_nd_ns", ICMP6_ND_NS, SIZE(icmp6_nd_ns), 24, icmp6_nd),
	HEADER("icmp6_nd_na", ICMP6_ND_NA, SIZE(icmp6_nd_na), 24, icmp6_nd),
	HEADER("icmp6_nd_opt", ICMP6_ND_OPT, SIZE(icmp6_nd_opt), 2, icmp6_nd_opt),
	HEADER("icmp6_nd_opt_sla_eth", ICMP6_ND_OPT_SLA_ETH, SIZE(icmp6_nd_opt_sla_eth), 8,
		icmp6_sla),
	HEADER("icmp6_nd_opt_tla_eth", ICMP6_ND_OPT_TLA_ETH, SIZE(icmp6_nd_opt_tla_eth), 8,
		icmp6_tla),
	ITEM("meta", META, SIZE(meta), meta),
	HEADER("gtp_psc", GTP_PSC, SIZE(gtp_psc), 3, gtp_psc),
	HEADER("pppoes", PPPOES, SIZE(pppoe), 6, pppoe),
	HEADER("pppoed", PPPOED, SIZE(pppoe), 6, pppoe),
	HEADER("pppoe_proto_id", PPPOE_PROTO_ID, SIZE(pppoe_proto_id), 2, pppoe_proto_id),
	ITEM("tag", TAG, SIZE(tag), tag),
	HEADER("l2tpv3oip", L2TPV3OIP, SIZE(l2tpv3oip), 4, l2tpv3oip),
	HEADER("esp", ESP, SIZE(esp), 8, esp),
	HEADER("ah", AH, SIZE(ah), 12, ah),
	ITEM("pfcp", PFCP, SIZE(pfcp), pfcp),
	ITEM("integrity", INTEGRITY, SIZE(integrity), integrity),
	ITEM("port_representor", PORT_REPRESENTOR, SIZE(ethdev), representor),
	ITEM("represented_port", REPRESENTED_PORT, SIZE(ethdev), ethdev),
	HEADER("ppp", PPP, SIZE(ppp), 4, ppp),
	ITEM("meter", METER_COLOR, SIZE(meter_color), meter),
#if RTE_VERSION >= RTE_VERSION_NUM(24, 11, 0, 0)
	ITEM("ipv6_routing_ext", IPV6_ROUTING_EXT, SIZE(ipv6_routing_ext), routing_ext),
	HEADER("icmp6_echo_request", ICMP6_ECHO_REQUEST, SIZE(icmp6_echo), 8, icmp6_echo),
	HEADER("icmp6_echo_reply", ICMP6_ECHO_REPLY, SIZE(icmp6_echo), 8, icmp6_echo),
	ITEM("random", RANDOM, SIZE(random), random_value),
	HEADER("ib_bth", IB_BTH, SIZE(ib_bth), 12, ib_bth),
	ITEM("ptype", PTYPE, SIZE(ptype), ptype),
	ITEM("aggr_affinity", AGGR_AFFINITY, SIZE(aggr_affinity), affinity),
	ITEM("tx_queue", TX_QUEUE, SIZE(tx_queue), tx_queue),
#endif
	{0},
};

const struct fwd_flow_part *fwd_flow_find(
	const struct fwd_flow_part *table, const char *name, unsigned len)
{
	for (; table->name; table++)
		if (strlen(table->name) == len && strncmp(table->name, name, len) == 0)
			return table;
	return NULL;
}

const struct fwd_flow_part *fwd_flow_find_type(const struct fwd_flow_part *table, int type)
{
	for (; table->name; table++)
		if (table->type == type)
			return table;
	return NULL;
}
