/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv6 neighbour discovery (RFC 4861): a solicitation becomes an advertisement; solicitations and
 * advertisements of our own. */
#include "net/nd.h"

#include <errno.h>
#include <netinet/icmp6.h>
#include <netinet/in.h>

#include <rte_icmp.h>
#include <rte_ip.h>

#include "net/addr.h"
#include "net/build.h"
#include "net/cksum.h"
#include "net/dpdk.h"
#include "net/pkt.h"
#include "net/reply.h"

/* The layout of solicitation and advertisement. Options follow, counted in units of eight bytes. */
struct nd_msg {
	uint8_t type;
	uint8_t code;
	rte_be16_t cksum;
	uint8_t flags; /* of an advertisement */
	uint8_t reserved[3];
	uint8_t target[16];
} __attribute__((packed));
_Static_assert(sizeof(struct nd_msg) == 24, "as on the wire");

struct nd_link_addr {
	uint8_t type;
	uint8_t units;
	uint8_t mac[6];
} __attribute__((packed));
_Static_assert(sizeof(struct nd_link_addr) == 8, "as on the wire");

#define FLAG_SOLICITED 0x40
#define FLAG_OVERRIDE 0x20
#define WITH_OPTION (sizeof(struct nd_msg) + sizeof(struct nd_link_addr))

static const uint8_t all_nodes[16] = {0xff, 2, [15] = 1};

static void write_link_addr(struct nd_msg *msg, uint8_t type, const uint8_t *mac)
{
	struct nd_link_addr *opt = (void *)(msg + 1);

	opt->type = type;
	opt->units = 1;
	memcpy(opt->mac, mac, sizeof(opt->mac));
}

static uint16_t msg_len(const struct haul_pkt *pkt)
{
	return (uint16_t)(pkt->payload - (uint8_t *)pkt->l4 + pkt->payload_len);
}

const uint8_t *hauli_nd_target(const struct haul_pkt *pkt)
{
	return ((const struct nd_msg *)pkt->l4)->target;
}

/* Walks the options of a contiguous message. *source: the source link-layer address, or NULL.
 * Returns MALFORMED if an option has no length or extends beyond the end. */
static enum haul_verdict walk_options(const struct haul_pkt *pkt, const uint8_t **source)
{
	const uint8_t *opt = (const uint8_t *)pkt->l4 + sizeof(struct nd_msg);
	const uint8_t *end = (const uint8_t *)pkt->l4 + msg_len(pkt);

	*source = NULL;
	while (opt < end) {
		if (end - opt < 8 || opt[1] == 0 || opt[1] * 8 > end - opt)
			return HAUL_NET_MALFORMED;
		if (*opt == ND_OPT_SOURCE_LINKADDR && opt[1] == 1)
			*source = ((const struct nd_link_addr *)opt)->mac;
		opt += opt[1] * 8;
	}
	return HAUL_NET_OK;
}

/* The checks that RFC 4861, 7.1.1 requires for a solicitation. */
enum haul_verdict hauli_parse_nd(struct haul_pkt *pkt)
{
	static const uint8_t any_group[13] = {0xff, 2, [11] = 1, 0xff};
	const struct nd_msg *msg = pkt->l4;
	const struct rte_ipv6_hdr *ip = pkt->ip6;
	const uint8_t *source;
	uint32_t off = hauli_offset(pkt, msg);
	enum haul_verdict v = msg_len(pkt) < sizeof(*msg)
		? HAUL_NET_MALFORMED
		: hauli_need(pkt->mbuf, off, msg_len(pkt));

	if (v)
		return v;
	if (ip->hop_limits != HAULI_ND_HOPS || msg->code || msg->target[0] == 0xff)
		return HAUL_NET_MALFORMED;
	v = walk_options(pkt, &source);
	if (v)
		return v;
	if (hauli_is_zero(hauli_ip6_src(ip), 16) &&
		(source || memcmp(hauli_ip6_dst(ip), any_group, sizeof(any_group))))
		return HAUL_NET_MALFORMED;
	/* A reply to such an address would reach many hosts, or none. */
	if (source && !rte_is_valid_assigned_ether_addr((const struct rte_ether_addr *)source))
		return HAUL_NET_MALFORMED;
	pkt->proto = HAUL_PROTO_ND;
	return HAUL_NET_OK;
}

bool hauli_nd_is_from(const struct haul_pkt *pkt, const uint8_t *mac)
{
	const uint8_t *source;

	walk_options(pkt, &source);
	return source && !memcmp(source, mac, RTE_ETHER_ADDR_LEN);
}

/* Sets the length of the message to len bytes; new bytes are not initialised. False: the mbuf has
 * several segments or no room. */
static bool resize(struct haul_pkt *pkt, uint16_t len)
{
	struct rte_mbuf *m = pkt->mbuf;
	uint16_t old = msg_len(pkt);

	if (m->nb_segs != 1)
		return false;
	if (len < old)
		rte_pktmbuf_trim(m, (uint16_t)(old - len));
	else if (!rte_pktmbuf_append(m, (uint16_t)(len - old)))
		return false;
	pkt->payload_len = (uint16_t)(len - (pkt->payload - (uint8_t *)pkt->l4));
	return true;
}

