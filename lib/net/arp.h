/* SPDX-License-Identifier: BSD-3-Clause */
/* ARP for IPv4 over Ethernet. */
#ifndef HAULI_NET_ARP_H
#define HAULI_NET_ARP_H

#include <haul/net.h>

/* Parses the ARP message of pkt, whose fields up to l3 are set. */
enum haul_verdict hauli_parse_arp(struct haul_pkt *pkt);

/* Returns OK if the target of the ARP message is the IPv4 address of nif; else as
 * haul_net_for_us(). */
enum haul_verdict hauli_arp_for_us(const struct haul_net_if *nif, const struct haul_pkt *pkt);

#endif
