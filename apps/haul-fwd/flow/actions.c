/* SPDX-License-Identifier: BSD-3-Clause */
#include "grammar.h"

#include <stddef.h>

#include <rte_version.h>

#define SIZE(name) sizeof(struct rte_flow_action_##name)
#define SIZE_OF(name, field) sizeof(((struct rte_flow_action_##name *)0)->field)
#define FIELD(kind, word, name, field)                                                 \
	{                                                                              \
		word, FWD_FLOW_##kind, offsetof(struct rte_flow_action_##name, field), \
			SIZE_OF(name, field), 0                                        \
	}
#define HOST(word, name, field) FIELD(HOST, word, name, field)
#define NET(word, name, field) FIELD(NET, word, name, field)
#define PORT(word, name, field) FIELD(PORT, word, name, field)
#define FIELDS(name) static const struct fwd_flow_field name[]

FIELDS(jump) = {HOST("group", jump, group), {0}};
FIELDS(mark) = {HOST("id", mark, id), {0}};
FIELDS(queue) = {HOST("index", queue, index), {0}};
FIELDS(count) = {HOST("identifier", count, id), {0}};
FIELDS(vf) = {{"original", FWD_FLOW_SWITCH, 0, 4, 1}, HOST("id", vf, id), {0}};
FIELDS(port_id) = {{"original", FWD_FLOW_SWITCH, 0, 4, 1}, PORT("id", port_id, id), {0}};
FIELDS(meter) = {HOST("mtr_id", meter, mtr_id), {0}};
FIELDS(color) = {{"type", FWD_FLOW_COLOR, 0, 4, 0}, {0}};
FIELDS(push_vlan) = {NET("ethertype", of_push_vlan, ethertype), {0}};
FIELDS(vlan_vid) = {NET("vlan_vid", of_set_vlan_vid, vlan_vid), {0}};
FIELDS(vlan_pcp) = {NET("vlan_pcp", of_set_vlan_pcp, vlan_pcp), {0}};
FIELDS(pop_mpls) = {NET("ethertype", of_pop_mpls, ethertype), {0}};
FIELDS(push_mpls) = {NET("ethertype", of_push_mpls, ethertype), {0}};
FIELDS(set_ipv4) = {FIELD(IPV4, "ipv4_addr", set_ipv4, ipv4_addr), {0}};
FIELDS(set_ipv6) = {FIELD(IPV6, "ipv6_addr", set_ipv6, ipv6_addr), {0}};
FIELDS(set_tp) = {NET("port", set_tp, port), {0}};
FIELDS(set_ttl) = {NET("ttl_value", set_ttl, ttl_value), {0}};
FIELDS(set_mac) = {FIELD(MAC, "mac_addr", set_mac, mac_addr), {0}};
FIELDS(value) = {{"value", FWD_FLOW_NET, 0, 4, 0}, {0}};
FIELDS(set_tag) = {HOST("index", set_tag, index), HOST("data", set_tag, data),
	HOST("mask", set_tag, mask), {0}};
FIELDS(set_meta) = {HOST("data", set_meta, data), HOST("mask", set_meta, mask), {0}};
FIELDS(dscp) = {HOST("dscp_value", set_dscp, dscp), {0}};
FIELDS(age) = {{"timeout", FWD_FLOW_HOST, 0, 4, 0xffffff}, {0}};
FIELDS(representor) = {PORT("port_id", ethdev, port_id), {0}};
FIELDS(ethdev) = {PORT("ethdev_port_id", ethdev, port_id), {0}};
#if RTE_VERSION >= RTE_VERSION_NUM(24, 11, 0, 0)
FIELDS(nat64) = {HOST("type", nat64, type), {0}};
#endif

#define ACTION(name, type, size, fields)                                           \
	{                                                                          \
		name, RTE_FLOW_ACTION_TYPE_##type, size, 0, FWD_FLOW_PLAIN, fields \
	}
#define EXTRA(name, type, size, extra)                                  \
	{                                                               \
		name, RTE_FLOW_ACTION_TYPE_##type, size, 0, extra, NULL \
	}

