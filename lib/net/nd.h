/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv6 neighbour discovery. */
#ifndef HAULI_NET_ND_H
#define HAULI_NET_ND_H

#include <haul/net.h>

/* Parses the neighbour solicitation of pkt, whose ICMPv6 header is parsed. */
enum haul_verdict hauli_parse_nd(struct haul_pkt *pkt);

/* The target address of a neighbour solicitation. */
const uint8_t *hauli_nd_target(const struct haul_pkt *pkt);

/* True if the source link-layer address option of a neighbour solicitation has this MAC address. */
bool hauli_nd_is_from(const struct haul_pkt *pkt, const uint8_t *mac);

#endif
