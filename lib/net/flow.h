/* SPDX-License-Identifier: BSD-3-Clause */
/* The hash of haul_net_flow() for a packet that is not there yet. */
#ifndef HAULI_NET_FLOW_H
#define HAULI_NET_FLOW_H

#include <stdbool.h>
#include <stdint.h>

/*
 * What haul_net_flow() returns for a packet from a to b, or from b to a. a, b: 4 bytes, or 16 with
 * ip6, in network byte order. Ports in host byte order, 0 if protocol has none.
 */
uint32_t hauli_net_flow(
	bool ip6, uint8_t protocol, const void *a, uint16_t a_port, const void *b, uint16_t b_port);

#endif
