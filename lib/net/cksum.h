/* SPDX-License-Identifier: BSD-3-Clause */
/* The Internet checksum over a packet. */
#ifndef HAULI_NET_CKSUM_H
#define HAULI_NET_CKSUM_H

#include <haul/net.h>

/*
 * The Internet checksum's sum, folded but not complemented, over the packet's len bytes from off on
 * and the pseudo header of its IP addresses, proto and len (not for ICMP, which has none). The
 * bytes must be there, and off in the first segment. 0xffff when they hold a right checksum.
 */
uint16_t hauli_sum(const struct haul_pkt *pkt, uint8_t proto, uint32_t off, uint16_t len);

#endif
