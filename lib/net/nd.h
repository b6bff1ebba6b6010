/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv6 neighbour discovery. */
#ifndef HAULI_NET_ND_H
#define HAULI_NET_ND_H

#include <haul/net.h>

/* Parses the solicitation of pkt, which is filled up to the layer below. */
enum haul_verdict hauli_parse_nd(struct haul_pkt *pkt);

/* The IPv6 address that a neighbour solicitation asks for. */
const uint8_t *hauli_nd_target(const struct haul_pkt *pkt);

/* True if a neighbour solicitation gives that MAC address as its sender's. */
bool hauli_nd_is_from(const struct haul_pkt *pkt, const uint8_t *mac);

#endif
