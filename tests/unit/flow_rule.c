/* SPDX-License-Identifier: BSD-3-Clause */
/* Flow rules of haul-fwd's prompt: words to the structs of rte_flow, and what wrong words get. */
#include <arpa/inet.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_ethdev.h>

#include "../../apps/haul-fwd/flow/parse.h"
#include "support/suite.h"

static const uint16_t ids[] = {0, 1, 2, 3, 4, UINT16_MAX};
static struct fwd_flow_raw encap[FWD_FLOW_RAW], decap[FWD_FLOW_RAW];
static const struct fwd_flow_known known = {
	.ports = {ids, 6}, .queues = 3, .encap = encap, .decap = decap};
static struct fwd_flow_rule rule;
static char *said; /* the line about what is wrong */

static bool parse_to(struct fwd_flow_rule *r, const char *text)
{
	size_t size;
	FILE *out;
	bool good;

	free(said);
	out = open_memstream(&said, &size);
	good = fwd_flow_parse(r, text, "flow create 0", &known, out);
	fclose(out);
	ck_assert_int_eq(good, said[0] == '\0');
	return good;
}

static void parse(const char *text)
{
	ck_assert_msg(parse_to(&rule, text), "%s: %s", text, said);
}

static void refuse(const char *text, const char *line)
{
	ck_assert_msg(!parse_to(&rule, text), "%s", text);
	ck_assert_str_eq(said, line);
}

/* The struct of an item's spec, with the item first. */
static const void *spec_of(const char *words)
{
	char text[256];

	snprintf(text, sizeof(text), "ingress pattern %s / end actions drop / end", words);
	parse(text);
	ck_assert_ptr_nonnull(rule.items[0].spec);
	return rule.items[0].spec;
}

static const void *conf_of(const char *words)
{
	char text[256];

	snprintf(text, sizeof(text), "ingress pattern eth / end actions %s / end", words);
	parse(text);
	return rule.actions[0].conf;
}

START_TEST(fields_lie_within_their_structs)
{
	for (unsigned t = 0; t < 2; t++) {
		const struct fwd_flow_part *table = t ? fwd_flow_actions : fwd_flow_items;

		for (const struct fwd_flow_part *p = table; p->name; p++) {
			ck_assert_ptr_eq(
				fwd_flow_find(table, p->name, (unsigned)strlen(p->name)), p);
			ck_assert_ptr_eq(fwd_flow_find_type(table, p->type), p);
			ck_assert_uint_le(p->header, p->size);
			for (const struct fwd_flow_field *f = p->fields; f && f->name; f++) {
				ck_assert_msg(f->size > 0 && f->at + f->size <= p->size, "%s %s",
					p->name, f->name);
				ck_assert_msg(f->size >= 4 || f->bits >> 8 * f->size == 0, "%s %s",
					p->name, f->name);
			}
		}
	}
}
END_TEST

