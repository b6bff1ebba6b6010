/* SPDX-License-Identifier: BSD-3-Clause */
/* UDP. */
#ifndef HAULI_NET_UDP_H
#define HAULI_NET_UDP_H

#include <haul/net.h>

/* Parses the UDP header of pkt, which is filled up to the layer below. */
enum haul_verdict hauli_parse_udp(struct haul_pkt *pkt);

#endif
