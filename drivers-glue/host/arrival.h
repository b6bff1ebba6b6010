/* SPDX-License-Identifier: BSD-3-Clause */
/* Which flow a packet belongs to, or an ICMP message is about. */
#ifndef HAULI_HOST_ARRIVAL_H
#define HAULI_HOST_ARRIVAL_H

#include <haul/build.h>
#include <haul/net.h>

#include "host/table.h"

/* A packet for a flow, or what an ICMP message says of one. */
struct hauli_arrival {
	struct rte_mbuf *pkt; /* NULL: error is one */
	struct hauli_flow_key key;
	int error; /* -errno; -ETIME: too many hops */
	struct haul_addr error_from;
};

/*
 * The local port of a packet's flow; 0: it can be of none. Of a UDP packet its destination port; of
 * an echo reply its identifier; of an ICMP or ICMPv6 error that of the packet that it quotes. The
 * packet is one that haul_net_parse() has parsed.
 */
uint16_t hauli_arrival_port(const struct haul_pkt *pkt);

/* Fills *a, for such a packet. a->pkt then begins with the payload of UDP, or with the header of
 * the echo reply. An error's packet stays the caller's, as it was. */
void hauli_arrival_take(struct hauli_arrival *a, const struct haul_pkt *pkt);

#endif