START_TEST(items_are_structs_of_rte_flow)
{
	const struct rte_flow_item_eth *eth;
	const struct rte_flow_item_vlan *vlan;
	const struct rte_flow_item_ipv4 *ipv4;
	const struct rte_flow_item_ipv6 *ipv6;
	const struct rte_flow_item_mpls *mpls;
	const struct rte_flow_item_integrity *integrity;
	const struct rte_flow_item_gtp_psc *psc;
	const struct rte_flow_item_arp_eth_ipv4 *arp;
	const struct rte_flow_item_pfcp *pfcp;

	eth = spec_of("eth dst is 02:00:00:00:00:01 type is 0x0800 has_vlan is 1");
	ck_assert_uint_eq(eth->hdr.dst_addr.addr_bytes[5], 1);
	ck_assert_uint_eq(eth->hdr.ether_type, htons(0x0800));
	ck_assert_uint_eq(eth->has_vlan, 1);
	ck_assert_uint_eq(eth->reserved, 0);
	vlan = spec_of("vlan vid is 5 pcp is 6 dei is 1 inner_type is 0x86dd has_more_vlan is 1");
	ck_assert_uint_eq(vlan->hdr.vlan_tci, htons(6 << 13 | 1 << 12 | 5));
	ck_assert_uint_eq(vlan->hdr.eth_proto, htons(0x86dd));
	ck_assert_uint_eq(vlan->has_more_vlan, 1);
	ipv4 = spec_of("ipv4 src is 1.2.3.4 dst is 0x01020305 ttl is 9 proto is 017 tos is 3");
	ck_assert_uint_eq(ipv4->hdr.src_addr, inet_addr("1.2.3.4"));
	ck_assert_uint_eq(ipv4->hdr.dst_addr, inet_addr("1.2.3.5"));
	ck_assert_uint_eq(ipv4->hdr.time_to_live, 9);
	ck_assert_uint_eq(ipv4->hdr.next_proto_id, 15);
	ck_assert_uint_eq(ipv4->hdr.type_of_service, 3);
	ipv6 = spec_of("ipv6 tc is 0xab flow is 0x12345 hop is 4 dst is 2001:db8::7 "
		       "has_frag_ext is 1");
	ck_assert_uint_eq(ipv6->hdr.vtc_flow, htonl(0x0ab12345));
	ck_assert_uint_eq(ipv6->hdr.hop_limits, 4);
	ck_assert_uint_eq(((const uint8_t *)&ipv6->hdr.dst_addr)[15], 7);
	ck_assert_uint_eq(ipv6->has_frag_ext, 1);
	ck_assert_uint_eq(ipv6->has_route_ext | ipv6->has_auth_ext, 0);
	mpls = spec_of("mpls label is 0xfffff tc is 2 s is 1 ttl is 3");
	ck_assert_mem_eq(mpls, "\xff\xff\xf5\x03", 4);
	ck_assert_mem_eq(
		spec_of("gre c_bit is on k_bit is 1 protocol is 0x0800"), "\xa0\x00\x08\x00", 4);
	ck_assert_mem_eq(spec_of("vxlan vni is 0x010203 flag_i is 1"), "\x08\0\0\0\1\2\3\0", 8);
	psc = spec_of("gtp_psc qfi is 9 pdu_t is 1");
	ck_assert_uint_eq(psc->hdr.qfi, 9);
	ck_assert_uint_eq(psc->hdr.type, 1);
	arp = spec_of("arp_eth_ipv4 sha is 02:00:00:00:00:01 spa is 1.2.3.4 tpa is 1.2.3.5");
	ck_assert_uint_eq(arp->sha.addr_bytes[5], 1);
	ck_assert_mem_eq(&arp->spa, "\1\2\3\4", 4);
	ck_assert_mem_eq(&arp->tpa, "\1\2\3\5", 4);
	pfcp = spec_of("pfcp s_field is 1 seid is 0x0102030405060708");
	ck_assert_mem_eq(&pfcp->seid, "\1\2\3\4\5\6\7\x08", 8);
	integrity = spec_of("integrity level is 1 value is 0x80");
	ck_assert_uint_eq(integrity->level, 1);
	ck_assert_uint_eq(integrity->value, 0x80);
	ck_assert_uint_eq(((const struct rte_flow_item_ethdev *)spec_of("represented_port "
									"ethdev_port_id is 3"))
				  ->port_id,
		3);
}
END_TEST