const struct fwd_flow_part fwd_flow_actions[] = {
	ACTION("void", VOID, 0, NULL),
	ACTION("passthru", PASSTHRU, 0, NULL),
	ACTION("jump", JUMP, SIZE(jump), jump),
	ACTION("mark", MARK, SIZE(mark), mark),
	ACTION("flag", FLAG, 0, NULL),
	ACTION("queue", QUEUE, SIZE(queue), queue),
	ACTION("drop", DROP, 0, NULL),
	ACTION("count", COUNT, SIZE(count), count),
	EXTRA("rss", RSS, 0, FWD_FLOW_RSS),
	ACTION("pf", PF, 0, NULL),
	ACTION("vf", VF, SIZE(vf), vf),
	ACTION("port_id", PORT_ID, SIZE(port_id), port_id),
	ACTION("port_representor", PORT_REPRESENTOR, SIZE(ethdev), representor),
	ACTION("represented_port", REPRESENTED_PORT, SIZE(ethdev), ethdev),
	ACTION("meter", METER, SIZE(meter), meter),
	ACTION("color", METER_COLOR, SIZE(meter_color), color),
	ACTION("of_dec_nw_ttl", OF_DEC_NW_TTL, 0, NULL),
	ACTION("of_pop_vlan", OF_POP_VLAN, 0, NULL),
	ACTION("of_push_vlan", OF_PUSH_VLAN, SIZE(of_push_vlan), push_vlan),
	ACTION("of_set_vlan_vid", OF_SET_VLAN_VID, SIZE(of_set_vlan_vid), vlan_vid),
	ACTION("of_set_vlan_pcp", OF_SET_VLAN_PCP, SIZE(of_set_vlan_pcp), vlan_pcp),
	ACTION("of_pop_mpls", OF_POP_MPLS, SIZE(of_pop_mpls), pop_mpls),
	ACTION("of_push_mpls", OF_PUSH_MPLS, SIZE(of_push_mpls), push_mpls),
	ACTION("vxlan_decap", VXLAN_DECAP, 0, NULL),
	ACTION("nvgre_decap", NVGRE_DECAP, 0, NULL),
	EXTRA("raw_encap", RAW_ENCAP, SIZE(raw_encap), FWD_FLOW_ENCAP),
	EXTRA("raw_decap", RAW_DECAP, SIZE(raw_decap), FWD_FLOW_DECAP),
	ACTION("set_ipv4_src", SET_IPV4_SRC, SIZE(set_ipv4), set_ipv4),
	ACTION("set_ipv4_dst", SET_IPV4_DST, SIZE(set_ipv4), set_ipv4),
	ACTION("set_ipv6_src", SET_IPV6_SRC, SIZE(set_ipv6), set_ipv6),
	ACTION("set_ipv6_dst", SET_IPV6_DST, SIZE(set_ipv6), set_ipv6),
	ACTION("set_tp_src", SET_TP_SRC, SIZE(set_tp), set_tp),
	ACTION("set_tp_dst", SET_TP_DST, SIZE(set_tp), set_tp),
	ACTION("set_mac_src", SET_MAC_SRC, SIZE(set_mac), set_mac),
	ACTION("set_mac_dst", SET_MAC_DST, SIZE(set_mac), set_mac),
	ACTION("mac_swap", MAC_SWAP, 0, NULL),
	ACTION("dec_ttl", DEC_TTL, 0, NULL),
	ACTION("set_ttl", SET_TTL, SIZE(set_ttl), set_ttl),
	ACTION("inc_tcp_seq", INC_TCP_SEQ, sizeof(rte_be32_t), value),
	ACTION("dec_tcp_seq", DEC_TCP_SEQ, sizeof(rte_be32_t), value),
	ACTION("inc_tcp_ack", INC_TCP_ACK, sizeof(rte_be32_t), value),
	ACTION("dec_tcp_ack", DEC_TCP_ACK, sizeof(rte_be32_t), value),
	ACTION("set_ipv4_dscp", SET_IPV4_DSCP, SIZE(set_dscp), dscp),
	ACTION("set_ipv6_dscp", SET_IPV6_DSCP, SIZE(set_dscp), dscp),
	ACTION("set_tag", SET_TAG, SIZE(set_tag), set_tag),
	ACTION("set_meta", SET_META, SIZE(set_meta), set_meta),
	ACTION("age", AGE, SIZE(age), age),
	ACTION("send_to_kernel", SEND_TO_KERNEL, 0, NULL),
#if RTE_VERSION >= RTE_VERSION_NUM(24, 11, 0, 0)
	ACTION("nat64", NAT64, SIZE(nat64), nat64),
	ACTION("skip_cman", SKIP_CMAN, 0, NULL),
#endif
	{0},
};
