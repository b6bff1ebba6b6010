/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which flow a packet belongs to, as a number. Both directions give the same one: of each pair of
 * addresses or ports the smaller comes first. The mixing is Jenkins' (rte_jhash.h).
 */
#include <string.h>

#include <rte_byteorder.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_jhash.h>
#include <rte_mbuf.h>

#include <haul/net.h>

#define TAGS_MAX 2
#define FRAGMENT (RTE_IPV4_HDR_MF_FLAG | RTE_IPV4_HDR_OFFSET_MASK)

/* The part of a packet that is not looked at yet. */
struct rest {
	const uint8_t *data;
	size_t len;
};

static const void *take(struct rest *rest, size_t n)
{
	const uint8_t *taken = rest->data;

	if (rest->len < n)
		return NULL;
	rest->data += n;
	rest->len -= n;
	return taken;
}

static uint32_t hash_pair(const void *a, const void *b, size_t n, uint32_t seed)
{
	bool swapped = memcmp(a, b, n) > 0;
	uint32_t words[8] = {0};

	memcpy(words, swapped ? b : a, n);
	memcpy((char *)words + n, swapped ? a : b, n);
	return rte_jhash_32b(words, (uint32_t)(2 * n + 3) / 4, seed);
}

/* Of protocols that begin with them; rest is what they should begin. */
static uint32_t hash_ports(uint8_t proto, struct rest rest, uint32_t seed)
{
	const uint8_t *ports = NULL;

	if (proto == IPPROTO_TCP || proto == IPPROTO_UDP || proto == IPPROTO_SCTP)
		ports = take(&rest, 4);
	return ports ? hash_pair(ports, ports + 2, 2, seed ^ proto) : seed;
}

static uint32_t hash_ip4(struct rest rest, uint32_t seed)
{
	const struct rte_ipv4_hdr *ip = take(&rest, sizeof(*ip));

	if (!ip)
		return seed;
	seed = hash_pair(&ip->src_addr, &ip->dst_addr, 4, seed);
	/* Of a fragmented packet only the first part has ports, and it stays with the others. */
	if ((ip->fragment_offset & RTE_BE16(FRAGMENT)) != 0 || rte_ipv4_hdr_len(ip) < sizeof(*ip) ||
		!take(&rest, rte_ipv4_hdr_len(ip) - sizeof(*ip)))
		return seed;
	return hash_ports(ip->next_proto_id, rest, seed);
}

static uint32_t hash_ip6(struct rest rest, uint32_t seed)
{
	const struct rte_ipv6_hdr *ip = take(&rest, sizeof(*ip));

	if (!ip)
		return seed;
	seed = hash_pair(ip->src_addr, ip->dst_addr, 16, seed);
	return hash_ports(ip->proto, rest, seed);
}

uint32_t haul_net_flow(const struct rte_mbuf *mbuf)
{
	struct rest rest = {rte_pktmbuf_mtod(mbuf, const uint8_t *), mbuf->data_len};
	const uint8_t *macs = take(&rest, 2 * RTE_ETHER_ADDR_LEN);
	const void *at = macs ? take(&rest, sizeof(rte_be16_t)) : NULL;
	rte_be16_t type;

	if (!at)
		return 0;
	memcpy(&type, at, sizeof(type));
	for (unsigned i = 0; i < TAGS_MAX; i++) {
		const uint8_t *tag;

		if (type != RTE_BE16(RTE_ETHER_TYPE_VLAN) && type != RTE_BE16(RTE_ETHER_TYPE_QINQ))
			break;
		tag = take(&rest, sizeof(struct rte_vlan_hdr));
		if (!tag)
			return 0;
		memcpy(&type, tag + 2, sizeof(type)); /* behind the tag's own two bytes */
	}
	if (type == RTE_BE16(RTE_ETHER_TYPE_IPV4))
		return hash_ip4(rest, type);
	if (type == RTE_BE16(RTE_ETHER_TYPE_IPV6))
		return hash_ip6(rest, type);
	return hash_pair(macs, macs + RTE_ETHER_ADDR_LEN, RTE_ETHER_ADDR_LEN, type);
}