START_TEST(parameters_fill_spec_last_and_mask)
{
	const struct rte_flow_item_udp *spec, *last, *mask;

	parse("group 3 priority 0x10 egress transfer pattern eth / udp dst spec 53 dst last 60 "
	      "dst mask 0xfff0 src is 7 / end actions void / end");
	ck_assert_uint_eq(rule.attr.group, 3);
	ck_assert_uint_eq(rule.attr.priority, 16);
	ck_assert(!rule.attr.ingress && rule.attr.egress && rule.attr.transfer);
	ck_assert_uint_eq(rule.nb_items, 2);
	ck_assert_ptr_null(rule.items[0].spec);
	ck_assert_ptr_null(rule.items[0].mask);
	ck_assert_int_eq(rule.items[2].type, RTE_FLOW_ITEM_TYPE_END);
	spec = rule.items[1].spec;
	last = rule.items[1].last;
	mask = rule.items[1].mask;
	ck_assert_uint_eq(spec->hdr.dst_port, htons(53));
	ck_assert_uint_eq(spec->hdr.src_port, htons(7));
	ck_assert_uint_eq(last->hdr.dst_port, htons(60));
	ck_assert_uint_eq(last->hdr.src_port, 0);
	ck_assert_uint_eq(mask->hdr.dst_port, htons(0xfff0));
	ck_assert_uint_eq(mask->hdr.src_port, 0xffff);
	parse("pattern ipv4 src prefix 20 / udp dst prefix 3 / vlan vid prefix 2 / eth src prefix 9"
	      " / end actions end");
	ck_assert_uint_eq(((const struct rte_flow_item_ipv4 *)rule.items[0].mask)->hdr.src_addr,
		htonl(0xfffff000));
	ck_assert_ptr_null(rule.items[0].spec);
	ck_assert_uint_eq(((const struct rte_flow_item_udp *)rule.items[1].mask)->hdr.dst_port,
		htons(0xe000));
	ck_assert_uint_eq(((const struct rte_flow_item_vlan *)rule.items[2].mask)->hdr.vlan_tci,
		htons(0x0c00));
	ck_assert_mem_eq(&((const struct rte_flow_item_eth *)rule.items[3].mask)->hdr.src_addr,
		"\xff\x80\0\0\0\0", 6);
	ck_assert_uint_eq(rule.nb_actions, 0);
}
END_TEST

START_TEST(actions_are_structs_of_rte_flow)
{
	const struct rte_flow_action_rss *rss;
	const struct rte_flow_action_age *age;
	const struct rte_flow_action_port_id *port;

	ck_assert_ptr_null(conf_of("drop"));
	ck_assert_uint_eq(
		((const struct rte_flow_action_queue *)conf_of("queue index 2"))->index, 2);
	ck_assert_uint_eq(
		((const struct rte_flow_action_mark *)conf_of("mark id 0xabc"))->id, 0xabc);
	ck_assert_uint_eq(
		((const struct rte_flow_action_set_ipv4 *)conf_of("set_ipv4_src ipv4_addr 1.2.3.4"))
			->ipv4_addr,
		inet_addr("1.2.3.4"));
	ck_assert_mem_eq(conf_of("set_mac_dst mac_addr 02:00:00:00:00:09"), "\2\0\0\0\0\x09", 6);
	ck_assert_mem_eq(conf_of("of_push_vlan ethertype 0x8100"), "\x81\0", 2);
	ck_assert_mem_eq(conf_of("inc_tcp_seq value 1"), "\0\0\0\1", 4);
	age = conf_of("age timeout 0x123456");
	ck_assert_uint_eq(age->timeout, 0x123456);
	ck_assert_ptr_null(age->context);
	port = conf_of("port_id id 4 original on");
	ck_assert_uint_eq(port->id, 4);
	ck_assert_uint_eq(port->original, 1);
	rss = conf_of("rss");
	ck_assert_uint_eq(rss->queue_num, 3);
	ck_assert_uint_eq(rss->queue[2], 2);
	ck_assert_uint_eq(rss->types, RTE_ETH_RSS_IP);
	rss = conf_of("rss func toeplitz level 2 types ipv4 udp end key 0x0aFF queues 1 0 end");
	ck_assert_int_eq(rss->func, RTE_ETH_HASH_FUNCTION_TOEPLITZ);
	ck_assert_uint_eq(rss->level, 2);
	ck_assert_uint_eq(rss->types, RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_UDP);
	ck_assert_uint_eq(rss->key_len, 2);
	ck_assert_mem_eq(rss->key, "\x0a\xff", 2);
	ck_assert_uint_eq(rss->queue_num, 2);
	ck_assert_uint_eq(rss->queue[0], 1);
	ck_assert_ptr_null(((const struct rte_flow_action_rss *)conf_of("rss queues end"))->queue);
}
END_TEST

static bool set_raw(const char *text)
{
	size_t size;
	FILE *out;
	bool good;

	free(said);
	out = open_memstream(&said, &size);
	good = fwd_flow_parse_raw(&encap[1], &rule, text, "set raw_encap 1", out);
	fclose(out);
	return good;
}

