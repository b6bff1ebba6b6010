/* SPDX-License-Identifier: BSD-3-Clause */
/* A packet turned into its reply, up to the IP header. */
#ifndef HAULI_NET_REPLY_H
#define HAULI_NET_REPLY_H

#include <haul/net.h>

/*
 * Sends an IP packet back: Ethernet and IP addresses exchanged, options and extension headers taken
 * out, a fresh hop limit, lengths that end behind the payload. UNSUPPORTED: the mbuf cannot be cut
 * to them, nothing changed.
 */
enum haul_verdict hauli_reply(const struct haul_net_if *nif, struct haul_pkt *pkt);

/* Sets lengths, hop limit and checksum of the IP header for an upper layer of len bytes. */
void hauli_ip_finish(struct haul_pkt *pkt, uint8_t hops, uint16_t len);

#endif
