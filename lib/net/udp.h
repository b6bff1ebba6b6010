/* SPDX-License-Identifier: BSD-3-Clause */
/* UDP. */
#ifndef HAULI_NET_UDP_H
#define HAULI_NET_UDP_H

#include <haul/net.h>

/* Parses the UDP header of pkt, whose fields up to l4 and the payload are set. */
enum haul_verdict hauli_parse_udp(struct haul_pkt *pkt);

#endif
