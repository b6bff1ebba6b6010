/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv6. */
#ifndef HAULI_NET_IPV6_H
#define HAULI_NET_IPV6_H

#include <haul/net.h>

/* Parses the IPv6 headers of pkt, whose fields up to l3 are set, and the layers above. */
enum haul_verdict hauli_parse_ipv6(struct haul_pkt *pkt);

/* Returns OK if pkt is addressed to the IPv6 address of nif, or solicits it; else as
 * haul_net_for_us(). */
enum haul_verdict hauli_ipv6_for_us(const struct haul_net_if *nif, const struct haul_pkt *pkt);

#endif
