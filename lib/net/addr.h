/* SPDX-License-Identifier: BSD-3-Clause */
/* Which addresses a host can have. */
#ifndef HAULI_NET_ADDR_H
#define HAULI_NET_ADDR_H

#include <haul/net.h>

/* Not unspecified, loopback, multicast or broadcast. */
bool hauli_ip4_is_host(const uint8_t ip[4]);
bool hauli_ip6_is_host(const uint8_t ip[16]);

/* Whether ip is the network's own address or its broadcast address, for a prefix shorter than 31:
 * within the network of net, host bits all zero or all one. */
bool hauli_ip4_is_edge(const uint8_t ip[4], const uint8_t net[4], uint8_t prefix);

/* The solicited-node group of an address, RFC 4291, 2.7.1, and its MAC address, RFC 2464, 7. */
void hauli_ip6_group(uint8_t group[16], const uint8_t ip[16]);
void hauli_ip6_group_mac(uint8_t mac[6], const uint8_t group[16]);

#endif