START_TEST(raw_headers_are_linked)
{
	const struct rte_flow_action_raw_encap *conf;

	ck_assert(
		set_raw("eth src is 02:00:00:00:00:01 / vlan vid is 5 / ipv4 src is 1.2.3.4 / udp /"
			" vxlan vni is 7 / end_set"));
	conf = conf_of("raw_encap index 1");
	ck_assert_uint_eq(conf->size, 14 + 4 + 20 + 8 + 8);
	ck_assert_mem_eq(conf->data, "\0\0\0\0\0\0\2\0\0\0\0\1\x81\0\0\5\x08\0\x45", 19);
	ck_assert_mem_eq(&conf->data[18 + 9], "\x11\0\0\1\2\3\4", 7);
	ck_assert_mem_eq(&conf->data[38], "\0\0\x12\xb5\0\0\0\0\x08\0\0\0\0\0\7\0", 16);
	/* What is wrong leaves it as it was. */
	ck_assert(!set_raw("eth / mark id is 3 / end_set"));
	ck_assert_str_eq(said, "Bad arguments: mark: it is no header\n");
	ck_assert(!set_raw("eth / end"));
	ck_assert(!set_raw(""));
	ck_assert_uint_eq(
		((const struct rte_flow_action_raw_encap *)conf_of("raw_encap index 1"))->size, 54);
	ck_assert_uint_eq(
		((const struct rte_flow_action_raw_decap *)conf_of("raw_decap"))->size, 0);
}
END_TEST

START_TEST(wrong_words_have_a_line)
{
	char text[4096];
	int n;

	refuse("ingress pattern eth srcc is 1",
		"Bad arguments: \"srcc\": give dst|src|type|has_vlan|/ after "
		"\"flow create 0 ingress pattern eth\"\n");
	refuse("pattern eth dst",
		"Bad arguments: the command is incomplete: give is|spec|last|mask|prefix after "
		"\"flow create 0 pattern eth dst\"\n");
	refuse("pattern vlan vid is 4096 /",
		"Bad arguments: \"4096\": give a number up to 4095 after "
		"\"flow create 0 pattern vlan vid is\"\n");
	refuse("pattern udp dst prefix 17 /",
		"Bad arguments: \"17\": give a number of bits, up to 16 after "
		"\"flow create 0 pattern udp dst prefix\"\n");
	refuse("pattern port_id id is 5 /",
		"Bad arguments: \"5\": give the number of a port that has one device after "
		"\"flow create 0 pattern port_id id is\"\n");
	refuse("pattern udp dst is -1 /",
		"Bad arguments: \"-1\": give a number up to 65535 after "
		"\"flow create 0 pattern udp dst is\"\n");
	refuse("",
		"Bad arguments: the command is incomplete: give "
		"group|priority|ingress|egress|transfer|pattern after \"flow create 0\"\n");
	refuse("pattern end actions queue index 65536 / end",
		"Bad arguments: \"65536\": give a number up to 65535 after "
		"\"flow create 0 pattern end actions queue index\"\n");
	refuse("pattern end actions end now",
		"Bad arguments: \"now\": give nothing after "
		"\"flow create 0 pattern end actions end\"\n");
	refuse("pattern end",
		"Bad arguments: the command is incomplete: give actions after "
		"\"flow create 0 pattern end\"\n");
	/* As many as there is room for, and one more. */
	n = snprintf(text, sizeof(text), "pattern");
	for (unsigned i = 0; i <= FWD_FLOW_PARTS_MAX; i++) {
		if (i == FWD_FLOW_PARTS_MAX) {
			snprintf(&text[n], sizeof(text) - (size_t)n, " end actions end");
			parse(text);
		}
		n += snprintf(&text[n], sizeof(text) - (size_t)n, " ipv6 /");
	}
	ck_assert(!parse_to(&rule, text));
	n = snprintf(text, sizeof(text), "pattern end actions");
	for (unsigned i = 0; i <= FWD_FLOW_PARTS_MAX; i++)
		n += snprintf(&text[n], sizeof(text) - (size_t)n, " rss /");
	ck_assert(!parse_to(&rule, text));
}
END_TEST

SUITE_MAIN("flow rules", {fields_lie_within_their_structs}, {items_are_structs_of_rte_flow},
	{parameters_fill_spec_last_and_mask}, {actions_are_structs_of_rte_flow},
	{raw_headers_are_linked}, {wrong_words_have_a_line})
