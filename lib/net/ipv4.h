/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv4. */
#ifndef HAULI_NET_IPV4_H
#define HAULI_NET_IPV4_H

#include <haul/net.h>

/* Parses the IPv4 header of pkt, which is filled up to the layer below. */
enum haul_verdict hauli_parse_ipv4(struct haul_pkt *pkt);

/* OK if the packet's IPv4 addresses are for nif, as haul_net_for_us() says. */
enum haul_verdict hauli_ipv4_for_us(const struct haul_net_if *nif, const struct haul_pkt *pkt);

#endif
