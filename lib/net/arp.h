/* SPDX-License-Identifier: BSD-3-Clause */
/* ARP for IPv4 over Ethernet. */
#ifndef HAULI_NET_ARP_H
#define HAULI_NET_ARP_H

#include <haul/net.h>

/* Parses the ARP message of pkt, which is filled up to the layer below. */
enum haul_verdict hauli_parse_arp(struct haul_pkt *pkt);

/* OK if the packet's ARP addresses are for nif, as haul_net_for_us() says. */
enum haul_verdict hauli_arp_for_us(const struct haul_net_if *nif, const struct haul_pkt *pkt);

#endif
