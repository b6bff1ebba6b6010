/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of addresses, and the multicast groups that follow from an address. */
#ifndef HAULI_NET_ADDR_H
#define HAULI_NET_ADDR_H

#include <haul/net.h>

/* True unless ip is unspecified, loopback, multicast, broadcast or, in IPv6, IPv4-mapped. */
bool hauli_ip4_is_host(const uint8_t ip[4]);
bool hauli_ip6_is_host(const uint8_t ip[16]);

/* True if ip is the network address or the broadcast address of net/prefix: within that network,
 * with host bits all zero or all one. False for a prefix of 31 or 32. */
bool hauli_ip4_is_edge(const uint8_t ip[4], const uint8_t net[4], uint8_t prefix);

/* The solicited-node group of ip (RFC 4291, 2.7.1), and the MAC address of a group (RFC 2464,
 * 7). */
void hauli_ip6_group(uint8_t group[16], const uint8_t ip[16]);
void hauli_ip6_group_mac(uint8_t mac[6], const uint8_t group[16]);

#endif
