/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What differs between the versions of DPDK: the addresses of an IPv6 header, arrays in 22.11 and
 * structs since 24.11. All versions have them as 16 bytes at these offsets.
 */
#ifndef HAULI_NET_DPDK_H
#define HAULI_NET_DPDK_H

#include <string.h>

#include <rte_ip.h>

static inline const uint8_t *hauli_ip6_src(const struct rte_ipv6_hdr *ip)
{
	return (const uint8_t *)&ip->src_addr;
}

static inline const uint8_t *hauli_ip6_dst(const struct rte_ipv6_hdr *ip)
{
	return (const uint8_t *)&ip->dst_addr;
}

static inline void hauli_ip6_set_src(struct rte_ipv6_hdr *ip, const uint8_t from[16])
{
	memcpy(&ip->src_addr, from, 16);
}

static inline void hauli_ip6_set_dst(struct rte_ipv6_hdr *ip, const uint8_t to[16])
{
	memcpy(&ip->dst_addr, to, 16);
}

#endif
