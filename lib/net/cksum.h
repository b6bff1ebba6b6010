/* SPDX-License-Identifier: BSD-3-Clause */
/* The Internet checksum of a part of a packet. */
#ifndef HAULI_NET_CKSUM_H
#define HAULI_NET_CKSUM_H

#include <haul/net.h>

/* The unfolded sum of the pseudo header of the packet's IP addresses, proto and len. */
uint64_t hauli_pseudo_sum(const struct haul_pkt *pkt, uint8_t proto, uint16_t len);

/*
 * The sum of the Internet checksum, folded but not complemented, over len bytes of the packet from
 * offset off, and over the pseudo header of its IP addresses, proto and len (except for ICMP, which
 * has none). The packet must contain these bytes, and off must be in the first segment. 0xffff: the
 * checksum in the bytes is right.
 */
uint16_t hauli_sum(const struct haul_pkt *pkt, uint8_t proto, uint32_t off, uint16_t len);

#endif
