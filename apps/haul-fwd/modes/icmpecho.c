/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mode icmpecho: answers ARP requests, neighbour solicitations, and echo requests of ICMP and
 * ICMPv6, for every address that it is asked for, on the port of the request; drops all else.
 */
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <string.h>

#include <rte_arp.h>
#include <rte_icmp.h>

#include <haul/sum.h>

#include "edit.h"
#include "headers.h"
#include "modes.h"

#define ND_TARGET 8 /* offset of the target address in a neighbour solicitation */
#define REPLY_TTL 64 /* as in replies of haul_net_answer() */

/* A cheap test: false for frames that cannot be requests, which are dropped together. */
static inline bool may_be_request(const struct rte_mbuf *pkt)
{
	const struct rte_ether_hdr *eth = rte_pktmbuf_mtod(pkt, void *);
	const struct rte_ipv4_hdr *ip = (const void *)(eth + 1);

	if (unlikely(!fwd_is_frame(pkt)))
		return true; /* to be counted as malformed */
	if (eth->ether_type == RTE_BE16(RTE_ETHER_TYPE_IPV4))
		return pkt->data_len >= sizeof(*eth) + sizeof(*ip) &&
			ip->next_proto_id == IPPROTO_ICMP;
	return eth->ether_type == RTE_BE16(RTE_ETHER_TYPE_ARP) ||
		eth->ether_type == RTE_BE16(RTE_ETHER_TYPE_IPV6) || fwd_is_tag(eth->ether_type);
}

/* The interface that a request is sent to, whatever its addresses are. mac: of the port, for
 * requests to a group. */
static void interface_of(
	struct haul_net_if *nif, const struct haul_pkt *pkt, const struct rte_ether_addr *mac)
{
	*nif = (struct haul_net_if){.ip4_prefix = 32, .ip6_prefix = 128};
	if (rte_is_unicast_ether_addr(&pkt->eth->dst_addr))
		mac = &pkt->eth->dst_addr;
	memcpy(nif->mac, mac, sizeof(nif->mac));
	if (pkt->proto == HAUL_PROTO_ARP)
		memcpy(nif->ip4, &pkt->arp->arp_data.arp_tip, sizeof(nif->ip4));
	else if (pkt->proto == HAUL_PROTO_ND)
		memcpy(nif->ip6, (const uint8_t *)pkt->l4 + ND_TARGET, sizeof(nif->ip6));
	else if (pkt->proto == HAUL_PROTO_ICMP)
		memcpy(nif->ip4, &pkt->ip4->dst_addr, sizeof(nif->ip4));
	else
		memcpy(nif->ip6, &pkt->ip6->dst_addr, sizeof(nif->ip6));
}

static bool is_to_ip4_group(const struct haul_pkt *pkt)
{
	/* 224.0.0.0/4 */
	return pkt->proto == HAUL_PROTO_ICMP && *(const uint8_t *)&pkt->ip4->dst_addr >> 4 == 0xe;
}

/* Answers an echo request to an IPv4 group. As testpmd, from an address in the network of the asker
 * that is not the asker's. */
static enum haul_verdict answer_to_group(struct haul_net_if *nif, struct haul_pkt *pkt)
{
	uint32_t asker = rte_be_to_cpu_32(pkt->ip4->src_addr);
	rte_be32_t source = rte_cpu_to_be_32((asker & ~3u) | ((asker & 3) == 1 ? 2 : 1));
	struct haul_net_if group = *nif;
	enum haul_verdict v;

	memcpy(group.mac, &pkt->eth->dst_addr, sizeof(group.mac));
	v = haul_net_for_us(&group, pkt);
	if (v != HAUL_NET_OK)
		return v;
	memcpy(nif->ip4, &source, sizeof(source));
	return haul_icmp_echo_reply(nif, pkt);
}

static enum haul_verdict answer(struct haul_rx *rx, struct rte_mbuf *mbuf)
{
	const struct fwd *fwd = rx->arg;
	struct haul_net_if nif;
	struct haul_pkt pkt;
	enum haul_verdict v = haul_net_parse(&pkt, mbuf);

	if (v != HAUL_NET_OK)
		return v;
	if (pkt.proto == HAUL_PROTO_UDP || pkt.proto == HAUL_PROTO_OTHER)
		return HAUL_NET_UNSUPPORTED;
	interface_of(&nif, &pkt, &fwd_ports(fwd)[rx->port].mac);
	if (is_to_ip4_group(&pkt))
		return answer_to_group(&nif, &pkt);
	return haul_net_answer(&nif, &pkt);
}

/* By the first byte of an address: 1 if it may be that of a host. */
static const uint8_t may_be_host[256] = {
	[1 ... IN_LOOPBACKNET - 1] = 1, [IN_LOOPBACKNET + 1 ... 223] = 1};

static inline uint64_t load(const void *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	return word;
}

/* Sums are of 64-bit words, with the carries: modulo 0xffff, the same as of the 16-bit words. A
 * header is never all zero, so its checksum is right if the sum is a multiple of 0xffff. */
static inline uint64_t sum_add(uint64_t sum, uint64_t word)
{
	sum += word;
	return sum + (sum < word);
}

/* True for multiples of 0xffff: their product with its inverse modulo 2^64 is the quotient. For a
 * remainder gcc takes three times the instructions. */
static inline bool sum_is_right(uint64_t sum)
{
	const uint64_t inverse = UINT64_C(0xfffefffefffeffff);

	_Static_assert(UINT64_C(0xfffefffefffeffff) * 0xffff == 1, "it is");
	return sum * inverse <= UINT64_MAX / 0xffff;
}