enum haul_verdict haul_nd_advertise(const struct haul_net_if *nif, struct haul_pkt *pkt)
{
	const uint8_t *source;
	uint8_t mac[6];

	if (pkt->proto != HAUL_PROTO_ND)
		return HAUL_NET_UNSUPPORTED;

	bool probe = hauli_is_zero(hauli_ip6_src(pkt->ip6), 16);

	walk_options(pkt, &source);
	if (probe)
		hauli_ip6_group_mac(mac, all_nodes);
	else
		memcpy(mac, source ? source : pkt->eth->src_addr.addr_bytes, sizeof(mac));
	if (!resize(pkt, WITH_OPTION))
		return HAUL_NET_UNSUPPORTED;

	enum haul_verdict v = hauli_reply(nif, pkt);

	if (v)
		return v;

	struct nd_msg *msg = pkt->l4;

	*msg = (struct nd_msg){
		.type = ND_NEIGHBOR_ADVERT,
		.flags = FLAG_OVERRIDE | (probe ? 0 : FLAG_SOLICITED),
	};
	memcpy(msg->target, nif->ip6, 16);
	write_link_addr(msg, ND_OPT_TARGET_LINKADDR, nif->mac);

	if (probe)
		hauli_ip6_set_dst(pkt->ip6, all_nodes);
	hauli_eth_to(nif, pkt, mac);
	hauli_ip_finish(pkt, HAULI_ND_HOPS, WITH_OPTION);
	msg->cksum =
		(rte_be16_t)~hauli_sum(pkt, IPPROTO_ICMPV6, hauli_offset(pkt, msg), WITH_OPTION);
	return HAUL_NET_OK;
}

/* The IPv6 header in front of a message that lacks only its checksum, which is the packet. */
static int finish(
	struct haul_pkt *pkt, struct rte_mbuf *m, const struct haul_head *head, struct nd_msg *msg)
{
	uint16_t len = (uint16_t)rte_pktmbuf_pkt_len(m);
	int err = hauli_build_ip(pkt, m, head, IPPROTO_ICMPV6, 0, 0);

	if (err) {
		rte_pktmbuf_trim(m, len);
		return err;
	}
	pkt->payload += sizeof(struct rte_icmp_hdr);
	pkt->payload_len = (uint16_t)(len - sizeof(struct rte_icmp_hdr));
	msg->cksum = (rte_be16_t)~hauli_sum(pkt, IPPROTO_ICMPV6, hauli_offset(pkt, msg), len);
	return 0;
}

int haul_nd_solicit(struct haul_pkt *pkt, struct rte_mbuf *mbuf, const struct haul_head *head)
{
	const uint8_t *from = head->src.bytes;
	bool probe = hauli_is_zero(from, 16);
	struct haul_head to = *head;

	if (head->src.version != 6 || head->dst.version != 6 ||
		!hauli_ip6_is_host(head->dst.bytes) || (!probe && !hauli_ip6_is_host(from)))
		return -EINVAL;

	/* RFC 4861, 7.2.2: without the option in a probe, whose sender has no address yet. */
	int err;
	struct nd_msg *msg = hauli_build_message(mbuf, probe ? sizeof(*msg) : WITH_OPTION, &err);

	if (!msg)
		return err;
	*msg = (struct nd_msg){.type = ND_NEIGHBOR_SOLICIT};
	memcpy(msg->target, head->dst.bytes, 16);
	if (!probe)
		write_link_addr(msg, ND_OPT_SOURCE_LINKADDR, head->src_mac);
	if (probe || hauli_is_zero(head->dst_mac, RTE_ETHER_ADDR_LEN))
		hauli_ip6_group(to.dst.bytes, head->dst.bytes);
	if (hauli_is_zero(head->dst_mac, RTE_ETHER_ADDR_LEN))
		hauli_ip6_group_mac(to.dst_mac, to.dst.bytes);
	to.hops = HAULI_ND_HOPS;
	to.mtu = 0;
	err = finish(pkt, mbuf, &to, msg);
	if (!err)
		pkt->proto = HAUL_PROTO_ND;
	return err;
}

int haul_nd_announce(struct haul_pkt *pkt, struct rte_mbuf *mbuf, const struct haul_head *head)
{
	struct haul_head to = *head;

	if (head->src.version != 6 || !hauli_ip6_is_host(head->src.bytes))
		return -EINVAL;

	int err;
	struct nd_msg *msg = hauli_build_message(mbuf, WITH_OPTION, &err);

	if (!msg)
		return err;
	*msg = (struct nd_msg){.type = ND_NEIGHBOR_ADVERT, .flags = FLAG_OVERRIDE};
	memcpy(msg->target, head->src.bytes, 16);
	write_link_addr(msg, ND_OPT_TARGET_LINKADDR, head->src_mac);
	to.dst = haul_addr_from(6, all_nodes);
	hauli_ip6_group_mac(to.dst_mac, all_nodes);
	to.hops = HAULI_ND_HOPS;
	to.mtu = 0;
	err = finish(pkt, mbuf, &to, msg);
	if (!err)
		pkt->proto = HAUL_PROTO_ICMP6;
	return err;
}
