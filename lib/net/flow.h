/* SPDX-License-Identifier: BSD-3-Clause */
/* The hash of haul_net_flow() for a packet that is not there yet; the source of a packet. */
#ifndef HAULI_NET_FLOW_H
#define HAULI_NET_FLOW_H

#include <stdbool.h>
#include <stdint.h>

struct rte_mbuf;

/*
 * What haul_net_flow() returns for a packet from a to b, or from b to a. a, b: 4 bytes, or 16 with
 * ip6, in network byte order. Ports in host byte order, 0 if protocol has none.
 */
uint32_t hauli_net_flow(
	bool ip6, uint8_t protocol, const void *a, uint16_t a_port, const void *b, uint16_t b_port);

/*
 * The sender of a packet, as a number: its IPv4 address, the first half of its IPv6 address (a host
 * may have all addresses of such a net), or without IP its MAC address and the EtherType.
 * *is_control: ARP, ICMP or ICMPv6. Verifies nothing.
 */
uint64_t hauli_net_source(const struct rte_mbuf *mbuf, bool *is_control);

#endif
