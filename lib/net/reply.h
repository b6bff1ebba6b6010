/* SPDX-License-Identifier: BSD-3-Clause */
/* Turning a packet into its reply, up to the IP header. */
#ifndef HAULI_NET_REPLY_H
#define HAULI_NET_REPLY_H

#include <haul/net.h>

/*
 * Turns an IP packet into a reply: exchanges Ethernet and IP addresses, removes options and
 * extension headers, sets a new hop limit, and trims it to the end of the payload. UNSUPPORTED: the
 * mbuf cannot be trimmed to that; nothing has changed.
 */
enum haul_verdict hauli_reply(const struct haul_net_if *nif, struct haul_pkt *pkt);

/* Sets lengths, hop limit and checksum of the IP header for an upper layer of len bytes. */
void hauli_ip_finish(struct haul_pkt *pkt, uint8_t hops, uint16_t len);

#endif
