/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv4. */
#ifndef HAULI_NET_IPV4_H
#define HAULI_NET_IPV4_H

#include <haul/net.h>

/* Parses the IPv4 header of pkt, whose fields up to l3 are set, and the layers above. */
enum haul_verdict hauli_parse_ipv4(struct haul_pkt *pkt);

/* Returns OK if pkt is addressed to the IPv4 address of nif; else as haul_net_for_us(). */
enum haul_verdict hauli_ipv4_for_us(const struct haul_net_if *nif, const struct haul_pkt *pkt);

#endif
