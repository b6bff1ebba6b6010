/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv6. */
#ifndef HAULI_NET_IPV6_H
#define HAULI_NET_IPV6_H

#include <haul/net.h>

/* Parses the IPv6 headers of pkt, which is filled up to the layer below. */
enum haul_verdict hauli_parse_ipv6(struct haul_pkt *pkt);

/* OK if the packet's addresses, IPv6's or those in a solicitation, are for nif, as
 * haul_net_for_us() says. */
enum haul_verdict hauli_ipv6_for_us(const struct haul_net_if *nif, const struct haul_pkt *pkt);

#endif
