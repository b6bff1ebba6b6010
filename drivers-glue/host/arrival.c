/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An ICMP error quotes the packet that it is about: its IP header and at least eight bytes behind
 * that, which hold the ports of UDP, and type, code, checksum and identifier of an echo request. Of
 * IPv6 packets with extension headers none are recognised: flows send none.
 */
#include "host/arrival.h"

#include <errno.h>
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>

#include <rte_icmp.h>
#include <rte_ip.h>
#include <rte_mbuf.h>
#include <rte_udp.h>

#include "net/dpdk.h"

#define QUOTED 8 /* bytes behind the quoted IP header */

/* A packet that we have sent, as an error quotes it. */
struct quote {
	bool ip6;
	uint8_t protocol;
	const void *src, *dst;
	const uint8_t *upper; /* QUOTED bytes */
};

static uint16_t be16(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

/* 0: the message is no error that a flow is told. */
static int error4(const struct rte_icmp_hdr *icmp)
{
	if (icmp->icmp_type == ICMP_TIME_EXCEEDED)
		return -ETIME;
	if (icmp->icmp_type == ICMP_PARAMETERPROB)
		return -EHOSTUNREACH;
	if (icmp->icmp_type != ICMP_DEST_UNREACH)
		return 0;
	if (icmp->icmp_code == ICMP_PORT_UNREACH || icmp->icmp_code == ICMP_PROT_UNREACH)
		return -ECONNREFUSED;
	return icmp->icmp_code == ICMP_FRAG_NEEDED ? -EMSGSIZE : -EHOSTUNREACH;
}

static int error6(const struct rte_icmp_hdr *icmp)
{
	switch (icmp->icmp_type) {
	case ICMP6_DST_UNREACH:
		return icmp->icmp_code == ICMP6_DST_UNREACH_NOPORT ? -ECONNREFUSED : -EHOSTUNREACH;
	case ICMP6_PACKET_TOO_BIG:
		return -EMSGSIZE;
	case ICMP6_TIME_EXCEEDED:
		return -ETIME;
	case ICMP6_PARAM_PROB:
		return -EHOSTUNREACH;
	default:
		return 0;
	}
}

static int error_of(const struct haul_pkt *pkt)
{
	if (pkt->proto == HAUL_PROTO_ICMP)
		return error4(pkt->icmp);
	return pkt->proto == HAUL_PROTO_ICMP6 ? error6(pkt->icmp) : 0;
}

/* Bytes of the payload that are in the first segment. */
static uint32_t contiguous(const struct haul_pkt *pkt)
{
	uint32_t before = (uint32_t)(pkt->payload - rte_pktmbuf_mtod(pkt->mbuf, uint8_t *));

	return RTE_MIN(
		(uint32_t)pkt->payload_len, (uint32_t)rte_pktmbuf_data_len(pkt->mbuf) - before);
}

static bool read_quote4(struct quote *q, const struct haul_pkt *pkt)
{
	const struct rte_ipv4_hdr *ip = (const void *)pkt->payload;
	uint32_t len = contiguous(pkt), header;

	if (len < sizeof(*ip) + QUOTED || ip->version_ihl >> 4 != 4)
		return false;
	header = rte_ipv4_hdr_len(ip);
	/* Not a later fragment, which has no ports. */
	if (header < sizeof(*ip) || len < header + QUOTED ||
		(ip->fragment_offset & RTE_BE16(RTE_IPV4_HDR_OFFSET_MASK)))
		return false;
	*q = (struct quote){.protocol = ip->next_proto_id,
		.src = &ip->src_addr,
		.dst = &ip->dst_addr,
		.upper = pkt->payload + header};
	return true;
}

static bool read_quote6(struct quote *q, const struct haul_pkt *pkt)
{
	const struct rte_ipv6_hdr *ip = (const void *)pkt->payload;

	if (contiguous(pkt) < sizeof(*ip) + QUOTED || pkt->payload[0] >> 4 != 6)
		return false;
	*q = (struct quote){.ip6 = true,
		.protocol = ip->proto,
		.src = hauli_ip6_src(ip),
		.dst = hauli_ip6_dst(ip),
		.upper = pkt->payload + sizeof(*ip)};
	return true;
}

static bool read_quote(struct quote *q, const struct haul_pkt *pkt)
{
	return pkt->ip_version == 4 ? read_quote4(q, pkt) : read_quote6(q, pkt);
}

static bool is_echo_request(const struct quote *q)
{
	return q->ip6 ? q->protocol == IPPROTO_ICMPV6 && q->upper[0] == ICMP6_ECHO_REQUEST
		      : q->protocol == IPPROTO_ICMP && q->upper[0] == ICMP_ECHO;
}

static uint16_t quoted_port(const struct haul_pkt *pkt)
{
	struct quote q;

	if (!read_quote(&q, pkt))
		return 0;
	if (q.protocol == IPPROTO_UDP)
		return be16(q.upper);
	return is_echo_request(&q) ? be16(q.upper + 4) : 0;
}

static bool is_echo_reply(const struct haul_pkt *pkt)
{
	return (pkt->proto == HAUL_PROTO_ICMP && pkt->icmp->icmp_type == ICMP_ECHOREPLY) ||
		(pkt->proto == HAUL_PROTO_ICMP6 && pkt->icmp->icmp_type == ICMP6_ECHO_REPLY);
}

uint16_t hauli_arrival_port(const struct haul_pkt *pkt)
{
	if (pkt->proto == HAUL_PROTO_UDP)
		return rte_be_to_cpu_16(pkt->udp->dst_port);
	if (is_echo_reply(pkt))
		return rte_be_to_cpu_16(pkt->icmp->icmp_ident);
	return error_of(pkt) ? quoted_port(pkt) : 0;
}

static void take_error(struct hauli_arrival *a, const struct haul_pkt *pkt)
{
	struct quote q;

	a->pkt = NULL;
	a->error = error_of(pkt);
	a->error_from = haul_pkt_src(pkt);
	if (!read_quote(&q, pkt)) /* it was read before */
		return;
	hauli_flow_key_set(&a->key, q.ip6, q.protocol, q.src,
		be16(q.protocol == IPPROTO_UDP ? q.upper : q.upper + 4), q.dst,
		q.protocol == IPPROTO_UDP ? be16(q.upper + 2) : 0);
}

/* Takes away what is behind len bytes, also in segments of its own. */
static __attribute__((noinline)) void cut(struct rte_mbuf *m, uint32_t len)
{
	struct rte_mbuf *last = m, *rest;
	uint32_t left = len;

	while (left > last->data_len) {
		left -= last->data_len;
		last = last->next;
	}
	rest = last->next;
	last->data_len = (uint16_t)left;
	last->next = NULL;
	m->pkt_len = len;
	while (rest) {
		struct rte_mbuf *next = rest->next;

		rte_pktmbuf_free_seg(rest);
		rest = next;
		m->nb_segs--;
	}
}

/* Takes away all that is in front of `at`, and behind len bytes from there on. */
static void trim(struct rte_mbuf *m, const void *at, uint32_t len)
{
	uint16_t before = (uint16_t)((const uint8_t *)at - rte_pktmbuf_mtod(m, uint8_t *));

	(void)rte_pktmbuf_adj(m, before);
	if (rte_pktmbuf_pkt_len(m) > len)
		cut(m, len);
}

void hauli_arrival_take(struct hauli_arrival *a, const struct haul_pkt *pkt)
{
	bool ip6 = pkt->ip_version == 6, udp = pkt->proto == HAUL_PROTO_UDP;
	const uint8_t *l3 = pkt->l3;
	const void *at = udp ? pkt->payload : pkt->l4;

	if (!udp && !is_echo_reply(pkt)) {
		take_error(a, pkt);
		return;
	}
	hauli_flow_key_set(&a->key, ip6, pkt->ip_proto, l3 + (ip6 ? 24 : 16),
		hauli_arrival_port(pkt), l3 + (ip6 ? 8 : 12),
		udp ? rte_be_to_cpu_16(pkt->udp->src_port) : 0);
	a->error = 0;
	a->pkt = pkt->mbuf;
	trim(pkt->mbuf, at, pkt->payload_len + (uint32_t)(pkt->payload - (const uint8_t *)at));
}