/* len: at least 8. */
static inline uint64_t sum_of(const uint8_t *at, uint32_t len)
{
	uint64_t sum = load(at), word = load(at + len - sizeof(word));
	uint32_t i, before;

	for (i = sizeof(word); i + sizeof(word) <= len; i += sizeof(word))
		sum = sum_add(sum, load(at + i));
	/* The last 0 to 7 bytes, without those before them. */
	before = (~len & 7) * 8 + 7;
	word = RTE_BYTE_ORDER == RTE_LITTLE_ENDIAN ? word >> 1 >> before : word << 1 << before;
	return sum_add(sum, word);
}

/* RFC 1624. A header is never all zero, so its checksum is never 0xffff: where the fold gives that,
 * it is 0. */
static __attribute__((noinline)) void set_ttl(struct rte_ipv4_hdr *ip)
{
	rte_be16_t minus = rte_cpu_to_be_16((uint16_t)(ip->time_to_live << 8));
	rte_be16_t plus = RTE_BE16(REPLY_TTL << 8);
	uint16_t adjusted = haul_sum_fold((uint64_t)ip->hdr_checksum + minus + (uint16_t)~plus);

	ip->time_to_live = REPLY_TTL;
	ip->hdr_checksum = adjusted == 0xffff ? 0 : adjusted;
}

/* RFC 1624: the type has become 0. */
static inline void set_type(struct rte_icmp_hdr *icmp)
{
	rte_be16_t request = RTE_BE16(ICMP_ECHO << 8);
	uint16_t cksum = (uint16_t)(icmp->icmp_cksum + request);

	icmp->icmp_type = ICMP_ECHOREPLY;
	icmp->icmp_cksum = (uint16_t)(cksum + (cksum < request)); /* the carry */
}

/*
 * Nearly all requests: IPv4 without options, whole and in one segment, with right checksums, from a
 * host to a unicast address. Few bytes of the reply differ from those of the request. False: the
 * packet is not such a request, and is as it was.
 */
static inline __attribute__((always_inline)) bool answer_plain(struct rte_mbuf *pkt)
{
	struct rte_ether_hdr *eth = rte_pktmbuf_mtod(pkt, void *);
	struct rte_ipv4_hdr *ip = (void *)(eth + 1);
	struct rte_icmp_hdr *icmp = (void *)(ip + 1);
	const uint32_t len = pkt->data_len, least = sizeof(*eth) + sizeof(*ip) + sizeof(*icmp);
	uint64_t to, from, word, sum, addresses, exchanged;
	uint32_t total;

	if (pkt->nb_segs != 1 || len < least)
		return false;
	to = load(eth); /* and the first bytes of `from`, which is followed by the type */
	from = load(&eth->src_addr);
	if (eth->ether_type != RTE_BE16(RTE_ETHER_TYPE_IPV4) ||
		((to | from) & RTE_BE64(UINT64_C(1) << 56)) ||
		((to ^ from) & RTE_BE64(UINT64_C(0xffffffffffff0000))) == 0)
		return false; /* a group, or the same address */

	/* The version and the header's length, and no fragment, which may have the flag DF. */
	word = load(ip);
	if ((word & RTE_BE64(UINT64_C(0xff0000000000bfff))) !=
			RTE_BE64((uint64_t)RTE_IPV4_VHL_DEF << 56) ||
		ip->next_proto_id != IPPROTO_ICMP || icmp->icmp_type != ICMP_ECHO)
		return false;
	total = sizeof(*eth) + rte_be_to_cpu_16(ip->total_length);
	if (total < least || total > len)
		return false;
	addresses = load(&ip->src_addr);
	exchanged = addresses >> 32 | addresses << 32;
	if (!(may_be_host[*(uint8_t *)&ip->src_addr] & may_be_host[*(uint8_t *)&ip->dst_addr]) ||
		exchanged == addresses)
		return false;
	sum = sum_add(sum_add(word, load(&ip->time_to_live)), ip->dst_addr);
	if (!sum_is_right(sum) ||
		!sum_is_right(sum_of((uint8_t *)icmp, total - sizeof(*eth) - sizeof(*ip))))
		return false;

	pkt->data_len = (uint16_t)total; /* without padding */
	pkt->pkt_len = total;
	fwd_swap_macs(pkt);
	memcpy(&ip->src_addr, &exchanged, sizeof(exchanged));
	if (unlikely(ip->time_to_live != REPLY_TTL)) /* most askers have the same */
		set_ttl(ip);
	set_type(icmp);
	return true;
}

/* Others than plain requests. False: it is dropped. */
static __attribute__((noinline)) bool answer_or_drop(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	enum haul_verdict v = answer(rx, pkt);

	if (v != HAUL_NET_OK)
		haul_drop_verdict(rx, pkt, v);
	return v == HAUL_NET_OK;
}

static void answer_burst(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	unsigned i, replies = 0, dropped = 0;
	struct rte_mbuf *others[FWD_BURST_MAX];

	fwd_prefetch(pkts, n);
	for (i = 0; i < n; i++) {
		struct rte_mbuf *pkt = pkts[i];

		if (likely(answer_plain(pkt)))
			pkts[replies++] = pkt;
		else if (!may_be_request(pkt))
			others[dropped++] = pkt;
		else if (answer_or_drop(rx, pkt))
			pkts[replies++] = pkt;
	}
	if (dropped > 0)
		haul_drop(rx, others, (uint16_t)dropped, HAUL_DROP_UNSUPPORTED);
	if (replies > 0)
		haul_tx_burst(rx->reply, pkts, (uint16_t)replies);
}

static void answer_packet(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	if (likely(answer_plain(pkt)) || answer_or_drop(rx, pkt))
		haul_send_or_drop(rx, rx->reply, pkt);
}

const struct fwd_mode_ops fwd_mode_icmpecho = {
	.burst = answer_burst,
	.packet = answer_packet,
	.reads = true,
	.replies = true,
};
