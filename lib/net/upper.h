/* SPDX-License-Identifier: BSD-3-Clause */
/* Dispatch to the protocols above IP. */
#ifndef HAULI_NET_UPPER_H
#define HAULI_NET_UPPER_H

#include <haul/net.h>

/* Parses the upper layer of an IP packet, which begins at offset off and is len bytes long, up to
 * the end of the packet. */
enum haul_verdict hauli_parse_upper(struct haul_pkt *pkt, uint32_t off, uint16_t len);

#endif
