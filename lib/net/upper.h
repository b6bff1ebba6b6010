/* SPDX-License-Identifier: BSD-3-Clause */
/* The choice among the protocols above IP. */
#ifndef HAULI_NET_UPPER_H
#define HAULI_NET_UPPER_H

#include <haul/net.h>

/* Parses the upper layer of an IP packet: it begins at offset off and is len bytes long, the end of
 * the packet. */
enum haul_verdict hauli_parse_upper(struct haul_pkt *pkt, uint32_t off, uint16_t len);

#endif
